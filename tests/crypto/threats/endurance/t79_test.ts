/**
 * A member has a device over which the server always fails: its database refuses the device's ID,
 * for example.
 *
 * What must hold: all other devices get keys and messages, in that room and in all others; the
 * device is left out once it is known to be at fault, and tried again later.
 *
 * The class of mistake: everything in one queue waits for its first entry, and others choose that.
 */

import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import { begin } from "../../../client/support/encrypted_room.ts";
import { clientStage, heard } from "../../../client/support/stage.ts";
import { refusing } from "../refusing.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };
/** By then a user who tries again and again has sent a message, if it can be sent at all. */
const TRIES = 20;

/** Sends as an application does that does not give up; how often it took. */
async function insist(
  stage: ReturnType<typeof clientStage>,
  sending: () => Promise<unknown>,
): Promise<number> {
  for (let tries = 1; tries <= TRIES; tries++) {
    const sent = Promise.allSettled([sending()]);
    for (let seconds = 0; seconds < 120; seconds++) await stage.clock.tick(1_000);
    if ((await sent)[0].status === "fulfilled") return tries;
  }
  return Infinity;
}

async function encryptedRoom(creator: Client, ...others: Client[]): Promise<RoomID> {
  const roomId = await creator.createRoom({
    invitees: others.map(({ mxid }) => mxid as UserID),
    initialState: [{ type: "m.room.encryption", state_key: "", content: MEGOLM }],
  });
  for (const other of others) await other.joinRoom(roomId);
  return roomId;
}

const PATHS = [/sendToDevice/, /keys\/claim/, /sendToDevice|keys\/claim/];

for (const path of PATHS) {
  Deno.test(`T79: who has talked goes on when somebody comes over whom the server always fails at ${path.source}`, async () => {
    await using stage = clientStage();
    const { fetch } = refusing(stage, { path, user: "@mallory:localhost", status: 500 });
    const alice = stage.client("alice", { encryption: EVERYBODY, fetch });
    const [bob, mallory] = ["bob", "mallory"]
      .map((name) => stage.client(name, { encryption: EVERYBODY })) as [Client, Client];
    const texts = heard(bob);
    for (const client of [alice, bob, mallory]) await begin(stage, client);
    const room = await encryptedRoom(alice, bob);
    await alice.sendText(room, "between us");
    await stage.until(() => texts.includes("between us"));
    await alice.inviteUser(room, "@mallory:localhost");
    await mallory.joinRoom(room);
    await stage.settle();
    assert(await insist(stage, () => alice.sendText(room, "to all of you")) < TRIES);
    await stage.until(() => texts.includes("to all of you"));
  });
}

for (const path of PATHS) {
  Deno.test(`T79: a device over which the server always fails at ${path.source} costs no other device a message`, async () => {
    await using stage = clientStage();
    const { fetch } = refusing(stage, { path, user: "@mallory:localhost", status: 500 });
    const alice = stage.client("alice", { encryption: EVERYBODY, fetch });
    const [bob, carol, dave, mallory] = ["bob", "carol", "dave", "mallory"]
      .map((name) => stage.client(name, { encryption: EVERYBODY })) as [Client, Client, Client, Client];
    const texts = [bob, carol, dave].map(heard);
    for (const client of [alice, bob, carol, dave, mallory]) await begin(stage, client);
    const room = await encryptedRoom(alice, bob, mallory, carol);
    const other = await encryptedRoom(alice, dave);
    await stage.settle();
    const first = alice.sendText(room, "to all of you").catch(() => {});
    for (let seconds = 0; seconds < 120; seconds++) await stage.clock.tick(1_000);
    await first;
    assertEquals(await insist(stage, () => alice.sendText(other, "beside")), 1);
    assert(await insist(stage, () => alice.sendText(room, "to all of you")) < TRIES);
    await stage.until(() => texts.every((heard) => heard.length > 0));
    assertEquals(texts.map((heard) => [...new Set(heard)]), [["to all of you"], ["to all of you"], [
      "beside",
    ]]);
  });
}
