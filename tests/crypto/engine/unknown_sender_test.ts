/**
 * Devices that this one does not know: of a user in no encrypted room that it knows of, or of one whom
 * it follows, comes a message to the device that can't be read, or a room key; or a user speaks in such a
 * room.
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals } from "@std/assert";
import { newDeviceKeys } from "../../../src/crypto/account/account.ts";
import { signableJson, withSignature } from "../../../src/crypto/encoding/encoding.ts";
import { LOOKUPS_AN_HOUR } from "../../../src/crypto/records/mod.ts";
import { type JsonObject, SyncStream, type ToDeviceEvent, type UserID } from "@greenroom/matrix/types";
import { FakeUser } from "../support/fake_user.ts";
import { Asked, BOB, inRoom, joined } from "./asked.ts";
import { aliceAndBob, Bot } from "./bot.ts";
import { ENCRYPTION, ROOM, stateEvent } from "./homeserver.ts";
import { RawDevice, RawSession } from "./raw_device.ts";

const vodozemac = await Vodozemac.create();
const HOUR = 3_600_000;

/** A device that this one does not know, whose messages it can't read. */
class Unknown {
  readonly #account = vodozemac.olm.createAccount();
  readonly #oneTimeKey = vodozemac.keys.createCurve25519().publicKey;

  /** A message that begins a session with a key which the device never had, or has no more. */
  message({ engine }: Asked, sender: UserID = BOB): ToDeviceEvent {
    const { curve25519 } = engine.identity();
    using session = this.#account.createOutboundSession(curve25519, this.#oneTimeKey);
    return {
      type: "m.room.encrypted",
      sender,
      content: {
        algorithm: "m.olm.v1.curve25519-aes-sha2",
        sender_key: this.#account.curve25519Key,
        ciphertext: { [curve25519]: { ...session.encrypt("{}") } },
      },
      source: SyncStream.TO_DEVICE,
    };
  }

  /** What the server says of it. */
  shown(): Record<UserID, JsonObject> {
    const { curve25519Key: curve25519, ed25519Key: ed25519 } = this.#account;
    const keys = { ...newDeviceKeys({ userId: BOB, deviceId: "B", curve25519, ed25519 }) };
    const signature = this.#account.sign(signableJson(keys));
    return { [BOB]: { B: withSignature(keys, { userId: BOB, keyId: "ed25519:B", signature }) } };
  }
}

/** An engine that has no encrypted room. */
async function alone(): Promise<Asked> {
  const asked = await (await Asked.open()).publish();
  assertEquals(await asked.kinds(), []);
  return asked;
}

/** The users of the queries that a bot makes in the meantime. */
async function queriesDuring(bot: Bot, work: () => Promise<unknown>): Promise<UserID[][]> {
  const queries: UserID[][] = [];
  const { server } = bot;
  const { answer } = server;
  server.answer = (from, request) => {
    if (request.kind === "keysQuery") queries.push([...request.users]);
    return answer.call(server, from, request);
  };
  await work();
  server.answer = answer;
  return queries;
}

/** The users that the store has as tracked. */
async function tracked({ store }: Asked): Promise<string[]> {
  const entries = await Array.fromAsync(store.list([]));
  return entries.filter(({ key }) => key.includes("tracked")).map(({ key }) => String(key.at(-1)));
}

Deno.test("a device that is not known and can't be understood is looked up, and gets a new session", async () => {
  const asked = await alone();
  const before = await tracked(asked);
  const bob = new Unknown();
  assert((await asked.sync({ toDevice: [bob.message(asked)] })).mayRequest);
  const query = await asked.one("keysQuery");
  assertEquals(query.users, [BOB]);
  await asked.answer(query, { device_keys: bob.shown() });
  const claim = await asked.one("keysClaim");
  assertEquals(claim.oneTimeKeys, { [BOB]: { B: "signed_curve25519" } });
  assertEquals(await tracked(asked), before, "who is in no room is asked about once");
});

Deno.test("a device that was to be looked up when the process ended is looked up by the next", async () => {
  const asked = await alone();
  const bob = new Unknown();
  await asked.sync({ toDevice: [bob.message(asked)] });
  await asked.restart();
  const query = await asked.one("keysQuery");
  assert(query.users.includes(BOB));
  await asked.answer(query, {
    device_keys: { ...bob.shown(), ...asked.shown().device_keys as JsonObject },
  });
  assert((await asked.kinds()).includes("keysClaim"));
});

Deno.test("a user who is looked up, and comes into an encrypted room meanwhile, stays tracked", async () => {
  const asked = await alone();
  const bob = new Unknown();
  await asked.sync({ toDevice: [bob.message(asked)] });
  const query = await asked.one("keysQuery");
  await asked.sync({ state: [inRoom(stateEvent("m.room.encryption", ENCRYPTION), joined(BOB))] });
  await asked.answer(query, { device_keys: bob.shown() });
  assert((await tracked(asked)).includes(BOB));
});

Deno.test("a user whom the server does not know, or can't reach, is looked up once an hour at most", async () => {
  for (const answer of [{ device_keys: {} }, { device_keys: {}, failures: { "example.org": {} } }]) {
    const asked = await alone();
    const bob = new Unknown();
    const message = () => bob.message(asked);
    await asked.sync({ toDevice: [message()] });
    await asked.answer(await asked.one("keysQuery"), answer);
    await asked.sync({ toDevice: [message()] });
    await asked.clock.tick(HOUR - 1);
    assertEquals(await asked.kinds(), []);
    await asked.clock.tick(1);
    assertEquals(await asked.kinds(), [], "nobody has written again");
    await asked.sync({ toDevice: [message()] });
    await asked.one("keysQuery");
  }
});

Deno.test("a user who is followed is asked about again when an unknown device can't be understood: the change was not announced", async () => {
  const asked = await alone();
  await asked.sync({ state: [inRoom(stateEvent("m.room.encryption", ENCRYPTION), joined(BOB))] });
  await asked.answer(await asked.one("keysQuery"), { device_keys: { [BOB]: {} } });
  assertEquals(await asked.kinds(), []);
  const bob = new Unknown();
  await asked.sync({ toDevice: [bob.message(asked)] });
  const query = await asked.one("keysQuery");
  assertEquals(query.users, [BOB]);
  await asked.answer(query, { device_keys: bob.shown() });
  const claim = await asked.one("keysClaim");
  assertEquals(claim.oneTimeKeys, { [BOB]: { B: "signed_curve25519" } });
  assert((await tracked(asked)).includes(BOB));
  await asked.sync({ toDevice: [new Unknown().message(asked)] });
  assert(!(await asked.kinds()).includes("keysQuery"), "once an hour at most");
});

Deno.test("strangers by the thousand are looked up so many an hour, and leave nothing tracked; one of another server has a turn", async () => {
  const asked = await alone();
  const before = await tracked(asked);
  const strangers = Array.from({ length: 2_000 }, (_, n): UserID => `@stranger${n}:evil.example`);
  const unknown = new Unknown();
  const seen = new Set<string>();
  const answerAll = async () => {
    for (let request; (request = (await asked.engine.requests())[0]) !== undefined;) {
      assert(request.kind === "keysQuery", request.kind);
      for (const userId of request.users) seen.add(userId);
      await asked.answer(request, { device_keys: {} });
    }
  };
  for (let at = 0; at < strangers.length; at += 100) {
    await asked.sync({ toDevice: strangers.slice(at, at + 100).map((each) => unknown.message(asked, each)) });
    await answerAll();
  }
  assertEquals(seen.size, LOOKUPS_AN_HOUR);
  assertEquals(await tracked(asked), before);
  await asked.sync({ toDevice: [unknown.message(asked)] });
  await answerAll();
  assert(seen.has(BOB));
});

Deno.test("who speaks in a room that was encrypted later is followed from then on, before anything is sent there", async () => {
  const asked = await alone();
  await asked.sync({ state: [inRoom(stateEvent("m.room.encryption", ENCRYPTION))] });
  assertEquals(await asked.kinds(), [], "nothing has shown who is in the room");
  const content = {
    algorithm: "m.megolm.v1.aes-sha2",
    session_id: "c2Vzc2lvbg",
    ciphertext: "AA",
    device_id: "B",
  };
  const event = {
    type: "m.room.encrypted",
    room_id: ROOM,
    event_id: "$hello",
    sender: BOB,
    origin_server_ts: asked.clock.now(),
    content,
    source: SyncStream.TIMELINE,
  } as const;
  assert((await asked.sync({ encrypted: [event] })).mayRequest);
  assertEquals((await asked.one("keysQuery")).users, [BOB]);
  assert((await tracked(asked)).includes(BOB));
});

Deno.test("a new device of a user who is followed is looked up when its key comes unannounced, and is read as what it is", async () => {
  const { server, alice, bob } = await aliceAndBob({ policy: { accept: "cross-signed" } });
  server.identities.set(alice.userId, new FakeUser(alice.userId).crossSign());
  await alice.send("who speaks is followed");
  await bob.sync();
  const phone = await Bot.open(server, { userId: alice.userId, deviceId: "PHONE" });
  server.mailbox(bob).state.length = 0; // she has been there all the time
  const event = await phone.send("hello");
  server.mailbox(bob).changed.clear(); // a server that was set back takes that for shown
  assertEquals(await queriesDuring(bob, () => bob.sync()), [[alice.userId]]);
  assertEquals(bob.outcome(event), "text: hello");
});

Deno.test("unknown devices of a user who is followed have them looked up once an hour, those of others not at all", async () => {
  const { server, alice, bob } = await aliceAndBob();
  await alice.send("who speaks is followed");
  await bob.sync();
  const write = (userId: UserID, name: string) => {
    const device = new RawDevice(server, userId, name);
    server.mailbox(bob).toDevice.push(device.message(bob, "m.room_key", new RawSession().roomKey(ROOM)));
  };
  const queries = () => queriesDuring(bob, () => bob.sync());
  for (let count = 0; count < 3; count++) write("@carol:example.org", `CAROL${count}`);
  assertEquals(await queries(), []);
  for (let count = 0; count < 3; count++) write(alice.userId, `MADE_UP${count}`);
  assertEquals(await queries(), [[alice.userId]]);
  write(alice.userId, "MADE_UP3");
  assertEquals(await queries(), []);
  await server.clock.tick(HOUR);
  write(alice.userId, "MADE_UP4");
  assertEquals(await queries(), [[alice.userId]]);
});
