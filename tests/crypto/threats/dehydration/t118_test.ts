/** Messages to a dehydrated device that are no room keys, or not what they seem. */

import { assertEquals, assertThrows } from "@std/assert";
import { Vodozemac, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { JsonObject, ToDeviceEvent, UserID } from "@greenroom/matrix/types";
import { ROOM } from "../../engine/homeserver.ts";
import { RawDevice, RawSession } from "../../engine/raw_device.ts";
import { ME } from "../../identity/own_scene.ts";
import { read } from "../../engine/bot.ts";
import { ALICE, dehydrationScene } from "../../dehydration/stage.ts";

const MALLORY: UserID = "@mallory:example.org";

Deno.test("T118: of what was sent to a dehydrated device only room keys are used: no secrets, forwarded keys or bundles", async () => {
  const scene = await dehydrationScene();
  const { alice, device, message, receive, bot } = scene;
  await scene.begin();
  const session = new RawSession();
  const phone = device(ME, "TABLET");
  const forwarded = session.exported(ROOM, alice.own);
  const { reading } = await receive(
    message(alice, "m.forwarded_room_key", forwarded),
    message(phone, "m.forwarded_room_key", forwarded),
    message(phone, "m.secret.send", { request_id: "r1", secret: "c2VjcmV0" }),
    message(phone, "m.room_key_bundle", { room_id: ROOM, file: {} }),
    message(phone, "io.element.msc4268.room_key_bundle", { room_id: ROOM, file: {} }),
    message(phone, "m.dummy", {}),
    message(alice, "m.room.encrypted", session.roomKey(ROOM)),
    message(alice, "m.dummy", session.roomKey(ROOM)),
    message(alice, "com.example.room_key", session.roomKey(ROOM)),
    { ...message(alice, "m.room_key", session.roomKey(ROOM)), type: "com.example.encrypted" },
    { type: "m.room_key", sender: ALICE, content: session.roomKey(ROOM) },
    { type: "m.room_key.withheld", sender: ALICE, content: session.roomKey(ROOM) },
  );
  assertEquals([reading?.messages, reading?.keys], [12, 0]);
  assertEquals(await read(scene, session), "MISSING_KEY");
  await bot.flush();
});

Deno.test("T118: a room key that another user has sent, that is for another device, or that was sent again, is not used", async () => {
  const scene = await dehydrationScene();
  const { alice, device, roomKey, receive, bot, server } = scene;
  await scene.begin();
  server.member(ALICE, "join");
  await bot.sync(); // her device is known
  const mallory = device(MALLORY, "EVIL");
  const stolen = new RawSession();
  const forBot = new RawSession();
  const good = new RawSession();
  const key = roomKey(alice, good);
  const identity = bot.engine.identity();
  const impostor = new RawDevice(server, ALICE, "PHONE"); // whose keys are known, and others
  const outer = { ...roomKey(mallory, stolen), sender: ALICE };
  const { reading } = await receive(
    outer,
    roomKey(impostor, stolen),
    roomKey(mallory, stolen, { sender: ALICE }),
    roomKey(mallory, stolen, { recipient: ALICE }),
    roomKey(mallory, stolen, { keys: { ed25519: alice.own.ed25519 } }),
    roomKey(alice, forBot, { recipient_keys: { ed25519: identity.ed25519 } }),
    bot.engine.identity().deviceKeys,
    alice.message(bot, "m.room_key", forBot.roomKey(ROOM)),
    key,
    key,
  );
  assertEquals(reading?.keys, 1);
  assertEquals((await receive(key)).reading?.keys, 1, "in the next page either");
  assertEquals(await read(scene, good), "hello");
  assertEquals([await read(scene, stolen), await read(scene, forBot)], ["MISSING_KEY", "MISSING_KEY"]);
});

Deno.test("T118: what is no message at all does no harm", async () => {
  const scene = await dehydrationScene();
  const { alice, roomKey, receive } = scene;
  await scene.begin();
  const session = new RawSession();
  const good = roomKey(alice, session);
  const content = good.content as { ciphertext: Record<string, { type: number; body: string }> };
  const [[to, part] = ["", { type: 0, body: "" }]] = Object.entries(content.ciphertext);
  const changed = (change: object) => ({ ...good, content: { ...good.content, ...change } });
  const body = (text: unknown) => changed({ ciphertext: { [to]: { ...part, body: text } } });
  const junk: unknown[] = [
    null,
    17,
    "text",
    [],
    {},
    { type: "m.room.encrypted" },
    { ...good, sender: 17 },
    { ...good, sender: "alice" },
    { ...good, content: null },
    changed({ sender_key: to }),
    changed({ sender_key: "AAAA" }),
    changed({ ciphertext: JSON.parse('{"__proto__": {}}') }),
    changed({ ciphertext: { [to]: { ...part, type: 1 } } }),
    changed({ ciphertext: { [to]: { ...part, type: 2 } } }),
    body(""),
    body("AAAA"),
    body("A".repeat(200_000)),
    body(`${part.body.slice(0, -8)}AAAAAAAA`),
    body({}),
  ];
  assertEquals((await receive(...junk)).reading?.keys, 0);
  assertEquals((await receive(good, ...junk)).reading?.keys, 1);
  assertEquals(await read(scene, session), "hello");
});

Deno.test("T118: a message that a server shows with the key of another device is not taken, in whatever session", async () => {
  const scene = await dehydrationScene();
  const { alice, server, roomKey, receive } = scene;
  await scene.begin();
  const [first, second] = [new RawSession(), new RawSession()];
  const other = new RawDevice(server, ALICE, "TABLET").own.curve25519;
  // Without the keys of its device only the Olm session says whose it is.
  const messages = [first, second].map((each) => roomKey(alice, each, { sender_device_keys: undefined }));
  const keysOf = async (event: ToDeviceEvent | undefined) => (await receive(event)).reading?.keys;
  for (const [at, event] of messages.entries()) {
    const moved = { ...event, content: { ...event.content, sender_key: other } };
    assertEquals([await keysOf(moved), await keysOf(event)], [at, at + 1]);
  }
});

Deno.test("T118: the store alone does not open a message again that was read, whoever gets hold of it", async () => {
  const scene = await dehydrationScene();
  const { alice, bot, roomKey, receive, upload: { device_id: to } } = scene;
  await scene.begin();
  const events = [new RawSession(), new RawSession()].map((session) => roomKey(alice, session));
  for (const event of events) {
    assertEquals((await receive(event)).reading?.messages, events.indexOf(event) + 1);
  }
  const { olm } = await Vodozemac.create();
  const stored = async (kind: string): Promise<JsonObject> => {
    const records = await Array.fromAsync(bot.store.list(["crypto"]));
    return Object(records.find(({ key }) => key[1] === kind)?.value);
  };
  const { account } = Object((await stored("dehydration")).reading);
  const { state } = await stored("rehydrated_session");
  for (const { content } of events) {
    const message = Object(content.ciphertext)[to];
    const { code } = assertThrows(
      () => olm.restoreAccount(account).createInboundSession(alice.own.curve25519, message),
      VodozemacError,
    );
    assertEquals(code, "unknown_one_time_key");
    const session = olm.restoreSession(state as unknown as Uint8Array);
    assertEquals(assertThrows(() => session.decrypt(message), VodozemacError).code, "missing_message_key");
  }
});
