/** The records of devices that began Olm sessions and are in no device list. */

import { assert, assertEquals } from "@std/assert";
import { recordKey, UNKNOWN_DEVICES } from "../../../src/crypto/records/mod.ts";
import { KeyServer } from "../olm/key_server.ts";
import { Peer } from "../olm/peers.ts";
import { DAY, isRead, keysWith, recordsByKind } from "./records.ts";

/** A device that is in no list, with a session with Bob. */
async function unknownDevice(bob: Peer, server: KeyServer, userId: `@${string}:${string}`, deviceId: string) {
  const peer = await Peer.open({ userId, deviceId, server, clock: bob.clock });
  server.hidden.add(deviceId);
  await peer.meet(bob);
  await bob.receive(await peer.send(bob));
  return peer;
}

/** Bob, who has stored so many unknown devices, each of another user, that a few more are left. */
async function bobWithRoomFor(unknownDevices: number) {
  const server = new KeyServer();
  const bob = await Peer.open({ userId: "@bob:example.org", deviceId: "BOB", server });
  await bob.step((tx) => {
    for (let n = unknownDevices; n < UNKNOWN_DEVICES; n++) {
      tx.set(recordKey("olm_stranger", `@other${n}:example.org`, "key"), 0);
    }
  });
  await bob.restart();
  return { bob, server };
}

Deno.test("unknown devices are bounded, and those of one user do not crowd out others", async () => {
  const { bob, server } = await bobWithRoomFor(5);
  const honest = await unknownDevice(bob, server, "@alice:example.org", "HONEST");
  for (let n = 0; n < 12; n++) await unknownDevice(bob, server, "@mallory:example.org", `M${n}`);
  const kinds = await recordsByKind(bob.store);
  assertEquals(kinds["olm-peer"], 5);
  assertEquals(kinds["olm-session"], 5);
  assertEquals(kinds["olm-seen"], 5);
  assertEquals(kinds.olm_stranger, UNKNOWN_DEVICES);
  assert(isRead(await bob.receive(await honest.send(bob))));
});

Deno.test("messages that a server attributes to an unknown device are not decrypted again when that device is forgotten", async () => {
  const { bob, server } = await bobWithRoomFor(2);
  server.of(bob.userId, bob.deviceId).oneTimeKeys.clear();
  const alice = await Peer.open({ userId: "@alice:example.org", deviceId: "A", server, clock: bob.clock });
  await alice.meet(bob);
  const first = await alice.send(bob, {}, "org.example.deed");
  await bob.read(first);
  for (let n = 0; n < 8; n++) { // the first session is removed
    await alice.step((tx) => alice.olm.sessions.rollback(tx));
    await alice.meet(bob);
    await bob.read(await alice.send(bob));
  }
  await alice.step((tx) => alice.olm.sessions.rollback(tx));
  await alice.meet(bob);
  const passedOff = { ...await alice.send(bob), sender: "@mallory:example.org" } as const;
  assert(!isRead(await bob.receive(passedOff)));
  for (let n = 0; n < 3; n++) await unknownDevice(bob, server, "@mallory:example.org", `M${n}`);
  assertEquals((await keysWith(bob.store, "@mallory:example.org")).length, 6, "two unknown devices are left");
  assert(!isRead(await bob.receive(first)));
  await bob.restart();
  assert(!isRead(await bob.receive(first)));
});

Deno.test("a device that has become known keeps its session when others exceed the bound", async () => {
  const { bob, server } = await bobWithRoomFor(2);
  const known = await unknownDevice(bob, server, "@mallory:example.org", "KNOWN");
  server.hidden.delete("KNOWN");
  for (let n = 0; n < 4; n++) await unknownDevice(bob, server, "@mallory:example.org", `M${n}`);
  assertEquals((await recordsByKind(bob.store))["olm-peer"], 3);
  assert(isRead(await bob.receive(await known.send(bob, {}, "org.example.other"))));
});

Deno.test("unknown devices stay unknown over a restart until they are in a list, and their sessions work for years", async () => {
  const { bob, server } = await bobWithRoomFor(2);
  const first = await unknownDevice(bob, server, "@first:example.org", "FIRST");
  const second = await unknownDevice(bob, server, "@second:example.org", "SECOND");
  await bob.restart();
  server.hidden.delete("SECOND");
  const { housekeeping } = bob.olm;
  assertEquals(housekeeping.unknownDevices().length, UNKNOWN_DEVICES);
  await bob.clock.tick(1_000 * DAY);
  for (const each of housekeeping.unknownDevices().slice(-2)) {
    await bob.step((tx) => housekeeping.pruneUnknownDevice(tx, each));
  }
  const left = housekeeping.unknownDevices().map(({ userId }) => userId);
  assertEquals([left.length, left.at(-1)], [UNKNOWN_DEVICES - 1, first.userId]);
  for (const peer of [first, second]) assert(isRead(await bob.receive(await peer.send(bob))));
});

Deno.test("a user who begins sessions with over a thousand new devices in a day gets no answer that day", async () => {
  const { bob, server } = await bobWithRoomFor(50);
  const { olm } = bob.context.vodozemac;
  const fallback = server.of(bob.userId, bob.deviceId).fallback?.[1] as { key: string };
  const meet = (userId: string) => {
    using account = olm.createAccount();
    using session = account.createOutboundSession(bob.keys.own.curve25519, fallback.key);
    const { type, body } = session.encrypt("{}");
    return bob.receive({
      type: "m.room.encrypted",
      sender: userId,
      source: "toDevice",
      content: {
        algorithm: "m.olm.v1.curve25519-aes-sha2",
        sender_key: account.curve25519Key,
        ciphertext: { [bob.keys.own.curve25519]: { type, body } },
      },
    } as never); // as a server sends it
  };
  const reasons = new Map<string, number>();
  const note = async (userId: string) => {
    const result = await meet(userId);
    const reason = "reason" in result ? result.reason : "read";
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    return reason;
  };
  for (let n = 0; n < 1_010; n++) await note("@mallory:example.org");
  assertEquals(reasons.get("its user begins sessions with too many devices"), 10);
  assert(await note("@alice:example.org") !== "its user begins sessions with too many devices");
  await bob.clock.tick(DAY);
  assert(await note("@mallory:example.org") !== "its user begins sessions with too many devices");
  assertEquals((await recordsByKind(bob.store))["olm-peer"], 50);
});
