/**
 * Two users who are never interrupted, and what stands between them and the bots that are.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { MessageEvent, RoomID, UserID } from "@greenroom/matrix/types";
import { type ClientStage, clientStage } from "./stage.ts";

/** What a bystander has read. */
export interface Reading {
  readonly event: MessageEvent;
  readonly body: string;
}

/** A user who is never interrupted. */
export interface Bystander {
  readonly client: Client;
  /** By room, the messages that could be read, each time one was delivered. */
  readonly readings: ReadonlyMap<RoomID, Reading[]>;
  /** By room, what could not be read. */
  readonly unread: ReadonlyMap<RoomID, string[]>;
}

/** Where days are played, several at once: what they share is set up once. */
export class Theatre implements AsyncDisposable {
  readonly stage: ClientStage;
  readonly bob: Bystander;
  readonly carol: Bystander;
  /** By user, the one-time keys that have been given out. */
  readonly claimed = new Map<string, Set<string>>();
  /** By user, the messages to their devices that do not arrive for now. */
  readonly #held = new Map<UserID, Request[]>();
  readonly #usher: Client;
  #turn: Promise<void> | undefined;

  private constructor() {
    this.stage = clientStage({ requestLogSize: 100_000 });
    this.#usher = this.stage.client("usher");
    this.bob = this.#bystander("bob");
    this.carol = this.#bystander("carol");
  }

  static async open(): Promise<Theatre> {
    const theatre = new Theatre();
    await theatre.stage.settle();
    return theatre;
  }

  /** Lets what is ready run; all who ask at the same time share it. */
  turn(): Promise<void> {
    return this.#turn ??= this.stage.clock.tick(0).then(() => {
      this.#turn = undefined;
    });
  }

  /** Has messages to a user's devices not arrive, though their senders are told so. */
  hold(userId: UserID): void {
    this.#held.set(userId, []);
  }

  /** Has arrive what was held. */
  async release(userId: UserID): Promise<number> {
    const held = this.#held.get(userId) ?? [];
    this.#held.delete(userId);
    for (const request of held) await (await this.stage.homeserver.fetch(request)).body?.cancel();
    return held.length;
  }

  /** Has the homeserver answer a user's sync, as it would when it has waited for long enough: its own clock stands still. */
  async nudge(userId: UserID): Promise<void> {
    await this.#usher.sendToDevice("org.example.nudge", { [userId]: { "*": {} } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
  }

  #bystander(name: string): Bystander {
    const client = this.stage.client(name, { encryption: true, fetch: this.#fetch });
    const readings = new Map<RoomID, Reading[]>();
    const unread = new Map<RoomID, string[]>();
    client.on("m.room.message", (event) => {
      readings.getOrInsertComputed(event.room_id, () => []).push({ event, body: String(event.content.body) });
    });
    client.on("UNDECRYPTABLE", ({ event, reason }) => {
      unread.getOrInsertComputed(event.room_id, () => []).push(`${event.event_id}: ${reason.message}`);
    });
    client.start();
    return { client, readings, unread };
  }

  readonly #fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const { homeserver } = this.stage;
    if (pathname.includes("/sendToDevice/") && this.#held.size > 0) {
      const body = await request.clone().text();
      const { messages } = JSON.parse(body);
      for (const [userId, held] of this.#held) {
        if (!(userId in messages)) continue;
        const { url, method, headers } = request; // without its signal: for its sender it is over
        held.push(new Request(url, { method, headers, body }));
        return Response.json({});
      }
    }
    const response = await homeserver.fetch(request);
    if (!pathname.endsWith("/keys/claim") || !response.ok) return response;
    const answer = await response.json();
    this.#noteClaim(answer.one_time_keys);
    return Response.json(answer);
  };

  #noteClaim(keys: Record<string, Record<string, Record<string, unknown>>>): void {
    for (const [userId, devices] of Object.entries(keys)) {
      const names = this.claimed.getOrInsertComputed(userId, () => new Set());
      for (const device of Object.values(devices)) Object.keys(device).forEach((name) => names.add(name));
    }
  }
}
