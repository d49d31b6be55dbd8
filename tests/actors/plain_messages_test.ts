/**
 * Bodies of messages, and replies, are plain data, as a structured clone carries it. What does not
 * hold of a kind does not compile.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { CryptoHandlers } from "../../src/actors/crypto/crypto.ts";
import type { DispatcherHandlers } from "../../src/actors/dispatcher/dispatcher.ts";
import type { Body, Handler, Kind, Reply } from "../../src/actors/kernel/actor.ts";
import { Channel } from "../../src/actors/kernel/mod.ts";
import type { StoreHandlers } from "../../src/actors/store/mod.ts";
import type { SyncerHandlers } from "../../src/actors/syncer/syncer.ts";
import { Client, MemoryStore } from "@greenroom/matrix";
import { Homeserver } from "@greenroom/matrix/testing";

type Value = string | number | bigint | boolean | null | undefined | Error | Uint8Array;
type Depth = readonly unknown[];

/** What of a type no clone carries: functions, symbols, and objects with methods. */
type Uncloneable<T, D extends Depth = []> = D["length"] extends 8 ? never
  : T extends Value ? never
  : T extends symbol | ((...args: never[]) => unknown) ? T
  : T extends ReadonlyMap<infer K, infer V> ? Uncloneable<K | V, [...D, 0]>
  : T extends ReadonlySet<infer V> ? Uncloneable<V, [...D, 0]>
  : T extends readonly (infer E)[] ? Uncloneable<E, [...D, 0]>
  : T extends object ? { [K in keyof T]-?: Uncloneable<T[K], [...D, 0]> }[keyof T]
  : never;

/** The kinds of message of which the body or the reply is not plain data. */
type NotPlain<H> = {
  [K in Kind<H>]: H[K] extends Handler
    ? [Uncloneable<Body<H[K]>> | Uncloneable<Reply<H[K]>>] extends [never] ? never : K
    : K;
}[Kind<H>];

type None<T> = [T] extends [never] ? true : T;

Deno.test("Every kind of message of every actor carries plain data, and is answered with it", () => {
  const store: None<NotPlain<StoreHandlers>> = true;
  const dispatcher: None<NotPlain<DispatcherHandlers>> = true;
  const syncer: None<NotPlain<SyncerHandlers>> = true;
  const crypto: None<NotPlain<CryptoHandlers>> = true;
  // @ts-expect-error a function is no plain data
  const _function: None<NotPlain<{ run(work: () => void): void }>> = true;
  // @ts-expect-error nor is what has methods, however deep
  const _deep: None<NotPlain<{ run(): { readonly parts: readonly { signal: AbortSignal }[] } }>> = true;
  assert(store && dispatcher && syncer && crypto);
});

Deno.test("What a client's actors are sent can be cloned", async () => {
  const kinds = new Set<string>();
  const failures: unknown[] = [];
  const { send } = Channel.prototype;
  Channel.prototype.send = function (
    this: Channel<unknown>,
    call: { readonly kind: string; readonly body: unknown },
  ) {
    kinds.add(call.kind);
    try {
      assertEquals(JSON.stringify(structuredClone(call.body)), JSON.stringify(call.body));
    } catch (error) {
      failures.push([call.kind, error]);
    }
    return send.call(this, call);
  };
  try {
    await using homeserver = new Homeserver();
    const { accessToken } = homeserver.createUser("bot");
    const { baseUrl, fetch } = homeserver;
    await using client = new Client({
      log: false,
      baseUrl,
      fetch,
      accessToken,
      encryption: true,
      store: new MemoryStore(),
    });
    client.on("m.room.message", () => {});
    const roomId = await client.createRoom({ preset: "private_chat" });
    await client.sendStateEvent(roomId, "m.room.encryption", { algorithm: "m.megolm.v1.aes-sha2" });
    await client.sendText(roomId, "Hello");
    const ended = client.start();
    await client.ready;
    await client.stop();
    await ended;
    await client.syncOnce();
  } finally {
    Channel.prototype.send = send;
  }
  assertEquals(failures, []);
  for (const kind of ["open", "commitSync", "dispatch", "handled", "run", "once", "receiveSync", "encrypt"]) {
    assert(kinds.has(kind), kind);
  }
});
