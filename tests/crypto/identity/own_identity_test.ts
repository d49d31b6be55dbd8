import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import {
  type DeviceLists,
  readCrossSigningKey,
  type StoredIdentity,
} from "../../../src/crypto/devices/mod.ts";
import { verifySignedJson } from "../../../src/crypto/encoding/encoding.ts";
import type { DeviceKeys, JsonObject } from "@greenroom/matrix/types";
import { sign, signingKey } from "../support/fake_user.ts";
import { EngineServer } from "../engine/homeserver.ts";
import { RawDevice } from "../engine/raw_device.ts";
import { testContext } from "../support/context.ts";
import { memoryVault, step } from "../support/vault.ts";
import type { OwnAccount } from "../../../src/crypto/account/account.ts";
import { OwnIdentity } from "../../../src/crypto/identity/own_identity.ts";
import { deviceOf, ME, type OwnScene, ownScene, shownSignature } from "./own_scene.ts";
import type { IdentitySeeds } from "../../../src/crypto/identity/identity.ts";

const vodozemac = await Vodozemac.create();

/** Offers keys after the server was asked, and makes what requests that leads to. */
async function offered({ bot }: OwnScene, seeds: IdentitySeeds): Promise<string> {
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  const { outcome } = await bot.engine.steps.offerIdentity(seeds);
  await bot.flush();
  return outcome;
}

Deno.test("private keys that fit what the server shows are adopted, and prove the own identity, also after a restart", async () => {
  const scene = await ownScene();
  const { bot, identity } = scene;
  assertEquals(await offered(scene, identity.seeds), "adopted");
  for (const time of ["at once", "after a restart"]) {
    const { shown, keys } = await bot.engine.steps.ownIdentity();
    assertEquals([shown?.isVerified, shown?.pinned], [true, identity.master?.publicKey], time);
    assertEquals(keys, {
      master: identity.master?.publicKey ?? "",
      selfSigning: identity.selfSigning?.publicKey ?? "",
      userSigning: identity.userSigning?.publicKey ?? "",
      phase: "published",
    }, time);
    assertEquals(await bot.engine.devicesOf([ME]).then(([other]) => other?.trust), "verified", time);
    await bot.restart();
  }
});

Deno.test("T25 T50: private keys of which one is another than the server shows change nothing", async () => {
  const scene = await ownScene();
  const { bot, identity, other } = scene;
  for (const name of ["master", "selfSigning", "userSigning"] as const) {
    assertEquals(await offered(scene, { ...identity.seeds, [name]: other.seeds[name] }), "mismatch", name);
    const { shown, keys } = await bot.engine.steps.ownIdentity();
    assertEquals([shown?.isVerified, shown?.pinned, keys], [false, undefined, undefined], name);
    assertEquals(shownSignature(scene), undefined, name);
  }
});

Deno.test("without an identity on the server there is nothing to adopt", async () => {
  const scene = await ownScene({ bare: true });
  assertEquals(await offered(scene, scene.identity.seeds), "absent");
});

Deno.test("private keys are compared only with an answer that was asked for after them", async () => {
  const { bot, identity } = await ownScene();
  await bot.engine.steps.askForIdentity();
  assertEquals((await bot.engine.steps.offerIdentity(identity.seeds)).outcome, "unasked");
  const [request] = await bot.engine.requests();
  assert(request !== undefined);
  await bot.engine.fail({ id: request.id, failure: { status: 500, errcode: undefined, message: "" } });
  assertEquals((await bot.engine.steps.offerIdentity(identity.seeds)).outcome, "unasked");
});

Deno.test("events that waited for the own identity are read once it is proven", async () => {
  const scene = await ownScene({ policy: { accept: "cross-signed" } });
  const { bot, event, identity } = scene;
  assertEquals(bot.outcome(event), "UNTRUSTED");
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  const { recovered } = await bot.engine.steps.offerIdentity(identity.seeds);
  assertEquals(recovered.map(({ event: { event_id } }) => event_id), [event.event_id]);
});

Deno.test("C16: a new identity is the same at each call, also after a crash, until it is published", async () => {
  const scene = await ownScene({ bare: true });
  const { bot } = scene;
  const first = await bot.engine.steps.createIdentity({ recoveryKey: "the first" });
  await bot.restart();
  const second = await bot.engine.steps.createIdentity({});
  assertEquals(second, first);
  const { masterKey, selfSigningKey, userSigningKey } = second;
  const master = readCrossSigningKey(vodozemac, masterKey, { userId: ME, usage: "master" });
  assertEquals((await bot.engine.steps.ownIdentity()).keys?.master, master);
  for (const [key, usage] of [[selfSigningKey, "self_signing"], [userSigningKey, "user_signing"]] as const) {
    assert(readCrossSigningKey(vodozemac, key, { userId: ME, usage, signedBy: master }) !== undefined, usage);
  }
  const { keyId, publicKey } = deviceOf(bot);
  const byDevice = { userId: ME, keyId, publicKey };
  assert(verifySignedJson(vodozemac, masterKey as unknown as JsonObject, byDevice));

  assertEquals((await bot.engine.steps.confirmIdentity()).outcome, "absent");
  scene.publish(second);
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  assertEquals((await bot.engine.steps.confirmIdentity()).outcome, "adopted");
  const { shown, keys } = await bot.engine.steps.ownIdentity();
  assertEquals([shown?.isVerified, keys?.phase], [true, "published"]);
  const third = await bot.engine.steps.createIdentity({});
  assertNotEquals(third.masterKey, first.masterKey);
  assertEquals(third.recoveryKey, undefined, "what was handed out is forgotten");
});

Deno.test("C16: a new identity can be one whose private keys were stored before", async () => {
  const { bot, other } = await ownScene({ bare: true });
  await bot.engine.steps.createIdentity({ recoveryKey: "kept" });
  const { seeds, recoveryKey } = await bot.engine.steps.createIdentity({ seeds: other.seeds });
  assertEquals([seeds, recoveryKey], [other.seeds, "kept"]);
});

Deno.test("a device that waits for its identity is signed in its first upload", async () => {
  const scene = await ownScene({ bare: true, policy: { awaitIdentity: true } });
  const { bot, server } = scene;
  const isThere = () => server.keys.get(ME)?.has("MINE") === true;
  assert(!isThere());
  await bot.engine.steps.createIdentity({});
  await bot.flush();
  assert(!isThere(), "before it is released");
  await bot.engine.steps.releaseUpload();
  await bot.flush();
  const { keys } = await bot.engine.steps.ownIdentity();
  const { [`ed25519:${keys?.selfSigning}`]: signature } = server.keys.get(ME)?.get("MINE")?.signatures[ME] ??
    {};
  assert(signature !== undefined);
  const uploads = scene.requests.filter((kind) => kind === "keysUpload" || kind === "signaturesUpload");
  assertEquals(uploads, ["keysUpload"]);
});

Deno.test("a device that was published before does not wait, and neither do its one-time keys", async () => {
  const { bot, server } = await ownScene({ policy: { awaitIdentity: true }, release: true });
  await bot.restart();
  await bot.sync({ oneTimeKeyCounts: { signed_curve25519: 0 } });
  assert(server.oneTimeKeys(bot) > 50);
});

Deno.test("private keys without the master key prove nothing: they are kept if the identity was accepted, and only then", async () => {
  const { bot, identity } = await ownScene();
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  const { selfSigning, userSigning, master } = identity.seeds;
  const offer = async () =>
    (await bot.engine.steps.offerIdentity({
      selfSigning: selfSigning.slice(),
      userSigning: userSigning.slice(),
    })).outcome;
  assertEquals(await offer(), "unproven");
  const before = await bot.engine.steps.ownIdentity();
  assertEquals([before.keys, before.shown?.pinned, before.shown?.isVerified], [undefined, undefined, false]);

  await bot.engine.steps.acknowledgeIdentity({ userId: ME, master: identity.master?.publicKey ?? "" });
  assertEquals(await offer(), "adopted");
  const after = await bot.engine.steps.ownIdentity();
  assertEquals([after.keys?.missing, after.shown?.isVerified], [["master"], false]);

  assertEquals((await bot.engine.steps.offerIdentity({ master })).outcome, "adopted");
  const proven = await bot.engine.steps.ownIdentity();
  assertEquals([proven.keys?.missing, proven.shown?.isVerified], [undefined, true]);
});

Deno.test("a device that another has signed goes by that signature where the server shows it, without private keys", async () => {
  const { bot, server, identity } = await ownScene({ release: true });
  const keyId = `ed25519:${identity.selfSigning?.publicKey}`;
  const sent = () => bot.engine.identity().deviceKeys.signatures[ME]?.[keyId];
  const own = server.keys.get(ME)?.get("MINE") as DeviceKeys;
  const show = async (keys: JsonObject) => {
    server.show(bot, keys as unknown as DeviceKeys);
    await bot.sync();
  };
  assertEquals(sent(), undefined);
  await show(sign({ ...own }, { userId: ME, keyId, key: signingKey() }));
  assertEquals(sent(), undefined, "not that of the key by whose name it goes");
  const { selfSigning: key = signingKey() } = identity;
  const signed = sign({ ...own }, { userId: ME, keyId, key });
  await show(signed);
  const { signatures } = signed as unknown as DeviceKeys;
  assert(sent() !== undefined);
  assertEquals(bot.engine.identity().deviceKeys.signatures, signatures);
  await bot.restart();
  assertEquals(bot.engine.identity().deviceKeys.signatures, signatures);
  await show({ ...own });
  assert(sent() !== undefined, "what it has it keeps");
});

Deno.test("a signature on the keys of another device of that name is not taken for one on the own keys", async () => {
  const { bot, server, identity } = await ownScene({ release: true });
  const { selfSigning: key = signingKey() } = identity;
  const keyId = `ed25519:${key.publicKey}`;
  const { deviceKeys } = new RawDevice(server, ME, "MINE");
  const shown = sign({ ...deviceKeys }, { userId: ME, keyId, key });
  server.show(bot, shown as unknown as DeviceKeys);
  await bot.sync();
  assertEquals(Object.keys(bot.engine.identity().deviceKeys.signatures[ME] ?? {}), ["ed25519:MINE"]);
});

Deno.test("a device with private keys goes by the signature of these, though the server shows that of the identity before", async () => {
  const { bot, server, identity } = await ownScene({ release: true });
  identity.unsigned.clear();
  await bot.engine.steps.createIdentity({ replaces: true });
  const signers = () => Object.keys(bot.engine.identity().deviceKeys.signatures[ME] ?? {});
  const before = signers();
  assertEquals(before.length, 2);
  server.show(bot);
  await bot.sync();
  assertEquals(signers(), before);
});

Deno.test("a device with the master key alone goes by the signature that another has made", async () => {
  const { bot, server, identity } = await ownScene({ release: true });
  await bot.engine.steps.askForIdentity();
  await bot.flush();
  const { master } = identity.seeds;
  assertEquals((await bot.engine.steps.offerIdentity({ master })).outcome, "adopted");
  const { selfSigning: key = signingKey() } = identity;
  const keyId = `ed25519:${key.publicKey}`;
  const own = server.keys.get(ME)?.get("MINE") as DeviceKeys;
  server.show(bot, sign({ ...own }, { userId: ME, keyId, key }) as unknown as DeviceKeys);
  await bot.sync();
  assert(bot.engine.identity().deviceKeys.signatures[ME]?.[keyId] !== undefined);
});

Deno.test("T56: a signature is taken only if it is one on the own keys, whatever keys the server shows with it", async () => {
  const [own, other] = [1, 2].map(() => new RawDevice(new EngineServer(), ME, "MINE").deviceKeys);
  const key = signingKey();
  const taken: unknown[] = [];
  const account = { deviceKeys: own, crossSign: (_tx: unknown, by: unknown) => void taken.push(by) };
  const changeIdentity = (_tx: unknown, _userId: unknown, change: (shown: StoredIdentity) => unknown) => {
    change({ master: "", selfSigning: key.publicKey });
    return Promise.resolve();
  };
  const identity = new OwnIdentity({
    context: testContext({ userId: ME, deviceId: "MINE" }),
    account: account as unknown as OwnAccount,
    devices: { changeIdentity } as unknown as DeviceLists,
  });
  for (const [keys, count] of [[other, 0], [own, 1]] as const) {
    const shown = sign({ ...keys }, { userId: ME, keyId: `ed25519:${key.publicKey}`, key });
    await step(memoryVault(), (tx) => identity.see(tx, shown));
    assert(identity.isSeenSigned);
    assertEquals(taken.length, count);
  }
});
