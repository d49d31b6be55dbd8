import { assertEquals } from "@std/assert";
import { encryptionOf } from "@greenroom/matrix";
import type { MessageEvent } from "@greenroom/matrix/types";
import { roomWith } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";
import { newRecoveryKey } from "../../crypto/secrets/recovery_keys.ts";

/** What a client is given that says nothing about the devices of others. */
const DEFAULTS = { sendTo: undefined, accept: undefined };

/** A peer that shuts out devices that their user has not signed, and is signed itself. */
async function strict(peer: Peer): Promise<void> {
  await peer.call("bootstrapCrossSigning", { password: peer.user.password });
  await peer.call("setIsolation", { onlySigned: true });
}

/** Has both say something that the other reads. */
async function talk(ours: Ours, peer: Peer, roomId: string): Promise<void> {
  const said = await ours.sendText(roomId, "ours");
  assertEquals((await peer.message(({ eventId }) => eventId === said)).body, "ours");
  const { promise: heard, resolve } = Promise.withResolvers<MessageEvent>();
  ours.client.on("m.room.message", (event) => event.content.body === "theirs" && resolve(event));
  await peer.sendText(roomId, "theirs");
  assertEquals(encryptionOf(await heard)?.senderTrust, "unverified-identity");
}

peerTest(
  "S50 js_sdk that shuts out unsigned devices reads a bot that was given nothing but a recovery key, and is read by it",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await strict(peer);
    const encryption = { recoveryKey: newRecoveryKey(), ...DEFAULTS };
    await using ours = await Ours.start(server, "ours", { encryption });
    assertEquals((await ours.crypto.ensureVerified()).state, "verified");
    const roomId = await roomWith(ours, [peer]);
    await talk(ours, peer, roomId);

    const user = await newDevice(server, ours.user);
    await using second = await Ours.start(server, "ours", { user, encryption });
    await talk(second, peer, roomId);
  },
);

peerTest(
  "S50 js_sdk that shuts out unsigned devices does not read a bot without an identity, until that is verified",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await strict(peer);
    await using ours = await Ours.start(server, "ours");
    const roomId = await roomWith(ours, [peer]);
    const unread = await ours.sendText(roomId, "before");
    await peer.undecryptable(({ eventId }) => eventId === unread);

    const report = await ours.crypto.ensureVerified({ onRecoveryKey: () => {} });

    assertEquals(report.state, "bootstrapped");
    await ours.crypto.idle();
    await peer.call("awaitSigned", { userId: ours.userId, deviceId: ours.deviceId });
    await talk(ours, peer, roomId);
  },
);

peerTest(
  "S50 A bot adopts the identity that js_sdk made, by recovery key and by passphrase, and js_sdk the one that a bot made",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    const passphrase = "correct horse battery staple";
    const recoveryKey = String(await peer.call("bootstrapSecretStorage", { passphrase }));
    const master = String(await peer.call("masterKey", {}));
    for (const encryption of [{ recoveryKey }, { passphrase }]) {
      const user = await newDevice(server, peer.user);
      await using ours = await Ours.start(server, "peer", { user, encryption });
      assertEquals(await ours.crypto.ensureVerified(), { state: "verified", master, backup: "on" });
      await peer.call("awaitSigned", { userId: ours.userId, deviceId: ours.deviceId });
      const [known] = (await ours.crypto.getDevices(peer.user.userId))
        .filter(({ deviceId }) => deviceId === peer.deviceId);
      assertEquals(known?.trust, "verified");
    }

    const key = newRecoveryKey();
    await using ours = await Ours.start(server, "ours", { encryption: { recoveryKey: key } });
    const { master: made } = await ours.crypto.ensureVerified();
    const user = await newDevice(server, ours.user);
    await using theirs = await Peer.start("js_sdk", server, "ours", { user });
    assertEquals(await theirs.call("adoptCrossSigning", { recoveryKey: key }), made);
    await theirs.call("awaitSigned", { userId: ours.userId, deviceId: ours.deviceId });
    await ours.until(async () => {
      const devices = await ours.crypto.getDevices(ours.userId);
      return devices.some(({ deviceId, trust }) => deviceId === theirs.deviceId && trust === "verified");
    });
  },
);

peerTest(
  "S48 A bot adopts the identity that mautrix made, by its recovery key, and mautrix the one that a bot made",
  ["mautrix"],
  async (server) => {
    await using peer = await Peer.start("mautrix", server, "peer");
    const recoveryKey = String(await peer.call("generateRecoveryKey", {}));
    const user = await newDevice(server, peer.user);
    await using second = await Ours.start(server, "peer", { user, encryption: { recoveryKey } });
    const { state, master, backup } = await second.crypto.ensureVerified();
    assertEquals([state, master, backup], ["verified", await peer.call("masterKey", {}), "on"]);
    const trustOf = async (ours: Ours, deviceId: string) =>
      (await ours.crypto.getDevices(ours.userId)).find((device) => device.deviceId === deviceId)?.trust;
    assertEquals(await trustOf(second, peer.deviceId), "verified");

    const key = newRecoveryKey();
    await using ours = await Ours.start(server, "ours", { encryption: { recoveryKey: key } });
    const { master: made } = await ours.crypto.ensureVerified();
    await using theirs = await Peer.start("mautrix", server, "ours", {
      user: await newDevice(server, ours.user),
    });
    await theirs.call("verifyWithRecoveryKey", { recoveryKey: key });
    assertEquals(await theirs.call("masterKey", {}), made);
    await ours.until(async () => await trustOf(ours, theirs.deviceId) === "verified");
  },
);
