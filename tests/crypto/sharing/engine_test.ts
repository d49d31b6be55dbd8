/**
 * The same with all parts as they are: engines that talk by way of a server that does nothing but pass on.
 */

import { assert, assertEquals } from "@std/assert";
import { type CryptoInput, Engine, type EngineRequest } from "../../../src/crypto/engine/engine.ts";
import type {
  Decryption,
  DeviceID,
  DeviceKeys,
  JsonObject,
  MessageEvent,
  ShareReport,
  StateEvent,
  ToDeviceEvent,
  UserID,
} from "@greenroom/matrix/types";
import { DEFAULT_POLICY } from "../../../src/crypto/context/context.ts";
import { MemoryStore } from "../../../src/store/base/mod.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { memoryVault } from "../support/vault.ts";
import { ALICE, BOB, memberEvent, ROOM } from "./room.ts";
import { EVERYBODY } from "../../support/everybody.ts";

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Keeps what it is given, for all engines of a test. */
class Server {
  readonly clock = new TestClock();
  readonly keys = new Map<UserID, Record<DeviceID, DeviceKeys>>();
  readonly oneTime = new Map<string, [string, unknown][]>();
  readonly inboxes = new Map<string, ToDeviceEvent[]>();
  readonly members = new Set<UserID>([ALICE, BOB]);

  answer(from: UserID, request: EngineRequest): JsonObject {
    switch (request.kind) {
      case "keysUpload": {
        const { device_keys: keys, one_time_keys: oneTime = {} } = request.body;
        const name = `${from} ${keys?.device_id ?? ""}`;
        if (keys) this.keys.set(from, { ...this.keys.get(from), [keys.device_id]: keys });
        if (keys) this.oneTime.set(name, Object.entries(oneTime));
        return { one_time_key_counts: { signed_curve25519: 50 } };
      }
      case "keysQuery":
        return {
          device_keys: Object.fromEntries(request.users.map((user) => [user, this.keys.get(user) ?? {}])),
        };
      case "keysClaim":
        return { one_time_keys: this.#claim(request.oneTimeKeys) };
      case "toDevice":
        for (const [userId, devices] of Object.entries(request.messages)) {
          for (const [deviceId, content] of Object.entries(devices)) {
            const event = { type: request.eventType, sender: from, content, source: 0 };
            this.inboxOf(userId, deviceId).push(event);
          }
        }
        return {};
      case "backupUpload":
      case "backupVersion":
      case "backupDownload":
      case "historyBundle":
      case "roomEvent":
        return { event_id: "$event" };
      case "signaturesUpload":
        return {};
    }
  }

  inboxOf(userId: string, deviceId: string): ToDeviceEvent[] {
    const inbox = this.inboxes.get(`${userId} ${deviceId}`) ?? [];
    this.inboxes.set(`${userId} ${deviceId}`, inbox);
    return inbox;
  }

  #claim(asked: Extract<EngineRequest, { kind: "keysClaim" }>["oneTimeKeys"]): JsonObject {
    return Object.fromEntries(
      Object.entries(asked).map(([userId, devices]) => [
        userId,
        Object.fromEntries(
          Object.keys(devices).map((deviceId) => {
            return [
              deviceId,
              Object.fromEntries([this.oneTime.get(`${userId} ${deviceId}`)?.shift() ?? ["", {}]]),
            ];
          }),
        ),
      ]),
    );
  }
}

/** An engine and what drives it. */
class Person {
  readonly server: Server;
  readonly userId: UserID;
  readonly deviceId: DeviceID;
  engine!: Engine;
  readonly #store = new MemoryStore();
  #syncs = 0;

  private constructor(server: Server, userId: UserID, deviceId: DeviceID) {
    this.server = server;
    this.userId = userId;
    this.deviceId = deviceId;
  }

  static async open(server: Server, userId: UserID, deviceId: DeviceID): Promise<Person> {
    const person = new Person(server, userId, deviceId);
    await person.restart();
    return person;
  }

  async restart(): Promise<void> {
    const { userId, deviceId, server: { clock } } = this;
    const vault = memoryVault(this.#store);
    this.engine = await Engine.open({
      account: { userId, deviceId },
      vault,
      clock,
      log,
      policy: { ...DEFAULT_POLICY, ...EVERYBODY },
    });
    await this.run();
  }

  /** Makes all requests. */
  async run(): Promise<void> {
    for (
      let requests = await this.engine.requests();
      requests.length > 0;
      requests = await this.engine.requests()
    ) {
      for (const request of requests) {
        await this.engine.answer({ id: request.id, response: this.server.answer(this.userId, request) });
      }
    }
  }

  async sync(input: Partial<CryptoInput> = {}): Promise<void> {
    await this.engine.receiveSync({
      nextBatch: `s${++this.#syncs}`,
      initial: false,
      handledBefore: true,
      toDevice: this.server.inboxOf(this.userId, this.deviceId).splice(0),
      deviceLists: { changed: [], left: [] },
      oneTimeKeyCounts: { signed_curve25519: 50 },
      unusedFallbackTypes: undefined,
      state: [],
      encrypted: [],
      ...input,
    });
    await this.run();
  }

  member(event: StateEvent): Promise<void> {
    return this.sync({ state: [{ roomId: ROOM, events: [event], limited: false, lossy: false }] });
  }

  async ready(): Promise<ShareReport> {
    const tolerate = { keysQuery: false, keysClaim: false };
    for (let round = 0; round < 20; round++) {
      const readiness = await this.engine.prepare({ roomId: ROOM, tolerate });
      if (readiness.needs === "nothing") return readiness.share;
      if (readiness.needs === "room") {
        await this.engine.describeRoom({
          roomId: ROOM,
          encryption: { algorithm: "m.megolm.v1.aes-sha2" },
          historyVisibility: { history_visibility: "invited" },
          members: [...this.server.members].map((userId) => ({ userId, membership: "join" })),
        });
      }
      await this.run();
    }
    throw new TypeError("The room never gets ready");
  }

  async send(body: string): Promise<JsonObject> {
    const input = { roomId: ROOM, eventType: "m.room.message", content: JSON.stringify({ body }) };
    const encrypted = await (await this.engine.encrypt(input)).reply ??
      (await this.ready(), await (await this.engine.encrypt(input)).reply);
    assert(encrypted !== undefined);
    return encrypted.content;
  }

  async read(from: Person, content: JsonObject): Promise<string | undefined> {
    await this.sync();
    const event: MessageEvent = {
      type: "m.room.encrypted",
      content,
      sender: from.userId,
      room_id: ROOM,
      event_id: `$${String(content.ciphertext).slice(-40)}`,
      origin_server_ts: 0,
      source: 0,
    };
    const decryption: Decryption = await this.engine.decrypt(event);
    return "event" in decryption ? String(decryption.event.content.body) : undefined;
  }
}

async function aliceAndBob() {
  const server = new Server();
  const alice = await Person.open(server, ALICE, "ALICE1");
  const bob = await Person.open(server, BOB, "BOB1");
  return { server, alice, bob };
}

Deno.test("with all parts as they are, an event arrives at every device, the own others too, and can be read by the sender", async () => {
  const { server, alice, bob } = await aliceAndBob();
  const other = await Person.open(server, ALICE, "ALICE2");
  await alice.sync({ deviceLists: { changed: [ALICE], left: [] } });
  const event = await alice.send("hello");
  for (const reader of [bob, other, alice]) {
    assertEquals(await reader.read(alice, event), "hello", reader.deviceId);
  }
  const names = (await alice.ready()).shared.map(({ deviceId }) => deviceId).sort();
  assertEquals(names, ["ALICE2", "BOB1"]);
});

Deno.test("with all parts as they are, a device that is new, and one that is gone, are seen before the next event", async () => {
  const { server, alice, bob } = await aliceAndBob();
  const first = await alice.send("one");
  assertEquals(await bob.read(alice, first), "one");
  const second = await Person.open(server, BOB, "BOB2");
  await alice.sync({ deviceLists: { changed: [BOB], left: [] } });
  const both = await alice.send("two");
  assertEquals(both.session_id, first.session_id);
  assertEquals([await bob.read(alice, both), await second.read(alice, both)], ["two", "two"]);
  assertEquals(await second.read(alice, first), undefined);

  const { BOB1: _, ...rest } = server.keys.get(BOB) ?? {};
  server.keys.set(BOB, rest);
  await alice.sync({ deviceLists: { changed: [BOB], left: [] } });
  const third = await alice.send("three");
  assertEquals([await bob.read(alice, third), await second.read(alice, third)], [undefined, "three"]);
});

Deno.test("with all parts, a user who left and came back with a new device can decrypt later events", async () => {
  const { server, alice, bob } = await aliceAndBob();
  await alice.send("one");
  await alice.sync({
    state: [{ roomId: ROOM, events: [memberEvent(BOB, "leave")], limited: false, lossy: false }],
    deviceLists: { changed: [], left: [BOB] },
  });
  const away = await alice.send("two");
  const device = await Person.open(server, BOB, "BOB2");
  await alice.member(memberEvent(BOB, "join"));
  const back = await alice.send("three");
  assertEquals([await bob.read(alice, away), await device.read(alice, away)], [undefined, undefined]);
  assertEquals([await bob.read(alice, back), await device.read(alice, back)], ["three", "three"]);
});

Deno.test("with all parts as they are, a device that never got the key and starts a session of its own reads all that was said", async () => {
  const { server, alice, bob } = await aliceAndBob();
  const first = await alice.send("one");
  server.inboxOf(BOB, "BOB1").length = 0; // the key never arrives
  const answer = await bob.send("I can't read that"); // in a session of its own, over Olm of its own
  assertEquals(await alice.read(bob, answer), "I can't read that");
  const second = await alice.send("two");
  assertEquals([await bob.read(alice, first), await bob.read(alice, second)], ["one", "two"]);
});

Deno.test("with all parts as they are, the session goes on after a restart", async () => {
  const { alice, bob } = await aliceAndBob();
  const first = await alice.send("one");
  await alice.restart();
  const second = await alice.send("two");
  assertEquals(second.session_id, first.session_id);
  assertEquals([await bob.read(alice, first), await bob.read(alice, second)], ["one", "two"]);
});

Deno.test("with all parts, a user who wrongly is said to share no room is queried again before the next event", async () => {
  const { server, alice } = await aliceAndBob();
  await alice.send("one");
  await alice.sync({ deviceLists: { changed: [], left: [BOB] } });
  const device = await Person.open(server, BOB, "BOB2");
  assertEquals(await device.read(alice, await alice.send("two")), "two");
});
