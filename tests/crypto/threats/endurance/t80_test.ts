/**
 * A member has a device whose messages the server refuses, and so a request for 250 devices is
 * refused, or it is too large.
 *
 * What must hold: the other devices in the request get their keys at once; only the one at fault
 * goes without, and is tried again later.
 *
 * The class of mistake: what is refused as a whole is taken to be bad as a whole.
 */

import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import { begin } from "../../../client/support/encrypted_room.ts";
import { clientStage, heard } from "../../../client/support/stage.ts";
import { refusing } from "../refusing.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };
const NAMES = ["bob", "carol", "mallory", "dave", "erin", "frank", "grace", "heidi"];

for (
  const [path, status] of [[/sendToDevice/, 400], [/sendToDevice/, 413], [/keys\/claim/, 400]] as const
) {
  Deno.test(`T80: a ${status} of ${path.source} for one device costs no other its key`, async () => {
    await using stage = clientStage();
    const { fetch, count } = refusing(stage, { path, user: "@mallory:localhost", status });
    const alice = stage.client("alice", { encryption: EVERYBODY, fetch });
    const others = NAMES.map((name) => stage.client(name, { encryption: EVERYBODY }));
    const texts = others.map(heard);
    for (const client of [alice, ...others]) await begin(stage, client);
    const roomId = await alice.createRoom({
      invitees: others.map(({ mxid }: Client) => mxid as UserID),
      initialState: [{ type: "m.room.encryption", state_key: "", content: MEGOLM }],
    });
    for (const other of others) await other.joinRoom(roomId);
    await stage.settle();
    await alice.sendText(roomId, "to all of you");
    await stage.settle();
    const good = NAMES.map((name) => name === "mallory" ? [] : ["to all of you"]);
    assertEquals(texts, good);
    assert(count() < NAMES.length, `it took ${count()} refusals`);
    await alice.sendText(roomId, "once more");
    await stage.settle();
    assertEquals(texts.map((heard) => heard.length), good.map((heard) => 2 * heard.length));
    assert(count() < NAMES.length, "who is to blame is not tried with each message");
  });
}
