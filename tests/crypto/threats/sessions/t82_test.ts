/**
 * A member of a room sends a thousand undecryptable events, so that the events of others there,
 * whose key is on its way, are not kept until the key comes.
 *
 * What must hold: where too many events wait for keys, those of the sender with the most are
 * dropped, the oldest first; the same after a restart.
 *
 * The class of mistake: a limit is shared out among rooms, and in a room the most active sender
 * gets all of it. Each sender must only be able to fill a part of their own.
 */

import { assertEquals } from "@std/assert";
import { Keeper, stranger, texts } from "../../megolm/keeper.ts";
import { MALLORY, newDevice, Sender } from "../../megolm/support.ts";

const LIMIT = 100;

for (const restarts of [false, true]) {
  Deno.test(`T82: a member's flood pushes out no other member's events${restarts ? ", over a restart" : ""}`, async () => {
    const keeper = new Keeper({ limit: LIMIT });
    const mallory = new Sender(keeper, keeper.devices.put(newDevice(keeper, MALLORY)));
    const alice = stranger(keeper);
    const said = ["one", "two", "three"];
    await keeper.sync(...said.map((text) => alice.say(text)));
    if (restarts) await keeper.reopen();
    await keeper.sync(...Array.from({ length: LIMIT * 2 }, (_, index) => mallory.say(`junk ${index}`)));
    assertEquals(await keeper.records(), LIMIT);
    await keeper.key(alice);
    assertEquals(texts(await keeper.retry([alice])), said);
    await keeper.key(mallory);
    const kept = texts(await keeper.retry([mallory]));
    assertEquals([kept.length, kept.at(-1)], [LIMIT - said.length, `junk ${LIMIT * 2 - 1}`]);
  });
}
