import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assertEquals, assertRejects } from "@std/assert";
import { Client } from "@greenroom/matrix";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";
import type { SynapseServer } from "../support/synapse.ts";

const NAME = "com.example.token";
const CROSS_SIGNING = [
  "m.cross_signing.master",
  "m.cross_signing.self_signing",
  "m.cross_signing.user_signing",
];

/** Our client on another device of a peer's user. */
async function ourClient(server: SynapseServer, peer: Peer): Promise<Client> {
  const { accessToken: token, userId: mxid } = await newDevice(server, peer.user);
  return new Client({ baseUrl: server.baseUrl, accessToken: token, mxid });
}

/** The public key of a private key in base64. */
async function publicOf(secret: string | undefined): Promise<string> {
  const { keys } = await Vodozemac.create();
  using key = keys.importEd25519(secret ?? "");
  return key.publicKey;
}

peerTest(
  "S39 We open a secret storage that js_sdk made, by passphrase and by recovery key, and secrets pass both ways",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    const passphrase = "correct horse battery staple";
    const recoveryKey = String(await peer.call("bootstrapSecretStorage", { passphrase }));
    await using client = await ourClient(server, peer);
    const { hasPassphrase, problem } = await client.secretStorage.info();
    assertEquals([hasPassphrase, problem], [true, undefined]);
    using byPassphrase = await client.secretStorage.open({ passphrase });
    using storage = await client.secretStorage.open({ recoveryKey });

    assertEquals(await byPassphrase.names(), [...CROSS_SIGNING, "m.megolm_backup.v1"]);
    const master = await storage.get("m.cross_signing.master");
    assertEquals(await publicOf(master), await peer.call("masterKey", {}));

    await storage.set(NAME, "ours: ä");
    await peer.call("awaitSecret", { name: NAME, value: "ours: ä" });
    await peer.call("storeSecret", { name: "com.example.theirs", value: "theirs" });
    assertEquals(await byPassphrase.get("com.example.theirs"), "theirs");

    const fresh = await client.secretStorage.changeKey({ passphrase }, { onRecoveryKey() {} });
    await peer.call("useRecoveryKey", { ...fresh });
    await peer.call("awaitSecret", { name: "m.cross_signing.master", value: master });
    await peer.call("storeSecret", { name: NAME, value: "theirs with the new key" });
    using changed = await client.secretStorage.open(fresh);
    assertEquals(await changed.get(NAME), "theirs with the new key");
  },
);

peerTest(
  "S39 js_sdk opens a secret storage that we made, and secrets pass both ways",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await using client = await ourClient(server, peer);
    const key = await client.secretStorage.create({ passphrase: "ours", onRecoveryKey() {} });
    using storage = await client.secretStorage.open(key);
    await storage.set(NAME, "ours");
    await peer.call("useRecoveryKey", { ...key });
    await peer.call("awaitSecret", { name: NAME, value: "ours" });
    await peer.call("storeSecret", { name: NAME, value: "theirs" });
    assertEquals(await storage.get(NAME), "theirs");
    await storage.delete(NAME);
    await peer.call("awaitSecret", { name: NAME, value: undefined });
  },
);

peerTest(
  "S39 We open a secret storage that mautrix made, by passphrase and by recovery key, and secrets pass both ways",
  ["mautrix"],
  async (server) => {
    await using peer = await Peer.start("mautrix", server, "peer");
    const passphrase = "correct horse battery staple";
    const recoveryKey = String(await peer.call("createSecretStorage", { passphrase }));
    await peer.call("storeSecret", { name: NAME, value: "3q2+7w==", recoveryKey });
    await using client = await ourClient(server, peer);
    using byPassphrase = await client.secretStorage.open({ passphrase });
    using storage = await client.secretStorage.open({ recoveryKey });
    assertEquals([await byPassphrase.get(NAME), await storage.get(NAME)], ["3q2+7w", "3q2+7w"]);
    await storage.set("com.example.ours", "b3Vycw");
    assertEquals(await peer.call("readSecret", { name: "com.example.ours", passphrase }), "b3Vycw==");
  },
);

peerTest(
  "S38 S39 mautrix opens a secret storage that we made, and no wrong key does",
  ["mautrix"],
  async (server) => {
    await using peer = await Peer.start("mautrix", server, "peer");
    await using client = await ourClient(server, peer);
    const passphrase = "ours, with an ä";
    const old = await client.secretStorage.create({ onRecoveryKey() {} });
    {
      using storage = await client.secretStorage.open(old);
      await storage.set(NAME, "b3Vycw");
    }
    assertEquals(await peer.call("readSecret", { name: NAME, recoveryKey: old.recoveryKey }), "b3Vycw==");
    const { recoveryKey } = await client.secretStorage.changeKey(old, { passphrase, onRecoveryKey() {} });
    assertEquals(await peer.call("readSecret", { name: NAME, passphrase }), "b3Vycw==");
    await peer.call("storeSecret", { name: NAME, value: "dGhlaXJz", recoveryKey });
    using storage = await client.secretStorage.open({ recoveryKey });
    assertEquals(await storage.get(NAME), "dGhlaXJz");

    await assertRejects(
      () => peer.call("readSecret", { name: NAME, recoveryKey: old.recoveryKey }),
      Error,
      "MAC",
    );
    const { problem } = await assertRejects(() => client.secretStorage.open(old), SecretStorageError);
    assertEquals(problem, "wrong-key");
  },
);
