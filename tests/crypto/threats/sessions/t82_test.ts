/**
 * A member of a room sends a thousand events that nobody can read, so that what others have said there, and whose key is on its way,
 * is not kept any more when the key comes.
 *
 * What must hold: where too much waits for keys, it is the events of who has sent the most of them that go, the oldest first; the
 * same after a restart.
 *
 * The class of mistake: what is bounded is shared out among rooms, and in a room whoever is loudest gets all of it. Whoever can fill
 * something must fill a part of their own.
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
