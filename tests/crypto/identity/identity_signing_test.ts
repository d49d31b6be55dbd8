import { assert, assertEquals, assertRejects } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { ValueError } from "@greenroom/matrix";
import { IdentityChangedError } from "@greenroom/matrix/errors";
import { verifySignedJson } from "../../../src/crypto/encoding/encoding.ts";
import type { DeviceKeys, JsonObject } from "@greenroom/matrix/types";
import { FakeUser, signingKey } from "../support/fake_user.ts";
import { deviceOf, ME } from "./own_scene.ts";
import { ALICE, masterOf, signingScene, trustOf } from "./signing_scene.ts";

const vodozemac = await Vodozemac.create();

Deno.test("the identity of a user whose master key was compared is signed, verified at once, and uploaded once", async () => {
  const scene = await signingScene();
  const { bot, alice, identity, uploads } = scene;
  assertEquals(await trustOf(scene, ALICE), { PHONE: "cross-signed" });
  const master = masterOf(alice);
  const { outcome } = await bot.engine.steps.signIdentity({ userId: ALICE, master });
  assertEquals(outcome, "signed");
  assertEquals(await trustOf(scene, ALICE), { PHONE: "verified" });
  assertEquals(await bot.engine.steps.signatureFate({ userId: ALICE, name: master }), { state: "due" });
  await bot.flush();
  const object = uploads[0]?.[ALICE]?.[master] as unknown as JsonObject;
  await bot.sync(); // the server shows it
  assertEquals(object.keys, { [`ed25519:${master}`]: master });
  assertEquals(object.usage, ["master"]);
  const publicKey = identity.userSigning?.publicKey ?? "";
  assert(verifySignedJson(vodozemac, object, { userId: ME, keyId: `ed25519:${publicKey}`, publicKey }));
  assertEquals(await bot.engine.steps.signatureFate({ userId: ALICE, name: master }), {
    state: "uploaded",
  });
  await bot.restart();
  await bot.sync();
  assertEquals(uploads.length, 1);
  assertEquals(await trustOf(scene, ALICE), { PHONE: "verified" });
});

Deno.test("T56: an identity is signed only if it is the one that was compared, and if it is known", async () => {
  const scene = await signingScene();
  const { bot, uploads } = scene;
  const { steps } = bot.engine;
  const master = signingKey().publicKey;
  await assertRejects(() => steps.signIdentity({ userId: ALICE, master }), IdentityChangedError);
  await assertRejects(() => steps.signIdentity({ userId: "@bob:example.org", master }), ValueError);
  await bot.flush();
  assertEquals(uploads, []);
  assertEquals(await trustOf(scene, ALICE), { PHONE: "cross-signed" });
});

Deno.test("to sign the new identity of a user who was verified ends the violation", async () => {
  const scene = await signingScene();
  const { bot, alice, server } = scene;
  await bot.engine.steps.signIdentity({ userId: ALICE, master: masterOf(alice) });
  alice.crossSign();
  server.show({ userId: ALICE, deviceId: "PHONE" });
  await bot.sync();
  assertEquals(await trustOf(scene, ALICE), { PHONE: "violation" });
  await bot.engine.steps.signIdentity({ userId: ALICE, master: masterOf(alice) });
  assertEquals(await trustOf(scene, ALICE), { PHONE: "verified" });
});

Deno.test("without the private keys nobody else is signed, and nothing is changed", async () => {
  const scene = await signingScene({ bare: true });
  const { bot, alice, uploads } = scene;
  const [phone] = await bot.engine.devicesOf([ME]);
  assert(phone !== undefined);
  const { steps } = bot.engine;
  const { outcome } = await steps.signIdentity({ userId: ALICE, master: masterOf(alice) });
  assertEquals([outcome, (await steps.signDevice(phone)).outcome], ["no-key", "no-key"]);
  await bot.flush();
  assertEquals(uploads, []);
  assertEquals(await trustOf(scene, ALICE), { PHONE: "cross-signed" });
});

Deno.test("T56: another own device whose key was compared is signed as it has signed itself, and stays so whatever the server shows", async () => {
  const scene = await signingScene();
  const { bot, identity, uploads, server } = scene;
  identity.unsigned.add("PHONE");
  server.show({ userId: ME, deviceId: "PHONE" });
  await bot.restart(); // nobody has seen it signed
  identity.unsigned.add("TABLET");
  const tablet = identity.deviceKeys(new FakeUser(ME, "TABLET").device("TABLET"), { dehydrated: true });
  server.show({ userId: ME, deviceId: "TABLET" }, tablet as unknown as DeviceKeys); // as it was signed
  await bot.sync();
  assertEquals((await trustOf(scene, ME)).TABLET, "unsigned");
  const device = (await bot.engine.devicesOf([ME])).find(({ deviceId }) => deviceId === "TABLET");
  assert(device !== undefined);
  assertEquals((await bot.engine.steps.signDevice(device)).outcome, "signed");
  assertEquals((await trustOf(scene, ME)).TABLET, "verified");
  scene.onUpload = () => ({ failures: { other: {} } }); // it takes it, and does not show it
  await bot.flush();
  const { signatures, ...keys } = uploads[0]?.[ME]?.TABLET as unknown as JsonObject;
  const { signatures: _, ...published } = tablet;
  assertEquals(keys, published);
  const publicKey = identity.selfSigning?.publicKey ?? "";
  const signer = { userId: ME, keyId: `ed25519:${publicKey}`, publicKey };
  assert(verifySignedJson(vodozemac, { ...keys, signatures }, signer));
  await bot.restart();
  await bot.sync();
  assertEquals((await trustOf(scene, ME)).TABLET, "verified");
});

Deno.test("T56: only other devices of the own user are signed, with the key that was compared", async () => {
  const { bot, uploads } = await signingScene();
  const [phone] = await bot.engine.devicesOf([ME]);
  const [hers] = await bot.engine.devicesOf([ALICE]);
  assert(phone !== undefined && hers !== undefined);
  const signDevice = (device: Parameters<typeof bot.engine.steps.signDevice>[0]) =>
    bot.engine.steps.signDevice(device);
  await assertRejects(() => signDevice(hers), ValueError, "not the own user's");
  await assertRejects(
    () => signDevice({ userId: ME, deviceId: "MINE", ed25519: "" }),
    ValueError,
    "this device",
  );
  await assertRejects(
    () => signDevice({ ...phone, ed25519: signingKey().publicKey }),
    ValueError,
    "other keys",
  );
  await assertRejects(() => signDevice({ ...phone, deviceId: "GHOST" }), ValueError, "no such device");
  await bot.flush();
  assertEquals(uploads, []);
});

Deno.test("the own identity that was compared is signed by this device, and proven", async () => {
  const { bot, identity, uploads } = await signingScene({ bare: true });
  const { server } = bot;
  server.identities.set(ME, identity);
  server.show({ userId: ME, deviceId: "PHONE" });
  await bot.sync();
  const master = masterOf(identity);
  assertEquals((await bot.engine.steps.signIdentity({ userId: ME, master })).outcome, "signed");
  assert((await bot.engine.steps.ownIdentity()).shown?.isVerified);
  await bot.flush();
  const object = uploads[0]?.[ME]?.[master] as unknown as JsonObject;
  assert(verifySignedJson(vodozemac, object, { userId: ME, ...deviceOf(bot) }));
});

Deno.test("a signature that could not be uploaded is uploaded by the next process, the same bytes", async () => {
  const { bot, alice, server, uploads } = await signingScene();
  await bot.engine.steps.signIdentity({ userId: ALICE, master: masterOf(alice) });
  for (const request of await bot.engine.requests()) {
    if (request.kind !== "signaturesUpload") await bot.carry(request);
    else {
      uploads.push(structuredClone(request.signatures));
      await bot.engine.fail({ id: request.id, failure: { status: 502, errcode: undefined, message: "" } });
    }
  }
  assert(!(await bot.engine.requests()).some(({ kind }) => kind === "signaturesUpload"));
  await server.clock.tick(5_000);
  await bot.restart();
  assertEquals(uploads.length, 2);
  assertEquals(uploads[1], uploads[0]);
});

Deno.test("a signature that the server refuses is told, and not uploaded again before it is made again", async () => {
  const scene = await signingScene();
  const { bot, alice, uploads, server } = scene;
  const name = masterOf(alice);
  const failure = { errcode: "M_UNKNOWN", error: "Key does not match" };
  scene.onUpload = () => ({ failures: { [ALICE]: { [name]: failure } } });
  await bot.engine.steps.signIdentity({ userId: ALICE, master: name });
  await bot.flush();
  const fate = await bot.engine.steps.signatureFate({ userId: ALICE, name });
  assertEquals(fate, { state: "refused", reason: JSON.stringify(failure) });
  await server.clock.tick(86_400_000);
  await bot.restart();
  assertEquals(uploads.length, 1);
  scene.onUpload = () => ({ failures: {} });
  await bot.engine.steps.signIdentity({ userId: ALICE, master: name });
  await bot.flush();
  assertEquals(uploads.length, 2);
});

Deno.test("C17: what is signed anew while its upload is under way is uploaded anew, whatever comes of the first", async () => {
  for (const failures of [{}, { [ME]: { PHONE: { errcode: "M_INVALID_SIGNATURE" } } }]) {
    const scene = await signingScene();
    const { bot, other, server, uploads } = scene;
    const { steps } = bot.engine;
    const [phone] = await bot.engine.devicesOf([ME]);
    assert(phone?.deviceId === "PHONE");
    await steps.signDevice(phone);
    const [underway] = await bot.engine.requests();
    assert(underway?.kind === "signaturesUpload");
    server.identities.set(ME, other);
    other.unsigned.add("PHONE");
    server.show({ userId: ME, deviceId: "PHONE" });
    await bot.sync();
    await steps.askForIdentity();
    await bot.flush();
    await steps.acknowledgeIdentity({ userId: ME, master: masterOf(other) });
    assertEquals((await steps.offerIdentity(other.seeds)).outcome, "adopted");
    await steps.signDevice(phone);
    scene.onUpload = () => ({ failures });
    await bot.carry(underway);
    assertEquals(await steps.signatureFate({ userId: ME, name: "PHONE" }), { state: "due" });
    scene.onUpload = () => ({ failures: {} });
    await bot.restart();
    const { signatures } = uploads.at(-1)?.[ME]?.PHONE as unknown as DeviceKeys;
    assertEquals(Object.keys(signatures[ME] ?? {}), [`ed25519:${other.selfSigning?.publicKey}`]);
  }
});

Deno.test("T163: a signature that the server does not show waits, and goes when what was signed is gone", async () => {
  const scene = await signingScene();
  const { bot, alice, server, uploads } = scene;
  const name = masterOf(alice);
  const fate = async () => (await bot.engine.steps.signatureFate({ userId: ALICE, name })).state;
  scene.onUpload = () => ({ failures: { "@carol:example.org": {} } }); // which takes nothing
  await bot.engine.steps.signIdentity({ userId: ALICE, master: name });
  for (let round = 0; round < 3; round++) await bot.flush();
  assertEquals([await fate(), uploads.length], ["due", 1]);
  await server.clock.tick(10_000);
  await bot.flush();
  assertEquals([await fate(), uploads.length], ["due", 2]);
  alice.crossSign();
  await bot.sync({ deviceLists: { changed: [ALICE], left: [] } });
  await bot.flush();
  assertEquals([await fate(), uploads.length], ["uploaded", 2], "nothing is left to sign");
});
