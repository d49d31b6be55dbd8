/**
 * A record was removed from a store, sealed or not, in which the room's state says that it is encrypted;
 * and the homeserver hides the encryption of the room since.
 *
 * What must hold: nothing goes out in clear as long as any record says that the room is encrypted: its
 * state, its settings for encryption, or the session for what is sent. What came in clear decides nothing
 * there, and handlers do not get it.
 *
 * The class of mistake: of several places that know something, only one is asked.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore, type Store, ValueError } from "@greenroom/matrix";
import { type Bot, POLL_EVENTS } from "@greenroom/matrix/bot";
import type { Homeserver } from "@greenroom/matrix/testing";
import { encryptedUser } from "../../../bot/encrypted_user.ts";
import { trying } from "../../../bot/support.ts";
import { countPoll } from "../../../../src/bot/polls/polls.ts";
import { begin, twoInARoom } from "../../../client/support/encrypted_room.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

/** Which records of a room say that it is encrypted, by a part of their keys. */
const SAYING = ["room", "room_settings", "outbound_session"] as const;

/** Removes the records of a room of some kinds. */
async function remove(store: Store, kinds: readonly string[], roomId: string): Promise<void> {
  for (const kind of kinds) {
    const keys = (await Array.fromAsync(store.list([]))).map(({ key }) => key);
    const found = keys.filter((key) => key.includes(kind) && key.includes(roomId));
    assert(found.length > 0, `there is a record of the kind ${kind}`);
    assert(await store.commit(found.map((key) => ({ type: "delete", key }))));
  }
}

/** Has the homeserver hide from the bot that rooms are encrypted. */
function hide(homeserver: Homeserver): void {
  const match = { method: "GET", path: "/state/m.room.encryption", user: "@bot:localhost" } as const;
  const body = { errcode: "M_NOT_FOUND", error: "Hidden" };
  homeserver.faults.add({ kind: "status", status: 404, body, match });
}

for (const kept of SAYING) {
  Deno.test(`T152: with "${kept}" alone left of what says that a room is encrypted nothing goes out in clear`, async () => {
    await using stage = clientStage();
    const { alice, roomId } = await twoInARoom(stage);
    const store = new MemoryStore();
    const bot = stage.client("bot", { encryption: EVERYBODY, store });
    await begin(stage, bot);
    await alice.inviteUser(roomId, "@bot:localhost");
    await bot.joinRoom(roomId);
    await stage.settle();
    await bot.sendText(roomId, "Encrypted");
    await bot.close();
    await remove(store, SAYING.filter((kind) => kind !== kept), roomId);

    hide(stage.homeserver);
    const next = stage.client("bot", { encryption: EVERYBODY, store });
    const encrypted = () => stage.homeserver.requests.filter("PUT", "/send/m.room.encrypted").length;
    const before = encrypted();
    await next.sendText(roomId, "A secret");
    const sent = stage.homeserver.requests.filter("PUT", "/send/m.room.message");
    assertEquals([sent.length, encrypted()], [0, before + 1], "nothing in clear");
  });
}

for (const kept of SAYING) {
  Deno.test(`T152: with "${kept}" alone left a bot goes by nothing that comes in clear`, async () => {
    let bot: Bot | undefined;
    let count = 0;
    await using tester = trying((each) => {
      bot = each.command("hello", async (c) => {
        count++;
        await c.send("Hello");
      });
    }, { encryption: EVERYBODY });
    await using alice = await encryptedUser(tester, "alice");
    const room = await alice.room();
    await alice.say(room, "!hello");
    await alice.expect("Hello");
    const poll = { question: { body: "?" }, answers: [{ id: "1", body: "x" }] };
    const forged = await alice.forge(room, POLL_EVENTS.START, { [POLL_EVENTS.START]: poll });
    await tester.stop();
    await remove(tester.store, SAYING.filter((kind) => kind !== kept), room);
    hide(tester.homeserver);
    await tester.start();
    await assertRejects(() => countPoll(bot?.client as Client, room, forged), ValueError, "in clear");
    await alice.forge(room, "m.room.message", { msgtype: "m.text", body: "!hello" });
    await tester.settle();
    assertEquals(count, 1);
  });
}
