/**
 * A bot that is shown something bad in a sync response, and goes on or does not.
 *
 * @module
 */

import { Client, MemoryStore, SealedStore, type Store } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { Homeserver } from "@greenroom/matrix/testing";
import { recordingLogger } from "../../actors/kernel/support.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** What bots keep everything in, in memory. */
export const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  MemoryStore: () => Promise.resolve(new MemoryStore()),
  KvStore: () => KvStore.open(":memory:"),
  SqliteStore: () => SqliteStore.open(":memory:"),
  "SealedStore over a KvStore": async () =>
    await SealedStore.open(await KvStore.open(":memory:"), new Uint8Array(32).fill(7)),
};

/** The body of a sync response, to be changed in place. */
// deno-lint-ignore no-explicit-any -- it is made worse, not read
export type SyncBody = any;

/** A bot in a room with Alice, and a server that can be made to show it anything. */
export interface Victim extends AsyncDisposable {
  /** The room, in clear. */
  readonly roomId: RoomID;
  /** Where it lives; its users can be members of other rooms. */
  readonly homeserver: Homeserver;
  /** Who talks to it. */
  readonly alice: Client;
  /** What the bot has logged. */
  readonly log: ReturnType<typeof recordingLogger>;
  /**
   * Starts the bot, has Alice say something, and stops the bot when it has heard that.
   *
   * @param poison Changes each response to the request that is made first, however often that is made.
   * @param work What the bot does before that.
   * @returns What it has heard.
   * @throws What the bot has ended with, if it does not hear what Alice says last.
   */
  live(
    text: string,
    poison?: (body: SyncBody) => void,
    work?: (client: Client) => Promise<unknown>,
  ): Promise<string[]>;
  /** A client of a new user, or of another device of one; its device has encryption. */
  client(localpart: string, deviceId: string): Client;
}

/** Makes the bot. */
export async function victim(store: Store): Promise<Victim> {
  const errors: unknown[] = [];
  const homeserver = new Homeserver({ onError: (error) => errors.push(error) });
  const log = recordingLogger();
  const { baseUrl } = homeserver;
  const bot = homeserver.createUser("bot", { deviceId: "BOT" });
  const alice = new Client({
    baseUrl,
    fetch: homeserver.fetch,
    accessToken: homeserver.createUser("alice").accessToken,
  });
  const roomId = await alice.createRoom({ preset: "public_chat" });
  await new Client({ baseUrl, fetch: homeserver.fetch, accessToken: bot.accessToken }).joinRoom(roomId);

  const live: Victim["live"] = async (text, poison, work) => {
    let first: string | undefined;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const response = await homeserver.fetch(request);
      const url = new URL(request.url);
      if (poison === undefined || !response.ok || !url.pathname.endsWith("/sync")) return response;
      const since = url.searchParams.get("since") ?? "";
      first ??= since;
      const body = await response.json();
      if (since === first) poison(body);
      return new Response(stringify(body), { headers: { "content-type": "application/json" } });
    };
    await using client = new Client({
      baseUrl,
      fetch,
      accessToken: bot.accessToken,
      store,
      encryption: EVERYBODY,
      log,
    });
    const bodies: string[] = [];
    const heard = Promise.withResolvers<void>();
    client.on("m.room.message", ({ content: { body } }) => {
      bodies.push(body);
      if (body === text) heard.resolve();
    });
    const done = client.start();
    await Promise.race([work?.(client), done]);
    await alice.sendText(roomId, text);
    await Promise.race([heard.promise, done]);
    await client.stop();
    await done;
    return bodies;
  };
  const clients = [alice];
  return {
    roomId,
    homeserver,
    alice,
    log,
    live,
    client(localpart, deviceId) {
      const { accessToken } = homeserver.createUser(localpart, { deviceId });
      const client = new Client({
        baseUrl,
        fetch: homeserver.fetch,
        accessToken,
        encryption: EVERYBODY,
        log,
      });
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(clients.map((client) => client.close()));
      await homeserver[Symbol.asyncDispose]();
      await store.close();
      if (errors.length > 0) throw new AggregateError(errors, "The homeserver failed inside");
    },
  };
}

/**
 * JSON that is nested deeply, which `JSON.stringify()` can't write at any depth: a place for it is marked.
 */
export class Nested {
  readonly levels: number;

  constructor(levels: number) {
    this.levels = levels;
  }

  toJSON(): string {
    return `nested ${this.levels}`;
  }
}

function stringify(body: unknown): string {
  return JSON.stringify(body).replaceAll(
    /"nested (\d+)"/g,
    (_, levels: string) => `${'{"a":'.repeat(Number(levels))}1${"}".repeat(Number(levels))}`,
  );
}
