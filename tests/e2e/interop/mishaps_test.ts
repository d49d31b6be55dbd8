/**
 * Bots whose user's identity was changed by others while they were down,
 * or is not as they would have made it.
 */

import { assert, assertEquals, assertInstanceOf, assertRejects } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { within } from "../support/deadline.ts";
import { roomWith } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";
import { newUser, type SynapseServer, synapseTest, type TestUser } from "../support/synapse.ts";
import { newRecoveryKey } from "../../crypto/secrets/recovery_keys.ts";

const BACKUP = "m.megolm_backup.v1";
const EVERYBODY_COUNTS = { sendTo: undefined, accept: undefined };

/** Has a peer make an identity, a secret storage and a backup, in place of what there is; returns the key. */
async function setUp(peer: Peer, passphrase: string): Promise<string> {
  await peer.call("bootstrapCrossSigning", { password: peer.user.password });
  return String(await peer.call("bootstrapSecretStorage", { passphrase }));
}

/** What the doctor finds wrong. */
async function errors(ours: Ours, by?: { readonly recoveryKey: string }): Promise<string[]> {
  return (await ours.crypto.doctor(by)).filter(({ level }) => level === "error").map(({ code }) => code);
}

/** A client that only reads and changes account data. */
async function elsewhere(server: SynapseServer, user: TestUser): Promise<Client> {
  const { accessToken: token, userId: mxid } = await newDevice(server, user);
  return new Client({ baseUrl: server.baseUrl, accessToken: token, mxid });
}

peerTest(
  "S49 A bot whose identity js_sdk has reset while it was down says so when it starts, changes nothing, and goes on with the new key",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await using other = await Peer.start("js_sdk", server, "other");
    await other.call("bootstrapCrossSigning", { password: other.user.password });
    await other.call("setIsolation", { onlySigned: true });
    const first = await setUp(peer, "correct horse");
    const user = await newDevice(server, peer.user);
    const store = new MemoryStore();
    const encryption = { recoveryKey: first, ...EVERYBODY_COUNTS };
    await using ours = await Ours.start(server, "peer", { user, store, encryption });
    const roomId = await roomWith(ours, [other]);
    await ours.stop();
    const second = await setUp(peer, "battery staple");
    const master = String(await peer.call("masterKey", {}));

    await using refused = await Ours.launch(server, "peer", { user, store, encryption });
    const why = await within(refused.running, "the start to be refused");
    assertInstanceOf(why, SecretStorageError);
    assertEquals(why.problem, "wrong-key");
    assertEquals(await peer.call("masterKey", {}), master);
    await refused.stop();

    await ours.resume({ encryption: { ...encryption, recoveryKey: second } });
    assertEquals(await ours.crypto.ensureVerified(), { state: "verified", master, backup: "on" });
    assertEquals(await errors(ours), []);
    const said = await ours.sendText(roomId, "with the new identity");
    await other.call("awaitSigned", { userId: ours.userId, deviceId: ours.deviceId });
    await other.message(({ eventId }) => eventId === said);
  },
);

peerTest(
  "A bot that runs while js_sdk resets its identity finds that, and is verified again by the new key",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    const user = await newDevice(server, peer.user);
    const encryption = { recoveryKey: await setUp(peer, "correct horse") };
    await using ours = await Ours.start(server, "peer", { user, encryption });
    const recoveryKey = await setUp(peer, "battery staple");
    await ours.until(async () => (await errors(ours)).includes("identity-changed"));
    await assertRejects(() => ours.crypto.ensureVerified(encryption), SecretStorageError);
    const { state, master } = await ours.crypto.ensureVerified({ recoveryKey });
    assertEquals([state, master], ["verified", await peer.call("masterKey", {})]);
    assertEquals(await errors(ours, { recoveryKey }), []);
  },
);

peerTest(
  "An identity of js_sdk is adopted with a backup whose key is not stored, which stays as it is, and with none, which is made",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    const recoveryKey = await setUp(peer, "correct horse");
    const master = String(await peer.call("masterKey", {}));
    await using client = await elsewhere(server, peer.user);
    using storage = await client.secretStorage.open({ recoveryKey });
    await storage.delete(BACKUP);
    const before = await client.raw.getKeyBackupVersion();
    const begin = async () =>
      await Ours.start(server, "peer", {
        user: await newDevice(server, peer.user),
        encryption: { recoveryKey },
      });
    await using ours = await begin();
    assertEquals(await ours.crypto.ensureVerified(), { state: "verified", master, backup: "no-secret" });
    const { version, auth_data } = await client.raw.getKeyBackupVersion();
    assertEquals([version, auth_data], [before.version, before.auth_data]);
    const found = await ours.crypto.doctor();
    assert(found.some(({ code, level }) => code.startsWith("backup") && level !== "ok"));

    await client.raw.deleteKeyBackupVersion(version);
    await using next = await begin();
    assertEquals(await next.crypto.ensureVerified(), { state: "verified", master, backup: "on" });
    assertEquals(typeof await storage.get(BACKUP), "string");
  },
);

synapseTest(
  "A bot whose recovery key was changed elsewhere goes on with its store, and a new one says that the key is wrong and changes nothing",
  async (server) => {
    const [recoveryKey, changed] = [newRecoveryKey(), newRecoveryKey()];
    const store = new MemoryStore();
    await using ours = await Ours.start(server, "ours", { store, encryption: { recoveryKey } });
    const { master } = await ours.crypto.ensureVerified();
    await ours.stop();
    await using client = await elsewhere(server, ours.user);
    await client.secretStorage.changeKey({ recoveryKey }, { recoveryKey: changed, onRecoveryKey() {} });

    await ours.resume();
    assertEquals(await ours.crypto.ensureVerified(), { state: "verified", master, backup: "on" });

    const user = await newDevice(server, ours.user);
    await using young = await Ours.launch(server, "ours", { user, encryption: { recoveryKey } });
    const why = await within(young.running, "the start to be refused");
    assertInstanceOf(why, SecretStorageError);
    assertEquals(why.problem, "wrong-key");
    const { master_keys, device_keys } = await client.queryKeys([ours.userId]);
    assertEquals(Object.values(master_keys?.[ours.userId]?.keys ?? {}), [master]);
    assertEquals(device_keys?.[ours.userId]?.[user.deviceId], undefined);
    await young.stop();
    await young.resume({ encryption: { recoveryKey: changed } });
    assertEquals((await young.crypto.ensureVerified()).master, master);
  },
);

synapseTest(
  "Bots that make the account's identity at the same time, with one key, have one identity that the key opens",
  async (server) => {
    for (let time = 0; time < 3; time++) {
      const recoveryKey = newRecoveryKey();
      const first = await newUser(server, "ours");
      const users = [first, await newDevice(server, first), await newDevice(server, first)];
      const bots = await Promise.all(
        users.map((user) => Ours.start(server, "ours", { user, encryption: { recoveryKey } })),
      );
      const reports = await Promise.all(bots.map(({ crypto }) => crypto.ensureVerified()));
      const masters = new Set(reports.map(({ master }) => master));
      assertEquals([reports.map(({ state }) => state), masters.size], [
        ["verified", "verified", "verified"],
        1,
      ]);
      assertEquals(reports.map(({ backup }) => backup), ["on", "on", "on"]);
      const user = await newDevice(server, first);
      await using last = await Ours.start(server, "ours", { user, encryption: { recoveryKey } });
      assertEquals(await last.crypto.ensureVerified(), {
        state: "verified",
        master: reports[0]?.master,
        backup: "on",
      });
      await last.crypto.idle();
      const devices = await last.crypto.getDevices(last.userId);
      assertEquals(devices.map(({ trust }) => trust), ["verified", "verified", "verified"]);
      assertEquals(await errors(last), []);
      for (const bot of bots) await bot[Symbol.asyncDispose]();
    }
  },
);
