/**
 * Keys in the backup that the server, or somebody with its public key, has put there or changed: the format
 * has no authenticity. They are at most those of an unknown device, take no session from its owner and give
 * none to another, and what does not belong to the session is refused.
 *
 * Class of mistake: what comes back from a place where it was encrypted is taken for what was put there.
 */

import { assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import { backedUp, stage, trusting } from "../../backup/stage.ts";
import { Bot } from "../../engine/bot.ts";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";
import { testContext } from "../../support/context.ts";
import { withShortKeys } from "../../support/vault.ts";

const { vodozemac } = testContext();

/** What the server can make of a public key: a key of its own in the backup. */
function inserted(publicKey: string, session: JsonObject): JsonObject {
  const session_data = { ...vodozemac.pk.encrypt(publicKey, JSON.stringify(session)) };
  return { first_message_index: 0, forwarded_count: 0, is_verified: true, session_data };
}

Deno.test("T52: an inserted key that names a verified device is of an unknown one, and refused where that is not enough", async () => {
  for (const accept of ["all", "cross-signed"] as const) {
    const { server, alice, bob, backups } = await stage({ policy: { accept } });
    await backedUp(bob, backups);
    await bob.ready(); // Alice's device is known from now on
    const { userId, deviceId, engine } = alice;
    const { ed25519, curve25519 } = engine.identity();
    await bob.engine.steps.setDeviceTrust({ userId, deviceId, ed25519, trust: "verified" });
    const forged = new RawSession();
    const { publicKey = "" } = await bob.engine.steps.backupState() ?? {};
    const said = forged.exported(ROOM, { curve25519, ed25519 });
    backups.current(bob)?.put(ROOM, forged.id, inserted(publicKey, said));
    const event = server.publish(alice, forged.event(ROOM, "I resign"), "forged");
    await bob.sync();
    const decryption = await bob.engine.decrypt(event);
    if (accept === "cross-signed") {
      assertEquals("code" in decryption && decryption.code, "UNTRUSTED");
    } else {
      assertEquals(bob.outcome(event), "text: I resign");
      const { senderTrust, keySource } = "event" in decryption ? decryption.encryption : {};
      assertEquals(`${senderTrust} ${keySource}`, "unknown-device backup");
    }
  }
});

Deno.test("T52: a changed or moved key is refused, and what a device has sent stays as it is", async () => {
  const { server, alice, bob, backups } = await stage();
  const event = await alice.send("hello");
  await bob.sync();
  const secret = await backedUp(bob, backups);
  const sessionId = String(event.content.session_id);
  const stored = backups.current(bob)?.get(ROOM, sessionId) as { session_data: Record<string, string> };
  const mallory = new RawDevice(server, "@mallory:example.org", "MALLORY").publish();
  const other = new RawSession();
  const { publicKey = "" } = await bob.engine.steps.backupState() ?? {};
  const bytes = Uint8Array.fromBase64(stored.session_data.ciphertext ?? "");
  const hostile: JsonObject[] = [
    {},
    { session_data: null },
    inserted(publicKey, other.exported(ROOM, mallory.own)), // of another session than it is shown for
    ...[0, 16, 40, 300, 400].map((at) => {
      const ciphertext = bytes.with(at, (bytes[at] ?? 0) ^ 1).toBase64({ omitPadding: true });
      return { ...stored, session_data: { ...stored.session_data, ciphertext } };
    }),
  ];
  for (const data of hostile) {
    const fresh = await Bot.open(server, { userId: bob.userId, deviceId: `FRESH${hostile.indexOf(data)}` });
    backups.onDownload = () => data;
    await trusting(fresh, backups, secret);
    await fresh.sync({ encrypted: [event], toDevice: [] });
    const outcome = fresh.outcome(event);
    // A flipped bit of CBC can change what is said of the session, and no more.
    if (outcome !== "MISSING_KEY" && outcome !== "MALFORMED") assertEquals(outcome, "text: hello");
    const keys = [{ roomId: ROOM, sessionId, data }];
    await bob.engine.steps.restoreKeys({ version: "1", keys });
    const decryption = await bob.engine.decrypt(event);
    assertEquals("event" in decryption && decryption.encryption.keySource, "direct");
  }
});

Deno.test("T52: a key that is longer than any, or has a longer name, is refused", async () => {
  const { alice, bob, backups } = await stage();
  await backedUp(bob, backups);
  const { publicKey = "" } = await bob.engine.steps.backupState() ?? {};
  withShortKeys(bob.store);
  const restored = async (length: number, name = "") => {
    const session = new RawSession();
    const said = { ...session.exported(ROOM, alice.engine.identity()), padding: "x".repeat(length) };
    const keys = [{ roomId: ROOM, sessionId: session.id + name, data: inserted(publicKey, said) }];
    const { added, refused } = await bob.engine.steps.restoreKeys({ version: "1", keys });
    return [added, refused];
  };
  assertEquals([await restored(1_000), await restored(60_000)], [[1, 0], [0, 1]]);
  assertEquals(await restored(1_000, "x".repeat(10_000)), [0, 1]);
});

Deno.test("T52: what the backup says is of a device that nobody vouches for is not heard for coming from the backup", async () => {
  for (const accept of ["cross-signed-or-legacy", "all"] as const) {
    const { server, alice, bob, backups } = await stage({ policy: { accept } });
    await backedUp(bob, backups);
    await bob.ready(); // Alice's device, which nobody has signed, is known from now on
    const { ed25519, curve25519 } = alice.engine.identity();
    const session = new RawSession();
    const { publicKey = "" } = await bob.engine.steps.backupState() ?? {};
    backups.current(bob)?.put(
      ROOM,
      session.id,
      inserted(publicKey, session.exported(ROOM, { curve25519, ed25519 })),
    );
    const event = server.publish(alice, session.event(ROOM, "hello"), "unsigned");
    await bob.sync();
    const decryption = await bob.engine.decrypt(event);
    if (accept === "all") {
      const { senderTrust, keySource } = "event" in decryption ? decryption.encryption : {};
      assertEquals(`${senderTrust} ${keySource}`, "unsigned-device backup");
    } else assertEquals("code" in decryption && decryption.code, "UNTRUSTED");
  }
});

Deno.test("T52: a device that nobody vouches for begins no verification by what a key of the backup opens", async () => {
  const { server, alice, bob, backups } = await stage({ policy: { accept: "cross-signed" } });
  await backedUp(bob, backups);
  await bob.ready(); // Alice's device, which nobody has signed, is known from now on
  const { ed25519, curve25519 } = alice.engine.identity();
  const { publicKey = "" } = await bob.engine.steps.backupState() ?? {};
  const session = new RawSession();
  const { userId: to } = bob;
  const request = {
    msgtype: "m.key.verification.request",
    from_device: alice.deviceId,
    methods: ["m.sas.v1"],
    to,
  };
  const verifies = async (name: string) => {
    const event = server.publish(alice, session.event(ROOM, "Verify me", request), name);
    await bob.sync();
    const outcome = await bob.engine.decrypt(event);
    return ["code" in outcome && outcome.code, "verifying" in outcome && outcome.verifying !== undefined];
  };
  backups.current(bob)?.put(
    ROOM,
    session.id,
    inserted(publicKey, session.exported(ROOM, { curve25519, ed25519 })),
  );
  assertEquals(await verifies("forged"), ["UNTRUSTED", false]);
  const device = new RawDevice(server, alice.userId, "TABLET").publish();
  const key = session.roomKey(ROOM);
  await bob.sync({ toDevice: [device.message(bob, "m.room_key", key)] });
  assertEquals(await verifies("genuine"), ["UNTRUSTED", true], "the key of the device itself does");
});

Deno.test("T52: a key that says of no device, or of what is no device's key, whose it is, is refused", async () => {
  const { server, alice, bob, backups } = await stage();
  await backedUp(bob, backups);
  const { publicKey = "" } = await bob.engine.steps.backupState() ?? {};
  const { curve25519, ed25519 } = alice.engine.identity();
  const others = ["", "x", `${curve25519}x`, `${curve25519}==`, curve25519.slice(1), "Alice's telephone"];
  for (const [index, sender_key] of [...others, curve25519].entries()) {
    const session = new RawSession();
    const said = { ...session.exported(ROOM, { curve25519, ed25519 }), sender_key };
    backups.current(bob)?.put(ROOM, session.id, inserted(publicKey, said));
    const event = server.publish(alice, session.event(ROOM, "hello"), `of whom ${index}`);
    await bob.sync();
    assertEquals(bob.outcome(event), sender_key === curve25519 ? "text: hello" : "MISSING_KEY", sender_key);
  }
});
