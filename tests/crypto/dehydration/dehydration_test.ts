import { assert, assertEquals, assertRejects } from "@std/assert";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { verifySignedJson } from "../../../src/crypto/encoding/encoding.ts";
import { ROOM } from "../engine/homeserver.ts";
import { RawDevice, RawSession } from "../engine/raw_device.ts";
import { ME, ownScene } from "../identity/own_scene.ts";
import { read } from "../engine/bot.ts";
import { FakeUser, sign, signingKey } from "../support/fake_user.ts";
import { ALICE, dehydrationScene } from "./stage.ts";

Deno.test("A dehydrated device is named by its key, signed by itself and by the own identity, and has one-time and fallback keys", async () => {
  const { upload, identity } = await dehydrationScene();
  const { device_id: deviceId, device_keys: keys, one_time_keys = {}, fallback_keys = {} } = upload;
  assertEquals([keys.dehydrated, keys.device_id, keys.user_id], [true, deviceId, ME]);
  assertEquals(keys.keys[`curve25519:${deviceId}`], deviceId);
  const vodozemac = await Vodozemac.create();
  const ed25519 = keys.keys[`ed25519:${deviceId}`] ?? "";
  const selfSigning = identity.selfSigning?.publicKey ?? "";
  const signed = (object: object, keyId: string, publicKey: string) =>
    verifySignedJson(vodozemac, { ...object }, { userId: ME, keyId: `ed25519:${keyId}`, publicKey });
  assert(signed(keys, deviceId, ed25519));
  assert(signed(keys, selfSigning, selfSigning));
  assertEquals(Object.keys(one_time_keys).length, 50);
  const [fallback, ...others] = Object.values(fallback_keys);
  assert(typeof fallback === "object" && fallback.fallback === true && others.length === 0);
  for (const key of [...Object.values(one_time_keys), fallback]) {
    assert(typeof key === "object" && signed(key, deviceId, ed25519));
  }
  assertEquals(upload.device_data.algorithm, "org.matrix.msc3814.v2");
});

Deno.test("Without private keys of the own identity, or without a key to encrypt it with, no device is made", async () => {
  const { bot } = await ownScene({ release: true });
  const { steps } = bot.engine;
  await steps.pickleKeyToStore();
  assertEquals(await steps.createDehydrated(), undefined);

  const other = await ownScene({ release: true });
  await other.bot.engine.steps.askForIdentity();
  await other.bot.flush();
  await other.bot.engine.steps.offerIdentity(other.identity.seeds);
  assertEquals(await other.bot.engine.steps.createDehydrated(), undefined);
});

Deno.test("An identity that is not published yet, or whose self-signing key is elsewhere, signs no device", async () => {
  const bare = await ownScene({ bare: true, release: true });
  const { steps } = bare.bot.engine;
  await steps.pickleKeyToStore();
  await steps.createIdentity({});
  assertEquals(await steps.createDehydrated(), undefined);

  const partial = await ownScene({ release: true });
  const { engine } = partial.bot;
  await engine.steps.askForIdentity();
  await partial.bot.flush();
  const { master } = partial.identity.seeds;
  assertEquals((await engine.steps.offerIdentity({ master })).outcome, "adopted");
  await engine.steps.pickleKeyToStore();
  assertEquals(await engine.steps.createDehydrated(), undefined);
});

Deno.test("The key is the same until it is replaced, and without it nothing is read", async () => {
  const { bot } = await ownScene({ release: true });
  const { steps } = bot.engine;
  const { upload } = await dehydrationScene();
  const hasKey = async () => (await steps.dehydrationState()).hasKey;
  assertEquals([await hasKey(), await steps.beginRehydration(upload)], [false, "unreadable"]);
  const secret = await steps.pickleKeyToStore();
  assertEquals([await hasKey(), await steps.pickleKeyToStore()], [true, secret]);
  const other = new Uint8Array(32).toBase64();
  assert(await steps.keepPickleKey(other));
  assert(!await steps.keepPickleKey(secret.repeat(2)));
  assertEquals(await steps.pickleKeyToStore(), other.replace("=", ""));
});

Deno.test("Only the device that was made last is uploaded", async () => {
  const { bot, upload } = await dehydrationScene();
  const { steps } = bot.engine;
  const made = async () => (await steps.dehydrationState()).made;
  await steps.dehydratedUploaded("OTHER");
  assertEquals([(await made())?.deviceId, (await made())?.isUploaded], [upload.device_id, false]);
  await steps.dehydratedUploaded(upload.device_id);
  assertEquals((await made())?.isUploaded, Boolean(upload));
});

Deno.test("A key that comes twice counts once, and one that is refused not at all", async () => {
  const scene = await dehydrationScene();
  const { alice, roomKey, message, receive } = scene;
  const session = new RawSession();
  await scene.begin();
  const refused = message(alice, "m.room_key", {
    ...session.roomKey("!other:example.org"),
    session_id: "other",
  });
  assertEquals((await receive(roomKey(alice, session), roomKey(alice, session), refused)).reading?.keys, 1);
});

Deno.test("The log says why messages were left out, and nothing of a page that is used", async () => {
  const told: unknown[] = [];
  const debug = (message: string, data?: object) => void (message.startsWith("Left out") && told.push(data));
  const scene = await dehydrationScene({ log: { debug, info() {}, warn() {}, error() {} } });
  const { alice, device, roomKey, receive } = scene;
  await scene.begin();
  await receive(roomKey(alice, new RawSession()));
  assertEquals(told, []);
  const { content, ...event } = roomKey(alice, new RawSession());
  const { curve25519 } = device(ALICE, "OTHER").own;
  await receive({ ...event, content: { ...content, sender_key: curve25519 } }, null);
  assertEquals(told, [{ "it names two different senders": 1, "it is no encrypted message": 1 }]);
});

Deno.test("Room keys are taken from pages, over sessions that a page before has begun, also in the next process", async () => {
  const scene = await dehydrationScene();
  const { alice, bot, roomKey, receive } = scene;
  const sessions = [new RawSession(), new RawSession(), new RawSession()] as const;
  const events = sessions.map((session) => roomKey(alice, session));
  assertEquals(await scene.begin(), "reading");
  assertEquals((await receive(events[0])).reading?.keys, 1);
  await bot.restart();
  assertEquals(await scene.begin(), "reading");
  const { deviceId } = (await bot.engine.steps.dehydrationState()).reading ?? {};
  assert(deviceId !== undefined);
  const next = { from: "d2" };
  const second = await bot.engine.steps.receiveRehydrated({ deviceId, events: [events[1]], next });
  assertEquals(second.reading, { deviceId, isRead: false, messages: 2, keys: 2, from: "d2" });
  assertEquals((await receive()).reading, second.reading, "the rest of a page begins where the page does");
  const end = { from: undefined };
  const third = await bot.engine.steps.receiveRehydrated({ deviceId, events: [events[2]], next: end });
  assertEquals([third.reading?.isRead, third.reading?.keys], [true, 3]);
  for (const session of sessions) assertEquals(await read(scene, session), "hello");
});

Deno.test("A page whose commit fails changes nothing, and is received when it comes again", async () => {
  for (const when of ["before", "after"] as const) {
    const scene = await dehydrationScene();
    const { bot, alice, roomKey } = scene;
    const session = new RawSession();
    const event = roomKey(alice, session);
    await scene.begin();
    bot.failing = { when, commits: 0 };
    const page = { deviceId: scene.upload.device_id, events: [event] };
    await assertRejects(() => bot.engine.steps.receiveRehydrated(page), TypeError);
    await bot.restart();
    const { reading } = await bot.engine.steps.receiveRehydrated({
      deviceId: scene.upload.device_id,
      events: [event],
      next: { from: undefined },
    });
    assert(reading?.isRead);
    assertEquals(await read(scene, session), "hello");
  }
});

Deno.test("While something is left of a device that was read no other one is, and all of it can be cleared", async () => {
  const scene = await dehydrationScene();
  const { bot, alice, roomKey, receive } = scene;
  const { steps } = bot.engine;
  await scene.begin();
  await receive(roomKey(alice, new RawSession()));
  const other = await steps.createDehydrated();
  assert(other !== undefined);
  assertEquals(await steps.beginRehydration(other), "busy");
  assert(await steps.clearRehydration());
  assertEquals((await steps.dehydrationState()).reading, undefined);
  let left = 0;
  for await (const _ of bot.store.list(["crypto", "rehydrated_session"])) left++;
  assertEquals(left, 0);
  assertEquals(await steps.beginRehydration(other), "reading");
});

Deno.test("Messages to another device than the one that is read, or to one that was read, are left out", async () => {
  const scene = await dehydrationScene();
  const { bot, alice, roomKey, upload } = scene;
  const { steps } = bot.engine;
  const session = new RawSession();
  const event = roomKey(alice, session);
  const page = { deviceId: upload.device_id, events: [event], next: { from: undefined } };
  assertEquals((await steps.receiveRehydrated(page)).reading, undefined);
  await scene.begin();
  assertEquals((await steps.receiveRehydrated({ ...page, deviceId: "OTHER" })).reading?.messages, 0);
  await steps.receiveRehydrated({ ...page, events: [] });
  assertEquals((await steps.receiveRehydrated(page)).reading?.messages, 0);
  assertEquals(await read(scene, session), "MISSING_KEY");
});

Deno.test("A device that is gone when its key is read is trusted by its user's signature, which came with the key", async () => {
  const { server, bot, roomKey, begin, receive } = await dehydrationScene();
  const alice = new FakeUser(ALICE).crossSign();
  server.identities.set(ALICE, alice);
  server.member(ALICE, "join");
  await bot.sync();
  await begin();
  const trustIn = async (deviceId: "SIGNED" | "UNSIGNED") => {
    const device = new RawDevice(server, ALICE, deviceId);
    const key = alice.selfSigning ?? signingKey();
    const { deviceKeys } = device;
    const keys = deviceId === "SIGNED"
      ? sign({ ...deviceKeys }, { userId: ALICE, keyId: `ed25519:${key.publicKey}`, key })
      : { ...deviceKeys };
    const session = new RawSession();
    await receive(roomKey(device, session, { sender_device_keys: keys }));
    const event = server.publish(device.own, session.event(ROOM, "hello"), deviceId);
    const decryption = await bot.engine.decrypt(event);
    return "encryption" in decryption ? decryption.encryption.senderTrust : decryption.code;
  };
  assertEquals(await trustIn("SIGNED"), "unverified-identity");
  assertEquals(await trustIn("UNSIGNED"), "unknown-device");
});
