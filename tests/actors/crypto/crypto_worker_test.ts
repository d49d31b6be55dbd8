import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Actor } from "../../../src/actors/kernel/actor.ts";
import { cryptoErrorCodec } from "../../../src/actors/crypto/crypto_error_codec.ts";
import type { CryptoProtocol } from "../../../src/actors/crypto/crypto_protocol.ts";
import { portRef } from "../../../src/actors/kernel/port_ref.ts";
import { serve } from "../../../src/actors/kernel/serve.ts";
import { spawnStore } from "../../../src/actors/store/store_actor.ts";
import type { EngineRequest } from "../../../src/crypto/engine/engine_protocol.ts";
import { DeviceConflictError, EncryptionError } from "../../../src/errors/crypto_error.ts";
import { EventTooLargeError } from "../../../src/errors/encryption_errors.ts";
import { ValueError } from "../../../src/errors/value_error.ts";
import { MemoryStore } from "../../../src/store/memory_store.ts";
import type { JsonObject } from "../../../src/types/json.ts";
import { Bot } from "../../crypto/engine/bot.ts";
import { ENCRYPTION, EngineServer, ROOM, stateEvent } from "../../crypto/engine/homeserver.ts";
import { recordingLogger } from "../kernel/support.ts";

const ALICE = { userId: "@alice:example.org", deviceId: "ALICE" } as const;
const BOB = { userId: "@bob:example.org", deviceId: "BOB" } as const;

/** The Crypto actor in a Worker, with its records in this thread, and what a client does with it. */
class InWorker implements AsyncDisposable {
  readonly crypto: Actor<CryptoProtocol>;
  readonly #server: EngineServer;
  readonly #worker: Worker;
  readonly #store: ReturnType<typeof spawnStore>;

  constructor(server: EngineServer, kv: MemoryStore) {
    this.#server = server;
    this.#store = spawnStore({ kv, close: false, log: recordingLogger() });
    this.#worker = new Worker(new URL("../support/crypto_worker.ts", import.meta.url), { type: "module" });
    const { port1, port2 } = new MessageChannel();
    serve(this.#store, port1, { shared: true, codec: cryptoErrorCodec(), onClose: () => port1.close() });
    this.#worker.postMessage("the store", [port2]);
    this.crypto = portRef(this.#worker, { name: "crypto", codec: cryptoErrorCodec() });
  }

  async open() {
    await this.#store.ask("open", ["greenroom"]);
    return await this.crypto.ask("open", ALICE);
  }

  async flush(answer = (request: EngineRequest): JsonObject => this.#server.answer(ALICE, request)) {
    for (;;) {
      const requests = await this.crypto.ask("requests", undefined);
      if (requests.length === 0) return;
      for (const request of requests) {
        await this.crypto.ask("answer", { id: request.id, response: answer(request) });
      }
    }
  }

  async sync() {
    const { toDevice, state, encrypted, changed } = this.#server.mailbox(ALICE);
    const output = await this.crypto.ask("receiveSync", {
      nextBatch: "s",
      initial: false,
      handledBefore: true,
      toDevice: toDevice.splice(0),
      deviceLists: { changed: [...changed], left: [] },
      oneTimeKeyCounts: { signed_curve25519: this.#server.oneTimeKeys(ALICE) },
      unusedFallbackTypes: ["signed_curve25519"],
      state: [{ roomId: ROOM, events: state.splice(0), limited: false, lossy: false }],
      encrypted: encrypted.splice(0),
    });
    await this.flush();
    return output.decrypted.map((result) => "event" in result ? result.event.content.body : result.code);
  }

  async send(body: string, txnId: string) {
    const input = { roomId: ROOM, eventType: "m.room.message", content: { body }, txnId };
    const tolerate = { keysQuery: false, keysClaim: false };
    for (let round = 0; round < 20; round++) {
      const encrypted = await this.crypto.ask("encrypt", input);
      if (encrypted !== undefined) return this.#server.publish(ALICE, encrypted.content, txnId);
      const { needs } = await this.crypto.ask("prepare", { roomId: ROOM, tolerate });
      if (needs === "room") {
        await this.crypto.ask("describeRoom", {
          roomId: ROOM,
          encryption: ENCRYPTION,
          historyVisibility: undefined,
          members: [ALICE, BOB].map(({ userId }) => ({ userId, membership: "join" })),
        });
      }
      await this.flush();
    }
    throw new TypeError("The room never gets ready");
  }

  async [Symbol.asyncDispose]() {
    await this.crypto.stop();
    this.#worker.terminate();
    await this.#store.stop();
  }
}

/** Alice, in a Worker, and Bob, in this thread, in a room. */
async function stage() {
  const server = new EngineServer();
  const kv = new MemoryStore();
  server.mailbox(ALICE).state.push(stateEvent("m.room.encryption", ENCRYPTION));
  server.members.add(ALICE.userId);
  const bob = await Bot.open(server, BOB);
  return { server, kv, bob };
}

Deno.test("The Crypto actor holds a conversation in a Worker, with its store in another thread, over a restart", async () => {
  const { server, kv, bob } = await stage();
  await using alice = new InWorker(server, kv);
  const identity = await alice.open();
  await alice.flush();
  assertEquals(server.keys.get(ALICE.userId)?.get("ALICE"), identity.deviceKeys);
  await alice.sync();
  const one = await alice.send("one", "txn1");
  await bob.sync();
  assertEquals(bob.outcome(one), "text: one");
  await bob.send("two");
  assertEquals(await alice.sync(), ["one", "two"]);
  const again = await alice.crypto.ask("decrypt", one);
  assert("event" in again && again.event.content.body === "one");
  assertEquals(again.encryption.sessionId, one.content.session_id);
  await alice.crypto.stop();

  await using later = new InWorker(server, kv);
  assertEquals(await later.open(), identity);
  await later.flush();
  const three = await later.send("three", "txn2");
  assertEquals(three.content.session_id, one.content.session_id);
  await bob.sync();
  assertEquals(bob.outcome(three), "text: three");
  assertEquals(await later.sync(), ["three"]);
});

Deno.test("What the Crypto actor throws in a Worker is here what it was there", async () => {
  const { server, kv } = await stage();
  await using alice = new InWorker(server, kv);
  const early = await assertRejects(() => alice.crypto.ask("discardGroupSession", ROOM), EncryptionError);
  assertEquals(early.code, "ENCRYPTION_ERROR");
  await alice.open();
  await alice.flush();
  await alice.sync();
  await alice.send("one", "txn");
  const long = { roomId: ROOM, eventType: "m.room.message", content: { body: "x".repeat(70_000) } };
  await assertRejects(() => alice.crypto.ask("encrypt", long), EventTooLargeError);
  const nobody = { userId: "@nobody:example.org", deviceId: "X", ed25519: "", trust: "verified" } as const;
  await assertRejects(() => alice.crypto.ask("setDeviceTrust", nobody), ValueError, "no such device");
  await alice.crypto.ask("receiveSync", {
    nextBatch: "s2",
    initial: false,
    handledBefore: true,
    toDevice: [],
    deviceLists: { changed: [ALICE.userId], left: [] },
    oneTimeKeyCounts: { signed_curve25519: 50 },
    unusedFallbackTypes: undefined,
    state: [],
    encrypted: [],
  });
  const shown = structuredClone(server.keys.get(ALICE.userId)?.get("ALICE"));
  assert(shown !== undefined);
  shown.keys["ed25519:ALICE"] = shown.keys["curve25519:ALICE"] ?? "";
  const answer = () => ({ device_keys: { [ALICE.userId]: { ALICE: shown } } });
  const error = await assertRejects(() => alice.flush(answer), DeviceConflictError, "log in anew");
  assertEquals(error.code, "DEVICE_CONFLICT");
});

Deno.test("A store that fails ends the Crypto actor's work in a Worker with what went wrong", async () => {
  const { server } = await stage();
  const kv = new MemoryStore();
  kv.commit = () => Promise.reject(new TypeError("The disk is gone"));
  const alice = new InWorker(server, kv);
  const error = await assertRejects(() => alice.open(), Error);
  assert(Deno.inspect(error).includes("The disk is gone"), Deno.inspect(error));
  await alice.crypto.stop();
  await alice[Symbol.asyncDispose]().catch(() => {}); // the store has failed
});
