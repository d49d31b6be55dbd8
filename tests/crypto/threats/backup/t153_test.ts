/**
 * A server has a device pass on, as its own word, what the server has written into the backup: a session that
 * it made up goes into the bundle for who is invited, to the user's other devices on request, or through a
 * file, and counts for more there than what a backup says.
 *
 * What must hold: what only a backup says, or only an inviter where it goes to own devices, is vouched for by
 * nobody on the way: it goes into no bundle, to no device that asks, and comes out of a file as what it was.
 *
 * The class of mistake: where a thing comes from is forgotten when it is passed on,
 * and who passes it on is believed.
 */

import { assert, assertEquals } from "@std/assert";
import { bundleOf, isBundled } from "../../../../src/crypto/history/history.ts";
import { readEntry, writeEntry } from "../../../../src/crypto/key_files/key_files.ts";
import type { KeySource } from "@greenroom/matrix/types";
import { backedUp, stage } from "../../backup/stage.ts";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";

const SHAREABLE = { shared_history: true };

/** A bot, its user's verified phone, and what was said of sessions. */
async function scene() {
  const { server, alice, bob, backups } = await stage({ policy: { answerKeyRequests: true } });
  await backedUp(bob, backups);
  const phone = new RawDevice(server, bob.userId, "PHONE").publish();
  server.mailbox(bob).changed.add(bob.userId);
  await bob.sync();
  await bob.ready();
  await bob.engine.steps.setDeviceTrust({ ...phone.own, trust: "verified" });
  const { curve25519: senderKey, ed25519: senderEd25519 } = alice.engine.identity();
  const maker = { senderKey, senderEd25519 };
  return {
    server,
    alice,
    bob,
    /** A session of Alice's, as it is said. */
    async heard(...sources: readonly Exclude<KeySource, "direct">[]) {
      const session = new RawSession();
      const { session_key } = session.exported(ROOM, alice.engine.identity());
      const sessionKey = String(session_key);
      for (const source of sources) {
        const sharedBy = source === "bundle" ? { sharedBy: alice.userId } : {};
        const named = { roomId: ROOM, sessionId: session.id, sessionKey, ...maker, sharedHistory: true };
        await bob.engine.steps.importKeys([{ ...named, source, ...sharedBy }]);
      }
      return session;
    },
    /** What the phone gets that asks for a session. */
    async asks({ id }: RawSession) {
      const inbox = server.mailbox({ userId: bob.userId, deviceId: "PHONE" }).toDevice;
      inbox.length = 0;
      const content = {
        action: "request",
        requesting_device_id: "PHONE",
        request_id: id,
        body: { algorithm: "m.megolm.v1.aes-sha2", room_id: ROOM, session_id: id },
      };
      await bob.sync({ toDevice: [{ type: "m.room_key_request", sender: bob.userId, content, source: 0 }] });
      return inbox.map((message) => message.content.code ?? phone.read(message).type);
    },
    /** What goes out of a session. */
    async exported({ id }: RawSession) {
      const { sessions } = await bob.engine.steps.exportSessions({ roomId: ROOM, limit: 1_000 });
      const session = sessions.find(({ content }) => content.session_id === id);
      assert(session !== undefined);
      return session;
    },
  };
}

Deno.test("T153: what only a backup says is in no bundle, neither as a key nor as one that is withheld", async () => {
  const { alice, bob, server, heard, exported } = await scene();
  for (const isMet of [false, true]) {
    const planted = await heard("backup");
    if (isMet) { // the server shows an event of it, in Alice's name
      server.publish(alice, planted.event(ROOM, "I resign"), "planted");
      await bob.sync();
    }
    const session = await exported(planted);
    assert(session.sharedHistory, "the backup says so");
    assertEquals(bundleOf([session]), { room_keys: [], withheld: [] });
  }
});

Deno.test("T153: what was heard another way, or from its maker, is shared with who is invited", async () => {
  const { server, alice, bob, heard, exported } = await scene();
  for (const source of ["export", "forwarded", "bundle"] as const) {
    assert(isBundled(await exported(await heard(source))), source);
    assert(isBundled(await exported(await heard("backup", source))), source);
  }
  const session = await heard("backup");
  const device = new RawDevice(server, alice.userId, "TABLET").publish();
  await bob.sync({
    toDevice: [device.message(bob, "m.room_key", { ...session.roomKey(ROOM), ...SHAREABLE })],
  });
  const { content } = await exported(session);
  assertEquals(content.sender_key, device.own.curve25519, "in the name of who has sent it");
  assert(isBundled(await exported(session)));
});

Deno.test("T153: an own device that asks gets no session whose maker only a backup or an inviter names", async () => {
  const { heard, asks } = await scene();
  for (const source of ["backup", "bundle"] as const) {
    assertEquals(await asks(await heard(source)), ["m.unavailable"], source);
  }
  for (const source of ["export", "forwarded"] as const) {
    assertEquals(await asks(await heard("backup", source)), ["m.forwarded_room_key"], source);
  }
});

Deno.test("T153: a file says of what only a backup or an inviter says that it is no better than a backup", async () => {
  const { heard, exported } = await scene();
  for (const source of ["backup", "bundle", "export", "forwarded"] as const) {
    const entry = writeEntry(await exported(await heard(source)));
    const isWeak = source === "backup" || source === "bundle";
    assertEquals(readEntry(new TextEncoder().encode(entry))?.source, isWeak ? "backup" : "export", source);
  }
});
