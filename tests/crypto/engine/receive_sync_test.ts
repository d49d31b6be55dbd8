/** What an engine makes of what comes to it, and what it still knows of it after a restart. */

import { assert, assertEquals } from "@std/assert";
import type { Logger } from "@greenroom/matrix";
import { type JsonObject, SyncStream, type ToDeviceEvent, type UserID } from "@greenroom/matrix/types";
import { FakeUser } from "../support/fake_user.ts";
import { aliceAndBob, Bot } from "./bot.ts";
import { ROOM, stateEvent } from "./homeserver.ts";
import { RawDevice } from "./raw_device.ts";

const MEGOLM = "m.megolm.v1.aes-sha2";

/** A log that tests can read: the level and the text of each line. */
function toldLog() {
  const lines: string[] = [];
  const note = (level: string) => (text: string) => void lines.push(`${level}: ${text}`);
  const log: Logger = { debug: note("debug"), info: note("info"), warn: note("warn"), error: note("error") };
  return { log, lines };
}

function clear(sender: UserID, type: string, content: JsonObject): ToDeviceEvent {
  return { type, sender, content, source: SyncStream.TO_DEVICE };
}

/** The kinds of the requests that a bot makes in the meantime. */
async function kindsDuring(bot: Bot, work: () => Promise<unknown>): Promise<string[]> {
  const { server } = bot;
  const kinds: string[] = [];
  const { answer } = server;
  server.answer = (from, request) => (kinds.push(request.kind), answer.call(server, from, request));
  await work();
  server.answer = answer;
  return kinds;
}

Deno.test("a message that can't be read is worth a warning, one that comes again is not", async () => {
  const { log, lines } = toldLog();
  const { alice, bob, server } = await aliceAndBob({ log });
  const carol = await Bot.open(server, { userId: "@carol:example.org", deviceId: "CAROL", log });
  await alice.send("hello");
  const [message] = server.mailbox(bob).toDevice;
  assert(message !== undefined);
  await bob.sync();
  lines.length = 0;
  await bob.sync({ toDevice: [message] });
  assertEquals(lines, ["debug: A message to this device was not read"]);
  lines.length = 0;
  const [ciphertext] = Object.values(message.content.ciphertext as JsonObject);
  const content = { ...message.content, ciphertext: { [carol.engine.identity().curve25519]: ciphertext } };
  await carol.sync({ toDevice: [{ ...message, content }] });
  assertEquals(lines[0], "warn: A message to this device was not read");
});

Deno.test("a room key that is no good is refused with a warning, and what came with it is taken in", async () => {
  const { log, lines } = toldLog();
  const { alice, bob, server } = await aliceAndBob({ log });
  const carol = new RawDevice(server, "@carol:example.org", "CAROL").publish();
  const event = await alice.send("hello");
  lines.length = 0;
  server.mailbox(bob).toDevice.unshift(carol.message(bob, "m.room_key", { algorithm: "m.none" }));
  await bob.sync();
  assertEquals(lines.filter((line) => !line.startsWith("debug")), ["warn: Refused a room key"]);
  assertEquals(bob.outcome(event), "text: hello");
});

Deno.test("a message that makes the engine fail is skipped and reported; the others are received", async () => {
  const { log, lines } = toldLog();
  const { alice, bob } = await aliceAndBob({ log });
  const event = await alice.send("hello");
  const input = bob.collect();
  const content = {
    algorithm: "m.olm.v1.curve25519-aes-sha2",
    get sender_key(): string {
      throw new RangeError("Too much");
    },
  };
  const poisoned = clear("@mallory:example.org", "m.room.encrypted", content);
  lines.length = 0;
  const { decrypted } = await bob.engine.receiveSync({
    ...input,
    toDevice: [poisoned, ...input.toDevice, poisoned],
  });
  assertEquals(lines.filter((line) => line.startsWith("error")), [
    "error: Skipped a message to this device",
    "error: Skipped a message to this device",
  ]);
  assertEquals(decrypted.map((result) => "event" in result && result.event.event_id), [event.event_id]);
});

Deno.test("a key is requested by messages of one type, and withheld by those of two", async () => {
  const ask = async (type: string) => {
    const { alice, bob } = await aliceAndBob({ policy: { answerKeyRequests: true } });
    const { content: { session_id } } = await alice.send("hello");
    const body = { algorithm: MEGOLM, room_id: ROOM, session_id };
    const request = { action: "request", requesting_device_id: bob.deviceId, request_id: "one", body };
    return await kindsDuring(alice, () => alice.sync({ toDevice: [clear(bob.userId, type, request)] }));
  };
  assertEquals([await ask("m.room_key_request"), await ask("org.example.request")], [["toDevice"], []]);
  const withhold = async (type: string) => {
    const { alice, bob, server } = await aliceAndBob();
    const event = await alice.send("hello");
    const { curve25519: sender_key } = alice.engine.identity();
    const { session_id } = event.content;
    const content = { algorithm: MEGOLM, room_id: ROOM, session_id, sender_key, code: "m.unverified" };
    server.mailbox(bob).toDevice.splice(0, Infinity, clear(alice.userId, type, content));
    await bob.sync();
    return bob.outcome(event);
  };
  const types = ["m.room_key.withheld", "org.matrix.room_key.withheld", "org.example.withheld"];
  assertEquals(await Promise.all(types.map(withhold)), ["WITHHELD", "WITHHELD", "MISSING_KEY"]);
});

Deno.test("who joins is asked about again, though no change of devices is announced, and not for a new name", async () => {
  const { alice, server } = await aliceAndBob();
  const carol = "@carol:example.org";
  const queries = async (membership: string, unsigned?: JsonObject) => {
    const event = { ...stateEvent("m.room.member", { membership }, carol), unsigned };
    server.mailbox(alice).state.push(event);
    return await kindsDuring(alice, () => alice.sync());
  };
  assertEquals(await queries("invite"), ["keysQuery"]);
  assertEquals(await queries("join", { prev_content: { membership: "invite" } }), ["keysQuery"]);
  assertEquals(await queries("join", { prev_content: { membership: "join" } }), []);
});

Deno.test("a device that is blacklisted takes the session with it, one that is verified does not", async () => {
  const { alice, bob } = await aliceAndBob();
  const { sessionId } = await alice.ready();
  const { ed25519 } = bob.engine.identity();
  const device = { userId: bob.userId, deviceId: bob.deviceId, ed25519 };
  await alice.engine.steps.setDeviceTrust({ ...device, trust: "verified" });
  assertEquals((await alice.ready()).sessionId, sessionId);
  await alice.engine.steps.setDeviceTrust({ ...device, trust: "blacklisted" });
  await alice.engine.steps.setDeviceTrust({ ...device, trust: undefined }); // before anything else is said
  assert((await alice.ready()).sessionId !== sessionId);
});

Deno.test("only a recovered event that comes again before it was handled counts as underway", async () => {
  const { alice, bob, server } = await aliceAndBob();
  await alice.send("late");
  const late = server.mailbox(bob).toDevice.splice(0);
  const input = bob.collect();
  await bob.engine.receiveSync(input);
  const { recovered } = await bob.engine.receiveSync({ ...input, encrypted: [], toDevice: late });
  assertEquals(recovered.length, 1);
  assertEquals((await bob.engine.receiveSync(input)).underway, [0]);
  await bob.engine.settle(recovered.map(({ ref }) => ref));
  const next = await alice.send("next");
  const { underway, decrypted } = await bob.engine.receiveSync(bob.collect());
  assertEquals([underway, decrypted.map((result) => "event" in result && result.event.event_id)], [[], [
    next.event_id,
  ]]);
});

Deno.test("an event of a device that was not trusted enough is read as soon as its user vouches for the device", async () => {
  const { alice, bob, server } = await aliceAndBob({ policy: { accept: "cross-signed" } });
  await bob.ready(); // he knows her devices
  const event = await alice.send("hello");
  await bob.sync();
  assertEquals(bob.outcome(event), "UNTRUSTED");
  server.identities.set(alice.userId, new FakeUser(alice.userId).crossSign());
  server.show(alice);
  await bob.sync();
  assertEquals(bob.outcome(event), "text: hello");
});

Deno.test("an event that was refused has not been handled: it is read when it comes again and its device is trusted", async () => {
  const { alice, bob, server } = await aliceAndBob({ policy: { accept: "cross-signed" } });
  await bob.ready(); // he knows her devices
  await alice.send("hello");
  const input = bob.collect();
  assertEquals((await bob.engine.receiveSync(input)).decrypted.map((result) => "event" in result), [false]);
  for await (const { key } of bob.store.list(["crypto", "parked"])) {
    await bob.store.commit([{ type: "delete", key }]);
  }
  await bob.restart(); // it does not wait for trust any more, as after a month
  server.identities.set(alice.userId, new FakeUser(alice.userId).crossSign());
  server.show(alice);
  await bob.sync();
  const { decrypted, underway } = await bob.engine.receiveSync(input);
  assertEquals([decrypted.map((result) => "event" in result), underway], [[true], []]);
});

Deno.test("after a restart a device list that changes is looked up, as before it", async () => {
  const { alice, bob } = await aliceAndBob();
  await alice.ready();
  await alice.restart();
  const changed = { deviceLists: { changed: [bob.userId], left: [] } };
  assertEquals(await kindsDuring(alice, () => alice.sync(changed)), ["keysQuery"]);
});

Deno.test("after a restart a device that needs a session still does, and a key that the server refuses was not given", async () => {
  const { alice } = await aliceAndBob();
  const tolerate = { keysQuery: false, keysClaim: false };
  const needs = async () => (await alice.engine.prepare({ roomId: ROOM, tolerate })).needs;
  for (let round = 0; round < 10 && await needs() !== "keysClaim"; round++) {
    await alice.describe();
    for (const request of await alice.engine.requests()) {
      if (request.kind !== "keysClaim") await alice.carry(request);
    }
  }
  const kinds = await kindsDuring(alice, () => alice.restart());
  assertEquals(kinds.filter((kind) => kind === "keysClaim"), ["keysClaim"]);
  for (let round = 0; round < 10 && await needs() !== "toDevice"; round++) {
    if (await needs() === "room") await alice.describe();
    for (const request of await alice.engine.requests()) {
      if (request.kind !== "toDevice") await alice.carry(request);
    }
  }
  const { carry } = alice;
  const failure = { status: 403, errcode: undefined, message: "no" };
  alice.carry = async (request) => {
    if (request.kind !== "toDevice") return await carry.call(alice, request);
    await alice.engine.fail({ id: request.id, failure });
  };
  await alice.restart();
  const { shared, withheld } = await alice.ready();
  assertEquals([shared.length, withheld.length], [0, 1]);
});

Deno.test("after a restart, a user who joins an encrypted room is looked up", async () => {
  const { alice } = await aliceAndBob();
  await alice.restart();
  const events = [stateEvent("m.room.member", { membership: "join" }, "@carol:example.org")];
  const state = [{ roomId: ROOM, events, limited: false, lossy: false }];
  assertEquals(await kindsDuring(alice, () => alice.sync({ state })), ["keysQuery"]);
});

Deno.test("after a restart a key that was asked for is not asked for any more when it comes", async () => {
  const { alice, bob, server } = await aliceAndBob();
  const phone = await Bot.open(server, { userId: alice.userId, deviceId: "PHONE" });
  await alice.sync();
  const { ed25519 } = phone.engine.identity();
  await alice.engine.steps.setDeviceTrust({
    userId: alice.userId,
    deviceId: "PHONE",
    ed25519,
    trust: "verified",
  });
  const event = await bob.send("hello");
  const late = server.mailbox(alice).toDevice.splice(0);
  const actions = () =>
    server.mailbox(phone).toDevice.filter(({ type }) => type === "m.room_key_request").map(({ content }) =>
      content.action
    );
  await alice.sync();
  assertEquals(actions(), ["request"]);
  await alice.restart();
  await alice.sync({ toDevice: late });
  assertEquals([actions(), alice.outcome(event)], [["request", "request_cancellation"], "text: hello"]);
});
