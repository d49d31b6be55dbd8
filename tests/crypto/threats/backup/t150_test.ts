/**
 * A server speaks as any user by a key that it has written into the backup, for whose public key anybody can
 * encrypt, or an inviter by one in a bundle: it names a device that nobody knows, and shows an event of now.
 *
 * What must hold: by default no handler hears it, it is told, and the key is asked for. It is heard when a
 * key comes from its sender or an own verified device. What happened before is read by such keys.
 *
 * The class of mistake: what is good enough to read the past was good enough to obey now.
 */

import { assert, assertEquals } from "@std/assert";
import { type KeySource, type MessageEvent, SyncStream } from "@greenroom/matrix/types";
import { backedUp, stage } from "../../backup/stage.ts";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";
import { ALICE, newDevice, Receiver, Sender, told } from "../../megolm/support.ts";
import { FakeUser } from "../../support/fake_user.ts";
import { testContext } from "../../support/context.ts";
import { DEFAULT_POLICY } from "../../../../src/crypto/context/context.ts";

/** A bot with a backup, and what the server can do with its public key. */
async function scene() {
  const staged = await stage({ policy: { accept: "cross-signed-or-legacy", shareHistory: true } });
  const { server, alice, bob, backups } = staged;
  await backedUp(bob, backups);
  await bob.ready();
  const { publicKey = "" } = await bob.engine.steps.backupState() ?? {};
  const author = { userId: alice.userId, deviceId: "TABLET" } as const;
  return {
    ...staged,
    /** A session in the backup of a device of Alice's, made up or not. */
    planted(device = new RawDevice(server, alice.userId, "NOWHERE")) {
      const session = new RawSession();
      const said = JSON.stringify(session.exported(ROOM, device.own));
      const session_data = { ...testContext().vodozemac.pk.encrypt(publicKey, said) };
      backups.current(bob)?.put(ROOM, session.id, {
        first_message_index: 0,
        forwarded_count: 0,
        is_verified: true,
        session_data,
      });
      return session;
    },
    say: (session: RawSession, body: string) => server.publish(author, session.event(ROOM, body), body),
  };
}

Deno.test("T150: an event of now by a key that only the backup has is told, and not heard; decrypt() reads it", async () => {
  const { bob, planted, say } = await scene();
  const session = planted();
  const event = say(session, "I resign");
  await bob.sync();
  assertEquals(bob.outcomes.get(event.event_id), ["MISSING_KEY"], "it waits, and is never heard");
  const decryption = await bob.engine.decrypt(event);
  assert("event" in decryption);
  assertEquals([decryption.encryption.keySource, decryption.event.content.body], ["backup", "I resign"]);
  const next = say(session, "at once"); // the key is there
  const { decrypted: [result] } = await bob.sync();
  assert(result !== undefined && "code" in result);
  assertEquals(result.code, "UNTRUSTED");
  assert(result.reason.includes("from a backup"), result.reason);
  await bob.restart();
  await bob.sync();
  assertEquals(bob.outcomes.get(next.event_id), ["UNTRUSTED"]);
});

Deno.test("T150: it is heard when its sender's key comes, in a process that has begun since, too", async () => {
  for (const isRestarted of [false, true]) {
    const { server, alice, bob, planted, say } = await scene();
    const tablet = new RawDevice(server, alice.userId, "TABLET").publish();
    const session = planted(tablet);
    const event = say(session, "slow");
    await bob.sync();
    if (isRestarted) await bob.restart();
    server.identities.set(alice.userId, new FakeUser(alice.userId).crossSign());
    server.mailbox(bob).changed.add(alice.userId);
    await bob.sync();
    assertEquals(
      bob.outcome(event),
      "MISSING_KEY",
      "the backup's word about its device is no better by that",
    );
    await bob.sync({ toDevice: [tablet.message(bob, "m.room_key", session.roomKey(ROOM))] });
    assertEquals(bob.outcome(event), "text: slow");
  }
});

Deno.test("T150: a key of the backup does not call off the request to an own verified device, whose key is heard", async () => {
  const { server, alice, bob, backups, planted, say } = await scene();
  const phone = new RawDevice(server, bob.userId, "PHONE").publish();
  server.mailbox(bob).changed.add(bob.userId);
  await bob.sync();
  await bob.ready();
  await bob.engine.steps.setDeviceTrust({ ...phone.own, trust: "verified" });
  const tablet = new RawDevice(server, alice.userId, "TABLET");
  for (const isThere of [false, true]) {
    const session = planted(tablet);
    const key = session.exported(ROOM, tablet.own);
    if (isThere) {
      const data = backups.current(bob)?.get(ROOM, session.id);
      const keys = [{ roomId: ROOM, sessionId: session.id, data }];
      assertEquals((await bob.engine.steps.restoreKeys({ version: "1", keys })).added, 1);
    }
    const event = say(session, `asked ${isThere}`);
    await bob.sync();
    assert(bob.outcome(event)?.startsWith("text") !== true, bob.outcome(event));
    await bob.sync({ toDevice: [phone.message(bob, "m.forwarded_room_key", key)] });
    assertEquals(bob.outcome(event), `text: asked ${isThere}`);
  }
});

/** What is made of events of Alice's by a key that has come another way than from her. */
async function heard(
  source: Exclude<KeySource, "direct">,
  { flags = 0, isDelivered = true }: { readonly flags?: number; readonly isDelivered?: boolean } = {},
) {
  const receiver = new Receiver({ policy: { accept: "cross-signed-or-legacy" } });
  receiver.devices.put(newDevice(receiver, ALICE, { trust: "cross-signed" }));
  const sender = new Sender(receiver, newDevice(receiver, ALICE, { deviceId: "NOWHERE" }));
  using session = receiver.context.vodozemac.megolm.createInbound(sender.roomKey.session_key);
  const sessionKey = session.exportAt() ?? "";
  const { device: { curve25519: senderKey, ed25519: senderEd25519 }, roomId, sessionId } = sender;
  await receiver.step((tx) =>
    receiver.inbound.import(tx, { roomId, sessionId, sessionKey, senderKey, senderEd25519, source })
  );
  const event: MessageEvent = sender.say("heard");
  event.source |= flags;
  const delivery = isDelivered ? { handledBefore: true, again: new Set<number>() } : undefined;
  const [result] = await receiver.step((tx) => receiver.inbound.decryption.decryptAll(tx, [event], delivery));
  assert(result);
  return told(result);
}

Deno.test("T150: only what a file or an own verified device has brought is heard as of now; the past is read by all", async () => {
  assertEquals(DEFAULT_POLICY.accept, "cross-signed-or-legacy");
  for (const source of ["backup", "bundle", "export", "forwarded"] as const) {
    const isWeak = source === "backup" || source === "bundle";
    assertEquals(await heard(source), isWeak ? "UNTRUSTED" : "heard", source);
    assertEquals(await heard(source, { flags: SyncStream.HISTORY }), "heard", source);
    assertEquals(await heard(source, { isDelivered: false }), "heard", source);
  }
});
