/**
 * What each method of `client.crypto` asks the engine for. Over 300 lines because there are many.
 *
 * @module
 */

import { RESTART_DELAY } from "../../src/api/http/mod.ts";
import { assert, assertEquals, assertFalse, assertRejects, assertStrictEquals } from "@std/assert";
import type { DispatcherHandlers } from "../../src/actors/dispatcher/dispatcher.ts";
import type { Actor } from "../../src/actors/kernel/mod.ts";
import { type CryptoHandlers, type EncryptedClient, EngineRunner } from "../../src/actors/crypto/crypto.ts";
import { Encryption } from "../../src/encryption/encryption.ts";
import type { CryptoInput, EngineRequest } from "../../src/crypto/engine/engine.ts";
import { DeviceConflictError, EncryptionError, NetworkError, ValueError } from "@greenroom/matrix/errors";
import type { DeviceID, MessageEvent, UserID } from "@greenroom/matrix/types";
import { TestClock } from "@greenroom/matrix/testing";
import { encryptionOf } from "../../src/types/events/encryption_info.ts";
import { recordingLogger, rejectionOf } from "../actors/kernel/support.ts";
import { query, turns } from "../actors/support/requests_stage.ts";
import { answeredBy } from "../support/answered_by.ts";

const ROOM = "!room:a";
const ALICE = "@alice:a";
const ACCOUNT: [UserID, DeviceID] = [ALICE, "D"];
const [READ, NOTHING] = [{ type: "m.a", content: {} }, { decrypted: [], toDevice: [], recovered: [] }];
const ENCRYPTED = { content: { ciphertext: "c" } };

/** What the engine answers, by the kind of message. */
type Answers = Record<string, (body: never) => unknown>;

/** Encryption with an engine whose answers a test sets. */
function stage(
  answers: Answers = {},
  account: () => Promise<[UserID, DeviceID]> = () => Promise.resolve(ACCOUNT),
) {
  const requests: EngineRequest[] = [];
  const asked: [kind: string, body: unknown][] = [];
  const [delivered, clock]: [unknown[], TestClock] = [[], new TestClock()];
  const all: Answers = {
    open: () => ({ userId: ALICE }),
    requests: () => requests.splice(0),
    answer: () => ({ recovered: [], alarms: [] }),
    fail: () => ({ settled: false }),
    encrypt: () => ENCRYPTED,
    devicesOf: () => [],
    health: () => ({ isSigned: true }),
    receiveSync: () => NOTHING,
    expireVerifications: () => ({ states: [], sends: [] }),
    ...answers,
  };
  const actor = answeredBy<CryptoHandlers>(async (kind, body) => {
    asked.push([kind, body]);
    return await all[kind]?.(body as never);
  });
  const dispatcher = answeredBy<DispatcherHandlers>((_kind, events) =>
    Promise.resolve(void delivered.push(events))
  );
  const engine = new EngineRunner({
    actor: actor as Actor<CryptoHandlers>,
    session: { account, http: { clock, [RESTART_DELAY]: () => undefined } },
    ready: () => Promise.resolve(),
    dispatcher,
    send: () => Promise.resolve({}),
    describe: () => Promise.reject(new Error("not asked here")),
    onNewRecipient: undefined,
    log: recordingLogger(),
  });
  const client = { api: {}, isDurable: true, hasToken: true, showsRooms: true } as EncryptedClient;
  const encryption = new Encryption(engine, client);
  const bodies = (kind: string) => asked.filter(([of]) => of === kind).map(([, body]) => body);
  return { encryption, clock, requests, delivered, bodies };
}

const sync = (...encrypted: object[]) => ({ encrypted } as unknown as CryptoInput);

Deno.test("While a client follows its syncs one that came two minutes ago counts, else one of ten seconds ago", async () => {
  const running = new AbortController();
  const { encryption, clock } = stage();
  await encryption.receiveSync(sync());
  await clock.tick(9_999);
  assert(encryption.isFollowing);
  await clock.tick(1);
  assertFalse(encryption.isFollowing);
  await encryption.start(running.signal);
  await encryption.receiveSync(sync());
  await clock.tick(119_999);
  await encryption.encrypt(ROOM, "m.x", {}); // that starts it as well, and changes nothing
  assert(encryption.isFollowing);
  running.abort();
  assertFalse(encryption.isFollowing);
});

Deno.test("A sync that came before a client follows its syncs does not count: what has changed since is not known", async () => {
  const { encryption } = stage();
  await encryption.receiveSync(sync());
  await encryption.start();
  assert(encryption.isFollowing);
  await encryption.start(new AbortController().signal);
  assertFalse(encryption.isFollowing);
});

Deno.test("Members and devices are requested again unless syncs report their changes", async () => {
  const { encryption, clock, bodies } = stage();
  await encryption.encrypt(ROOM, "m.x", {});
  await encryption.receiveSync(sync());
  await encryption.encrypt(ROOM, "m.x", {});
  const since = bodies("encrypt").map((body) => (body as { since: number | undefined }).since);
  assertEquals(since, [clock.now() - 9_999, undefined]);
});

Deno.test("After a response the engine is asked for requests if there may be some, and else not", async () => {
  for (const mayRequest of [false, true]) {
    const { encryption, requests, bodies } = stage({ receiveSync: () => ({ ...NOTHING, mayRequest }) });
    requests.push(query("1"));
    await encryption.receiveSync(sync());
    await turns();
    assertEquals(bodies("answer").length, mayRequest ? 1 : 0);
  }
});

Deno.test("A device that the server knows with other keys is refused everything that would use it", async () => {
  const conflict = new DeviceConflictError("Cannot use the device");
  const { encryption, requests, bodies } = stage({
    answer() {
      throw conflict;
    },
  });
  requests.push(query("1"));
  const ways: (() => Promise<unknown>)[] = [
    () => encryption.start(),
    () => encryption.idle(),
    () => encryption.receiveSync(sync()),
    () => encryption.encrypt(ROOM, "m.x", {}),
    () => encryption.shareGroupSession(ROOM),
  ];
  for (const way of ways) assertStrictEquals(await rejectionOf(way()), conflict, String(way));
  assertEquals([bodies("receiveSync"), bodies("encrypt"), bodies("prepare")], [[], [], []]);
});

Deno.test("A device conflict during the encryption of an event rejects it with that conflict", async () => {
  const conflict = new DeviceConflictError("Cannot use the device");
  const { encryption, requests } = stage({
    encrypt: () => undefined,
    prepare() {
      requests.push(query("1"));
      return { needs: "keysQuery" };
    },
    answer() {
      throw conflict;
    },
  });
  assertStrictEquals(await rejectionOf(encryption.encrypt(ROOM, "m.x", {})), conflict);
});

Deno.test("A room that can't be prepared rejects, and nothing is encrypted for it", async () => {
  const here = stage({ encrypt: () => undefined, prepare: () => ({ needs: "room" }) });
  await assertRejects(() => here.encryption.shareGroupSession(ROOM), EncryptionError, "can't be found out");
  await assertRejects(() => here.encryption.encrypt(ROOM, "m.x", {}), EncryptionError, "can't be found out");
  assertEquals(here.bodies("encrypt").length, 1);
});

Deno.test("A device conflict during the preparation of a room rejects before the event is encrypted", async () => {
  const conflict = new DeviceConflictError("Cannot use the device");
  const here = stage({
    encrypt: () => here.bodies("encrypt").length === 1 ? undefined : ENCRYPTED,
    async prepare() {
      here.requests.push(query("1"));
      await here.encryption.idle().catch(() => {}); // another call makes it
      return { needs: "nothing", share: {} };
    },
    answer() {
      throw conflict;
    },
  });
  assertStrictEquals(await rejectionOf(here.encryption.encrypt(ROOM, "m.x", {})), conflict);
});

Deno.test("An event of a sync waits if it could not be read, and only then", async () => {
  const [read, unread, other] = [READ, {}, {}] as MessageEvent[];
  const decrypted = [{ event: READ }, { code: "no_key" }];
  const { encryption } = stage({ receiveSync: () => ({ ...NOTHING, decrypted }) });
  await encryption.receiveSync(sync(read as object, unread as object));
  assertEquals([read, unread, other].map((event) => encryption.isWaiting(event as MessageEvent)), [
    false,
    true,
    false,
  ]);
});

Deno.test("A decrypted event has its encryption info; one that can't be decrypted is reported as it is", async () => {
  const encryption = { senderTrust: "verified" };
  const results = [{ event: READ, encryption }, { code: "no_key", reason: "no key" }];
  const here = stage({ decrypt: () => results.shift() });
  const unread = { room_id: ROOM, content: {} } as unknown as MessageEvent;
  const read = await here.encryption.decrypt(unread);
  assert("event" in read);
  assertEquals<unknown>(encryptionOf(read.event), encryption);
  assertEquals<unknown>(await here.encryption.decrypt(unread), {
    code: "no_key",
    reason: "no key",
  });
});

Deno.test("Content is encrypted as JSON; anything but an object is refused", async () => {
  const { encryption, bodies } = stage();
  for (const content of [[1], { toJSON: () => "text" }, { toJSON: () => null }]) {
    await assertRejects(() => encryption.encrypt(ROOM, "m.x", content), EncryptionError, "must be an object");
  }
  const cycle: Record<string, unknown> = { body: "secret" };
  cycle.itself = cycle;
  for (const content of [cycle, { body: "secret", big: 1n }]) {
    const error = await assertRejects(() => encryption.encrypt(ROOM, "m.x", content), EncryptionError);
    assertEquals([error.message.includes("cycles"), error.message.includes("secret")], [true, false]);
  }
  const content = { a: undefined, b: new Date(0) };
  const encrypted = encryption.encrypt(ROOM, "m.x", content);
  content.b = new Date(1); // the caller's object may be used again
  await encrypted;
  const [input, ...more] = bodies("encrypt") as { content: unknown }[];
  assertEquals([input?.content, more], ['{"b":"1970-01-01T00:00:00.000Z"}', []]);
});

Deno.test("A room whose members change faster than they get keys is given up", async () => {
  const { encryption, bodies } = stage({
    encrypt: () => undefined,
    prepare: () => ({ needs: "nothing", share: {} }),
  });
  await assertRejects(() => encryption.encrypt(ROOM, "m.x", {}), EncryptionError, "faster");
  assertEquals(bodies("encrypt").length, 1_000);
});

Deno.test("An event is not encrypted once its sender has aborted", async () => {
  const { encryption, bodies } = stage();
  const sent = encryption.encrypt(ROOM, "m.x", {}, { signal: AbortSignal.abort(new Error("enough")) });
  await assertRejects(() => sent, Error, "enough");
  assertEquals(bodies("encrypt"), []);
});

Deno.test("Devices are asked for until they are known, at most three times, and not if there is nothing to ask", async () => {
  for (const [stale, ended, asks] of [[1, 9, 2], [9, 9, 3], [9, 0, 1], [9, 1, 2]] as const) {
    const here = stage({
      areDevicesStale() {
        const asked = here.bodies("areDevicesStale").length;
        if (asked <= ended) here.requests.push(query(`${asked}`));
        return asked <= stale;
      },
    });
    await here.encryption.getDevices(ALICE);
    assertEquals(here.bodies("areDevicesStale").length, asks, `stale ${stale} times, ${ended} answers`);
  }
});

Deno.test("Devices that could not be looked up are not reported with their old state", async () => {
  const error = new Error("not to be used");
  const here = stage({
    areDevicesStale: () => true,
    answer() {
      throw error;
    },
  });
  here.requests.push(query("1"));
  assertStrictEquals(await rejectionOf(here.encryption.getDevices(ALICE)), error);
});

Deno.test("Trust in an unknown device is set again once its user's devices are known; another failure rejects", async () => {
  const device = { userId: ALICE, deviceId: "D", ed25519: "k" } as const;
  const trust = async (error: Error | undefined) => {
    const errors = [error];
    const here = stage({
      areDevicesStale: () => false,
      setDeviceTrust() {
        const next = errors.shift();
        if (next !== undefined) throw next;
        return [];
      },
    });
    const failure = await here.encryption.setDeviceTrust(device, "verified").catch((error) => error);
    return [failure, here.bodies("areDevicesStale").length, here.bodies("setDeviceTrust").length];
  };
  const [unknown, down] = [new ValueError("no such device"), new NetworkError("down")];
  assertEquals(await trust(undefined), [undefined, 0, 1]);
  assertEquals(await trust(unknown), [undefined, 1, 2]);
  assertEquals(await trust(down), [down, 0, 1]);
});

Deno.test("Events that can be read once a device is trusted are handed on, if there are any", async () => {
  const late = { event: READ, ref: { roomId: ROOM, eventId: "$late" } };
  const recovered = [[], [late]];
  const { encryption, delivered } = stage({ setDeviceTrust: () => recovered.shift() });
  for (let time = 0; time < 2; time++) {
    await encryption.setDeviceTrust({ userId: ALICE, deviceId: "D", ed25519: "k" }, "verified");
  }
  assertEquals(delivered, [{ events: [late] }]);
});

Deno.test("Of events that could be read after all, with a sync or because of a device, the latest thousand are known", async () => {
  const late = (name: string) => ({ event: READ, ref: { roomId: ROOM, eventId: `$${name}` } });
  const { encryption } = stage({
    receiveSync: () => ({ ...NOTHING, recovered: [late("synced")] }),
    setDeviceTrust: () => [late("trusted")],
  });
  const known = (name: string) => encryption.wasRecovered({ event_id: `$${name}` });
  await encryption.receiveSync(sync());
  await encryption.setDeviceTrust({ userId: ALICE, deviceId: "D", ed25519: "k" }, "verified");
  assertEquals(["synced", "trusted", "other"].map(known), [true, true, false]);
  const many = stage({ setDeviceTrust: () => Array.from({ length: 1_001 }, (_, index) => late(`${index}`)) });
  await many.encryption.setDeviceTrust({ userId: ALICE, deviceId: "D", ed25519: "k" }, "verified");
  assertEquals(["0", "1"].map((name) => many.encryption.wasRecovered({ event_id: `$${name}` })), [
    false,
    true,
  ]);
});

Deno.test("Before encryption is used there is nothing to make, and nothing to wait for; then there is", async () => {
  const { encryption, requests, bodies } = stage();
  await encryption.idle();
  await encryption.quiet();
  assertEquals([bodies("requests"), bodies("noteSent")], [[], []]);
  await encryption.getOwnDeviceKeys();
  requests.push(query("1"));
  await encryption.idle();
  await encryption.quiet();
  assertEquals([bodies("answer").length, bodies("noteSent").length], [1, 2]);
});

Deno.test("Encryption opens for a device only, and tries again if it could not find out for which", async () => {
  const accounts: ([UserID, DeviceID] | Error)[] = [new NetworkError("down"), [ALICE, ""], ACCOUNT];
  const { encryption, bodies } = stage({}, async () => {
    const account = accounts.shift();
    await turns();
    if (account === undefined || account instanceof Error) throw account;
    return account;
  });
  await assertRejects(() => encryption.getOwnDeviceKeys(), NetworkError, "down");
  await assertRejects(() => encryption.getOwnDeviceKeys(), EncryptionError, "belongs to no device");
  assertEquals(bodies("open"), []);
  await Promise.all([encryption.getOwnDeviceKeys(), encryption.getOwnDeviceKeys()]);
  assertEquals([bodies("open"), accounts], [[{ userId: ALICE, deviceId: "D" }], []]);
});
