import { assert, assertEquals } from "@std/assert";
import { TestClock } from "@greenroom/matrix/testing";
import type { JsonObject } from "@greenroom/matrix/types";
import { Asker, forwarded } from "./asker.ts";
import { ALICE, knownSender, ME, MEGOLM, newDevice, read, ROOM, Sender, told } from "../megolm/support.ts";
import { encryptionOf } from "../../../src/types/events/encryption_info.ts";

const stranger = (asker: Asker) => new Sender(asker, newDevice(asker, ALICE));

Deno.test("S60: a missing key is requested from the own verified devices, accepted from one, and cancelled for the others", async () => {
  const asker = new Asker();
  const [phone] = [asker.ownDevice("PHONE"), asker.ownDevice("LAPTOP")];
  asker.ownDevice("STOLEN", "cross-signed");
  assert(phone);
  const sender = stranger(asker);
  const event = sender.say("hello");
  await asker.want(event);

  const asked = await asker.sent();
  const request_id = asked[0]?.[2].request_id;
  const request = {
    action: "request",
    requesting_device_id: asker.context.own.deviceId,
    request_id,
    body: {
      algorithm: MEGOLM,
      room_id: ROOM,
      session_id: sender.sessionId,
      sender_key: sender.device.curve25519,
    },
  };
  assertEquals(asked, [["m.room_key_request", "PHONE", request], ["m.room_key_request", "LAPTOP", request]]);

  await asker.reopen();
  const ref = await asker.forward(phone, forwarded(asker, sender));
  assertEquals(ref, { roomId: ROOM, sessionId: sender.sessionId });
  const message = read(await asker.one(event));
  assertEquals(message.content.body, "hello");
  assertEquals(encryptionOf(message)?.keySource, "forwarded");
  assertEquals(encryptionOf(message)?.senderTrust, "unknown-device");
  const cancelled = await asker.sent();
  assertEquals(cancelled.map(([type, device]) => [type, device]), [["m.room_key_request", "PHONE"], [
    "m.room_key_request",
    "LAPTOP",
  ]]);
  const { body: _body, ...rest } = request;
  assertEquals(cancelled[0]?.[2], { ...rest, action: "request_cancellation" });
});

Deno.test("a key is asked for once, across restarts, until it has come", async () => {
  const asker = new Asker();
  asker.ownDevice("PHONE");
  const sender = stranger(asker);
  await asker.want(sender.say("one"));
  await asker.want(sender.say("two"));
  assertEquals((await asker.sent()).length, 1);
  await asker.reopen();
  await asker.want(sender.say("three"));
  assertEquals(await asker.sent(), []);
  const ref = { roomId: ROOM, sessionId: sender.sessionId };
  await asker.step((tx) => asker.requests.received(tx, { session: ref, firstIndex: 0 }));
  assertEquals((await asker.sent()).map(([, , { action }]) => action), ["request_cancellation"]);
  await asker.step((tx) => asker.requests.received(tx, { session: ref, firstIndex: 0 }));
  assertEquals(await asker.sent(), []);
  await asker.reopen();
  await asker.want(sender.say("from before the key"));
  assertEquals((await asker.sent()).map(([, , { action }]) => action), ["request"]);
});

Deno.test("no request is sent without an own verified device, and one that comes later gets it", async () => {
  const asker = new Asker();
  const sender = stranger(asker);
  await asker.want(sender.say("one"));
  asker.ownDevice("BLOCKED", "blacklisted");
  await asker.want(sender.say("two"));
  assertEquals(await asker.sent(), []);
  asker.ownDevice("PHONE");
  await asker.want(sender.say("three"));
  assertEquals((await asker.sent()).map(([, device]) => device), ["PHONE"]);
});

Deno.test("no request is sent for an invalid session ID, and an invalid sender key is left out", async () => {
  const asker = new Asker();
  asker.ownDevice("PHONE");
  const event = stranger(asker).say("x");
  const want = (change: JsonObject) => asker.want({ ...event, content: { ...event.content, ...change } });
  for (const session_id of [undefined, 5, {}]) await want({ session_id });
  assertEquals(await asker.sent(), []);
  for (const [number, sender_key] of [undefined, 5, {}].entries()) {
    await want({ session_id: `${number}`, sender_key });
  }
  const bodies = (await asker.sent()).map(([, , { body }]) => Object.keys(body as JsonObject));
  assertEquals(bodies, Array.from({ length: 3 }, () => ["algorithm", "room_id", "session_id"]));
});

Deno.test("a flood of sessions in one room does not keep another from asking", async () => {
  const clock = new TestClock();
  const asker = new Asker({ clock });
  asker.ownDevice("PHONE");
  const event = stranger(asker).say("x");
  for (let number = 0; number < 100; number++) {
    await asker.want({ ...event, content: { ...event.content, session_id: `session${number}` } });
  }
  assertEquals((await asker.sent()).length, 50);
  await asker.want({ ...event, room_id: "!other:example.org" });
  assertEquals((await asker.sent()).length, 1);
  await clock.tick(10 * 60 * 1_000);
  await asker.want(event);
  assertEquals((await asker.sent()).length, 1);
});

Deno.test("a forwarded key that is broken is ignored, and the right one still awaited", async () => {
  const asker = new Asker();
  const phone = asker.ownDevice("PHONE");
  const [sender, other] = [stranger(asker), stranger(asker)];
  await asker.want(sender.say("hello"));
  const good = forwarded(asker, sender);
  const changes = [
    { session_key: forwarded(asker, other).session_key },
    { session_key: undefined },
    { session_key: 5 },
    { session_key: sender.roomKey.session_key }, // signed, as room keys are
    { algorithm: "m.olm.v1.curve25519-aes-sha2" },
    { sender_key: "" },
    { sender_key: undefined },
    { sender_key: 5 },
    { room_id: {} },
    { session_id: {} },
  ];
  for (const change of changes) assertEquals(await asker.forward(phone, { ...good, ...change }), undefined);
  assert(await asker.forward(phone, good));
});

Deno.test("a forwarded key keeps the key that its session is claimed for, if it is one", async () => {
  for (const odd of [undefined, 5, {}, "x"]) {
    const asker = new Asker();
    const phone = asker.ownDevice("PHONE");
    const sender = stranger(asker);
    await asker.want(sender.say("hello"));
    const good = forwarded(asker, sender);
    const claimed = odd === undefined ? good : { ...good, sender_claimed_ed25519_key: odd };
    const ref = await asker.forward(phone, claimed);
    assert(ref);
    const exported = await asker.step((tx) => asker.inbound.exportSession(tx, ref));
    assertEquals(exported?.senderEd25519, odd === undefined ? sender.device.ed25519 : "");
  }
});

Deno.test("no request is answered unless the policy allows it", async () => {
  const asker = new Asker();
  const phone = asker.ownDevice("PHONE");
  await asker.ask(phone, await knownSender(asker));
  assertEquals(await asker.sent(), []);
});

Deno.test("an own verified device gets the session from the first index that is known", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  const phone = asker.ownDevice("PHONE");
  const sender = await knownSender(asker);
  const event = sender.say("hello");
  await asker.ask(phone, sender);
  const [[type, device, encrypted] = []] = await asker.sent();
  assertEquals([type, device, encrypted?.type], ["m.room.encrypted", "PHONE", "m.forwarded_room_key"]);
  assertEquals(encrypted?.content, forwarded(asker, sender));
  // And the other side can read with it.
  const other = new Asker();
  const bot = other.ownDevice("BOT");
  await other.want(event);
  await other.forward(bot, encrypted?.content as JsonObject);
  assertEquals(told(await other.one(event)), "hello");
});

Deno.test("a device that had the key gets it from where it had it, others get nothing", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  const sender = await knownSender(asker);
  const events = [sender.say("0"), sender.say("1"), sender.say("2")];
  const bob = asker.devices.put(newDevice(asker, "@bob:example.org", { trust: "verified" }));
  await asker.ask(bob, sender);
  assertEquals(await asker.sent(), []);
  asker.shared.set(bob.curve25519, 1);
  await asker.ask(bob, sender);
  const [[, device, encrypted] = []] = await asker.sent();
  assertEquals(device, bob.deviceId);
  const other = new Asker();
  const content = encrypted?.content as JsonObject;
  await other.step((tx) =>
    other.inbound.import(tx, {
      roomId: ROOM,
      sessionId: sender.sessionId,
      sessionKey: String(content.session_key),
      senderKey: String(content.sender_key),
      senderEd25519: "",
      source: "forwarded",
    })
  );
  assertEquals((await other.decrypt(...events)).map(told), ["KEY_TOO_NEW", "1", "2"]);
});

Deno.test("own devices get a reason when they get no key, other users' do not", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  const [unknown, known] = [stranger(asker), await knownSender(asker)];
  const bob = asker.devices.put(newDevice(asker, "@bob:example.org"));
  await asker.ask(asker.ownDevice("UNSIGNED", "unsigned"), known);
  await asker.ask(asker.ownDevice("PHONE"), unknown);
  await asker.ask(bob, known);
  asker.shared.set(bob.curve25519, 0);
  await asker.ask(bob, unknown);
  const sent = await asker.sent();
  assertEquals(sent.map(([type, device, { code, session_id }]) => [type, device, code, session_id]), [
    ["m.room_key.withheld", "UNSIGNED", "m.unauthorised", known.sessionId],
    ["m.room_key.withheld", "PHONE", "m.unavailable", unknown.sessionId],
  ]);
});

Deno.test("blocked and dehydrated devices, unknown ones and this one are not answered", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  const sender = await knownSender(asker);
  const blocked = asker.ownDevice("BLOCKED", "blacklisted");
  const dehydrated = asker.devices.put({
    ...newDevice(asker, ME, { deviceId: "D", trust: "verified" }),
    isDehydrated: true,
  });
  const self = asker.devices.put({ ...newDevice(asker, ME), ...asker.context.own, trust: "verified" });
  for (const device of [blocked, dehydrated, self, newDevice(asker, ME, { deviceId: "NOBODY" })]) {
    asker.shared.set(device.curve25519, 0);
    await asker.ask(device, sender);
  }
  assertEquals(await asker.sent(), []);
});

Deno.test("requests that are not what they must be are ignored", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  const phone = asker.ownDevice("PHONE");
  const sender = await knownSender(asker);
  const body = { algorithm: MEGOLM, room_id: ROOM, session_id: sender.sessionId };
  const changes = [
    { action: "other" },
    { action: undefined },
    { requesting_device_id: 5 },
    { requesting_device_id: "__proto__" },
    { request_id: undefined },
    { request_id: "x".repeat(300) },
    { body: undefined },
    { body: { ...body, algorithm: "m.olm.v1.curve25519-aes-sha2" } },
    { body: { ...body, room_id: [] } },
    { body: { ...body, session_id: null } },
  ];
  for (const change of changes) await asker.ask(phone, sender, change);
  assertEquals(await asker.sent(), []);
});

Deno.test("a device without an Olm session is answered once there is one, across restarts", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  const [phone, laptop] = [asker.ownDevice("PHONE"), asker.ownDevice("LAPTOP")];
  const sender = await knownSender(asker);
  for (const device of [phone, laptop]) {
    asker.unreachable.add(device.curve25519);
    await asker.ask(device, sender);
  }
  assertEquals(await asker.sent(), []);
  assertEquals(asker.wanted, ["PHONE", "LAPTOP"]);
  await asker.ask(laptop, sender, { action: "request_cancellation", body: undefined });
  await asker.reopen();
  asker.unreachable.clear();
  await asker.step((tx) => asker.requests.answers.retry(tx));
  assertEquals((await asker.sent()).map(([, device]) => device), ["PHONE"]);
  await asker.step((tx) => asker.requests.answers.retry(tx));
  assertEquals(await asker.sent(), []);
});

Deno.test("a device that asks too often is not answered for a while", async () => {
  const clock = new TestClock();
  const asker = new Asker({ clock, policy: { answerKeyRequests: true } });
  const [phone, laptop] = [asker.ownDevice("PHONE"), asker.ownDevice("LAPTOP")];
  const sender = await knownSender(asker);
  for (let number = 0; number < 120; number++) await asker.ask(phone, sender, { request_id: `${number}` });
  assertEquals((await asker.sent()).length, 100);
  await asker.ask(laptop, sender);
  assertEquals((await asker.sent()).length, 1);
  await clock.tick(60 * 60 * 1_000);
  await asker.ask(phone, sender);
  assertEquals((await asker.sent()).length, 1);
});

Deno.test("an own device that is not verified gets the reason only so often", async () => {
  const asker = new Asker({ policy: { answerKeyRequests: true } });
  const unsigned = asker.ownDevice("UNSIGNED", "unsigned");
  const sender = await knownSender(asker);
  for (let number = 0; number < 120; number++) await asker.ask(unsigned, sender, { request_id: `${number}` });
  assertEquals((await asker.sent()).length, 100);
});
