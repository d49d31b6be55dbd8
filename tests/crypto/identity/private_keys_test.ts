/** Which private keys are at hand, what they prove, and what is done without those that are missing. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { recordingLogger } from "../../actors/kernel/support.ts";
import type { CryptoPolicy } from "../../../src/crypto/context/context.ts";
import { OwnIdentity, SEED_NAMES } from "../../../src/crypto/identity/identity.ts";
import type { StoredIdentity } from "../../../src/crypto/devices/mod.ts";
import type { Transaction } from "../../../src/crypto/records/mod.ts";
import { FakeUser } from "../support/fake_user.ts";
import { memoryVault, step } from "../support/vault.ts";
import { deviceOf, ME, type OwnScene, ownScene, shownSignature } from "./own_scene.ts";
import { ALICE, masterOf, signingScene, trustOf } from "./signing_scene.ts";

/** Has the server asked what it shows of the own identity. */
async function ask({ bot }: Pick<OwnScene, "bot">): Promise<void> {
  await bot.engine.steps.askForIdentity();
  await bot.flush();
}

/** Accepts the identity that the server shows, as who has compared its master key does. */
async function accept(scene: OwnScene): Promise<void> {
  await ask(scene);
  await scene.bot.engine.steps.acknowledgeIdentity({ userId: ME, master: masterOf(scene.identity) });
}

Deno.test("no private key at all proves nothing, also of an identity that was accepted", async () => {
  const scene = await ownScene();
  await accept(scene);
  assertEquals((await scene.bot.engine.steps.offerIdentity({})).outcome, "unproven");
  assertEquals((await scene.bot.engine.steps.ownIdentity()).keys, undefined);
});

Deno.test("private keys are compared one by one with what the server shows, and nothing comes of it", async () => {
  const bare = await ownScene({ bare: true });
  assertEquals(await bare.bot.engine.steps.compareIdentity(bare.identity.seeds), undefined);
  const scene = await ownScene();
  await ask(scene);
  const { steps } = scene.bot.engine;
  const { master } = scene.identity.seeds;
  const { selfSigning } = scene.other.seeds;
  assertEquals(await steps.compareIdentity({ master, selfSigning }), {
    master: "fits",
    selfSigning: "differs",
    userSigning: "absent",
  });
  const { keys, shown } = await steps.ownIdentity();
  assertEquals([keys, shown?.isVerified], [undefined, false]);
});

Deno.test("who gives up a new identity has the one before it again, with its private keys, or none", async () => {
  const bare = await ownScene({ bare: true });
  await bare.bot.engine.steps.createIdentity({});
  await bare.bot.engine.steps.abandonIdentity();
  assertEquals((await bare.bot.engine.steps.ownIdentity()).keys, undefined);
  assertEquals((await bare.bot.engine.steps.confirmIdentity()).outcome, "absent");

  const scene = await signingScene();
  const { steps } = scene.bot.engine;
  const { keys } = await steps.ownIdentity();
  await steps.abandonIdentity(); // there is none to give up
  assertEquals((await steps.ownIdentity()).keys, keys);
  await steps.createIdentity({ replaces: true });
  assert((await steps.ownIdentity()).keys?.replaces);
  await steps.abandonIdentity();
  assertEquals((await steps.ownIdentity()).keys, keys);
  const signed = await steps.signIdentity({ userId: ALICE, master: masterOf(scene.alice) });
  assertEquals(signed.outcome, "signed", "with the private key from before");
});

Deno.test("C16: a new identity stays as it was made, whatever the server shows before it is published", async () => {
  const { bot, identity, other, server } = await ownScene();
  await ask({ bot });
  const { masterKey } = await bot.engine.steps.createIdentity({ replaces: true });
  identity.master = other.master;
  server.show({ userId: ME, deviceId: "PHONE" });
  await bot.sync();
  await ask({ bot });
  const { keys, shown } = await bot.engine.steps.ownIdentity();
  assertEquals([keys?.phase, shown?.master], ["created", masterOf(identity)]);
  assertEquals((await bot.engine.steps.createIdentity({})).masterKey, masterKey);
});

Deno.test("C16: a new identity signs neither users nor devices before it is published", async () => {
  const scene = await signingScene();
  const { steps } = scene.bot.engine;
  const [phone] = await scene.bot.engine.devicesOf([ME]);
  assert(phone !== undefined);
  await steps.createIdentity({ replaces: true });
  const user = await steps.signIdentity({ userId: ALICE, master: masterOf(scene.alice) });
  assertEquals([user.outcome, (await steps.signDevice(phone)).outcome], ["no-key", "no-key"]);
  await scene.bot.flush();
  assertEquals(scene.uploads, []);
  assertEquals(await trustOf(scene, ALICE), { PHONE: "cross-signed" });
});

for (const name of ["selfSigning", "userSigning"] as const) {
  Deno.test(`with ${name} as the only private key nothing is signed that takes another`, async () => {
    const scene = await signingScene({ bare: true });
    scene.server.identities.set(ME, scene.identity);
    scene.server.show({ userId: ME, deviceId: "PHONE" });
    await accept(scene);
    const { steps } = scene.bot.engine;
    const { [name]: seed } = scene.identity.seeds;
    assertEquals((await steps.offerIdentity({ [name]: seed })).outcome, "adopted");
    const missing = ["master", "selfSigning", "userSigning"].filter((other) => other !== name);
    assertEquals((await steps.ownIdentity()).keys?.missing, missing as never);
    const [phone] = await scene.bot.engine.devicesOf([ME]);
    assert(phone !== undefined);
    const user = await steps.signIdentity({ userId: ALICE, master: masterOf(scene.alice) });
    const device = await steps.signDevice(phone);
    const isSelfSigning = name === "selfSigning";
    assertEquals([user.outcome, device.outcome], isSelfSigning ? ["no-key", "signed"] : ["signed", "no-key"]);
    await scene.bot.flush();
    const signed = scene.uploads.flatMap((upload) => Object.keys(upload));
    assertEquals([...new Set(signed)], isSelfSigning ? [ME] : [ALICE]);
  });
}

Deno.test("without the self-signing key no signature of the own device is uploaded, whatever the server shows", async () => {
  const scene = await ownScene();
  scene.identity.unsigned.delete("MINE"); // another device has signed it
  await accept(scene);
  const { userSigning } = scene.identity.seeds;
  assertEquals((await scene.bot.engine.steps.offerIdentity({ userSigning })).outcome, "adopted");
  await scene.bot.sync();
  await ask(scene);
  assertFalse(scene.requests.includes("signaturesUpload"));
});

Deno.test("the own device counts as signed once the server shows a signature of the identity, and not before", async () => {
  const scene = await ownScene();
  const { steps } = scene.bot.engine;
  await ask(scene);
  assertFalse((await steps.health()).isSigned);
  assertEquals((await steps.offerIdentity(scene.identity.seeds)).outcome, "adopted");
  await scene.bot.flush();
  await ask(scene);
  assert(shownSignature(scene) !== undefined);
  assert((await steps.health()).isSigned);
});

Deno.test("an own identity that nobody has accepted is reported once syncs show it, where it keeps devices from reading", async () => {
  const warnings = async (policy: Partial<CryptoPolicy>, act?: (scene: OwnScene) => Promise<unknown>) => {
    const log = recordingLogger();
    const scene = await ownScene({ policy, log });
    await act?.(scene);
    log.lines.splice(0);
    scene.identity.unsigned.add("PHONE");
    scene.server.show({ userId: ME, deviceId: "PHONE" }); // something of the own user has changed
    await scene.bot.sync();
    return log.lines.filter(([level, message]) => level === "warn" && message.startsWith("Own devices count"))
      .length;
  };
  assertEquals(await warnings({ sendTo: "cross-signed", accept: "cross-signed" }), 1);
  assertEquals(await warnings({ sendTo: "all", accept: "cross-signed" }), 1);
  assertEquals(await warnings({ sendTo: "cross-signed", accept: "all" }), 1);
  assertEquals(await warnings({ sendTo: "all", accept: "all" }), 0);
  assertEquals(await warnings({ accept: "cross-signed" }, accept), 0);
  assertEquals(await warnings({ accept: "cross-signed", awaitIdentity: true }), 0);
  const create = async ({ bot, publish }: OwnScene) => publish(await bot.engine.steps.createIdentity({}));
  assertEquals(await warnings({ accept: "cross-signed" }, create), 0, "its own, which it has just made");
  const other = ({ bot }: OwnScene) => bot.engine.steps.createIdentity({});
  assertEquals(await warnings({ accept: "cross-signed" }, other), 1, "not the one that it has just made");
});

Deno.test("an own identity that nobody has accepted is forgotten when the server does not show it any more", async () => {
  const { bot, server } = await ownScene({ policy: { accept: "cross-signed" } });
  const isShown = async () => (await bot.engine.steps.ownIdentity()).shown !== undefined;
  await ask({ bot });
  assert(await isShown());
  server.identities.delete(ME);
  server.show({ userId: ME, deviceId: "PHONE" });
  await bot.sync();
  assertFalse(await isShown());
  await bot.restart();
  assertFalse(await isShown());
});

/** The private keys, with an identity that the server is made to show. */
async function heldKeys() {
  const [vault, crossSigned] = [memoryVault(), [] as boolean[]];
  let shown: StoredIdentity | undefined;
  const own = { userId: ME, deviceId: "MINE" };
  const held = new OwnIdentity(
    {
      context: { own, vodozemac: await Vodozemac.create(), log: recordingLogger(), policy: {} },
      account: {
        crossSign: (_tx: unknown, key: unknown) => crossSigned.push(key !== undefined),
        sign: (object: object) => object,
      },
      devices: {
        tracked: { isBehind: () => false },
        changeIdentity: (_tx: unknown, _userId: string, change: (before: typeof shown) => typeof shown) =>
          Promise.resolve(shown = change(shown)),
      },
    } as unknown as ConstructorParameters<typeof OwnIdentity>[0],
  );
  const inStep = <Result>(work: (tx: Transaction) => Promise<Result>) => step(vault, work);
  return {
    show({ master, selfSigning, userSigning }: FakeUser) {
      const [of, and, also] = [master, selfSigning, userSigning].map((key) => key?.publicKey);
      shown = { pinned: of, master: of ?? "", selfSigning: and, userSigning: also };
    },
    held,
    inStep,
    names: async () => {
      const seeds = await Promise.all(SEED_NAMES.map((name) => inStep((tx) => held.seedOf(tx, name))));
      return SEED_NAMES.filter((_, index) => seeds[index] !== undefined);
    },
  };
}

Deno.test("private keys are handed on once their identity is published, and not before", async () => {
  const { held, inStep, show, names } = await heldKeys();
  assertEquals(await names(), []);
  await inStep((tx) => held.create(tx, {}));
  assertEquals(await names(), []);
  const user = new FakeUser(ME).crossSign();
  show(user);
  assertEquals(await inStep((tx) => held.offer(tx, user.seeds)), "adopted");
  assertEquals(await names(), SEED_NAMES);
  assertEquals(await inStep((tx) => held.seedOf(tx, "master")), user.seeds.master);
});

Deno.test("private keys add to those at hand of the same identity, never to those of another", async () => {
  const { held, inStep, show, names } = await heldKeys();
  const [first, second] = [new FakeUser(ME).crossSign(), new FakeUser(ME).crossSign()];
  show(first);
  const { master, selfSigning } = first.seeds;
  assertEquals(await inStep((tx) => held.offer(tx, { selfSigning })), "adopted");
  assertEquals(await inStep((tx) => held.offer(tx, { master, selfSigning: undefined })), "adopted");
  assertEquals(await names(), ["master", "selfSigning"], "one that is not given stays");
  show(second);
  assertEquals(await inStep((tx) => held.offer(tx, { master: second.seeds.master })), "adopted");
  assertEquals(await names(), ["master"]);
});

Deno.test("a private key that the master key has replaced since is not kept with the one that counts", async () => {
  for (const isPublished of [true, false]) {
    const { held, inStep, show, names } = await heldKeys();
    const [before, after] = [new FakeUser(ME).crossSign(), new FakeUser(ME).crossSign()];
    show(before);
    if (isPublished) assertEquals(await inStep((tx) => held.offer(tx, before.seeds)), "adopted");
    else await inStep((tx) => held.create(tx, { seeds: before.seeds }));
    before.selfSigning = after.selfSigning;
    show(before);
    const { master } = before.seeds;
    assertEquals(await inStep((tx) => held.offer(tx, { master })), "adopted");
    assertEquals(await names(), ["master", "userSigning"]);
  }
});

Deno.test("a device that is signed has the keys that it has published, and no more", async () => {
  const scene = await signingScene();
  const [phone] = await scene.bot.engine.devicesOf([ME]);
  assert(phone !== undefined);
  await scene.bot.engine.steps.signDevice(phone);
  await scene.bot.flush();
  const object = scene.uploads[0]?.[ME]?.PHONE ?? {};
  assertEquals(Object.keys(object).toSorted(), [
    "algorithms",
    "device_id",
    "keys",
    "signatures",
    "user_id",
  ]);
  assert(deviceOf(scene.bot).publicKey !== phone.ed25519);
});
