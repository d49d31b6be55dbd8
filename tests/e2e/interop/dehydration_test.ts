import { assert, assertEquals } from "@std/assert";
import { Client, encryptionOf } from "@greenroom/matrix";
import { type MessageEvent, PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import { within } from "../support/deadline.ts";
import { roomWith } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";
import { newUser, type SynapseServer, synapseTest, type TestUser } from "../support/synapse.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { newRecoveryKey } from "../../crypto/secrets/recovery_keys.ts";

/** Our client on a new device of a user, with nothing but the recovery key, and no backup. */
async function freshClient(server: SynapseServer, user: TestUser, recoveryKey: string): Promise<Client> {
  const { accessToken: token, userId: mxid } = await newDevice(server, user);
  const encryption = { ...EVERYBODY, recoveryKey, backup: false, dehydratedDevice: true };
  const client = new Client({ baseUrl: server.baseUrl, accessToken: token, mxid, encryption });
  await client.crypto?.start();
  assertEquals((await client.crypto?.ensureVerified())?.dehydratedDevice, "on");
  return client;
}

/** What our client reads of an event of the room's history, and where its key is from. */
async function read(client: Client, roomId: RoomID, eventId: string): Promise<unknown> {
  const { chunk } = await client.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
  const event = chunk.find(({ event_id }) => event_id === eventId) as MessageEvent;
  const decryption = await client.crypto?.decrypt(event);
  assert(decryption !== undefined);
  if (!("event" in decryption)) return decryption.code;
  return [decryption.event.content.body, encryptionOf(decryption.event)?.keySource];
}

/** Waits until one sees only a dehydrated device of a user, that the user has signed. */
async function seesDehydrated(ours: Ours, userId: TestUser["userId"]): Promise<void> {
  const isSo = async () => {
    const devices = await ours.crypto.getDevices(userId);
    return devices.length === 1 && devices[0]?.isDehydrated === true && devices[0].trust === "cross-signed";
  };
  await within(ours.until(isSo), "the dehydrated device to be seen");
}

peerTest(
  "S59 We rehydrate the device that js_sdk has made, and read what was sent while no device was there",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await using friend = await Ours.start(server, "friend");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    const recoveryKey = String(await peer.call("bootstrapSecretStorage", { passphrase: "correct horse" }));
    await peer.call("startDehydration", {});
    const roomId = await roomWith(friend, [peer]);
    await peer.logout();
    await seesDehydrated(friend, peer.user.userId);
    const eventIds: string[] = [];
    for (const body of ["one", "two"]) {
      eventIds.push(await friend.sendText(roomId, body));
      await friend.crypto.discardGroupSession(roomId); // each has a key of its own
    }

    await using client = await freshClient(server, peer.user, recoveryKey);
    assertEquals(await read(client, roomId, eventIds[0] ?? ""), ["one", "direct"]);
    assertEquals(await read(client, roomId, eventIds[1] ?? ""), ["two", "direct"]);
    await friend.until(async () => { // it has been replaced
      const devices = await friend.crypto.getDevices(peer.user.userId);
      return devices.filter(({ isDehydrated }) => isDehydrated).length === 1 && devices.length === 2;
    });
  },
);

peerTest(
  "S59 js_sdk rehydrates the device that we have made, and reads what was sent while no device was there, by js_sdk too",
  ["js_sdk"],
  async (server) => {
    await using friend = await Ours.start(server, "friend");
    await using sender = await Peer.start("js_sdk", server, "sender");
    const recoveryKey = newRecoveryKey();
    const encryption = { ...EVERYBODY, recoveryKey, backup: false, dehydratedDevice: true };
    await using bot = await Ours.start(server, "bot", { encryption });
    assertEquals((await bot.crypto.ensureVerified()).dehydratedDevice, "on");
    const roomId = await roomWith(friend, [bot, sender]);
    await sender.call("awaitDevice", { userId: bot.userId, deviceId: bot.deviceId });
    await bot.client.logout();
    await bot.stop();
    await seesDehydrated(friend, bot.userId);
    const ours = await friend.sendText(roomId, "by us");
    const theirs = await sender.sendText(roomId, "by js_sdk");

    const user = await newDevice(server, bot.user);
    await using young = await Peer.start("js_sdk", server, "young", { user });
    await young.call("adoptCrossSigning", { recoveryKey });
    await young.call("startDehydration", {});
    for (const eventId of [ours, theirs]) await young.message((message) => message.eventId === eventId);
  },
);

synapseTest(
  "S59 A bot that logged out reads with its recovery key what was sent to hundreds of sessions since",
  async (server) => {
    const recoveryKey = newRecoveryKey();
    const encryption = { ...EVERYBODY, recoveryKey, backup: false, dehydratedDevice: true };
    const user = await newUser(server, "friend", { unlimited: "people" });
    await using friend = await Ours.start(server, "friend", { user });
    await using bot = await Ours.start(server, "bot", { encryption });
    const roomId = await roomWith(friend, [bot]);
    await bot.client.logout();
    await bot.stop();
    await seesDehydrated(friend, bot.userId);
    const eventIds: string[] = [];
    for (let count = 0; count < 230; count++) { // three pages
      eventIds.push(await friend.sendText(roomId, `number ${count}`));
      await friend.crypto.discardGroupSession(roomId);
    }
    await using client = await freshClient(server, bot.user, recoveryKey);
    const { chunk } = await client.getMessages(roomId, PaginationDirection.BACKWARD, undefined, {
      limit: 300,
    });
    const texts: unknown[] = [];
    for (const event of chunk.filter(({ event_id }) => eventIds.includes(event_id))) {
      const decryption = await client.crypto?.decrypt(event as MessageEvent);
      texts.push(
        decryption !== undefined && "event" in decryption ? decryption.event.content.body : decryption?.code,
      );
    }
    assertEquals(texts.reverse(), eventIds.map((_, count) => `number ${count}`));
  },
);
