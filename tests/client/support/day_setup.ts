/**
 * The homeserver of scripted days, with two users whose processes never crash.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { MessageEvent, RoomID, UserID } from "@greenroom/matrix/types";
import { type ClientStage, clientStage } from "./stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** A message that a {@link Peer} has decrypted. */
export interface ReceivedMessage {
  readonly event: MessageEvent;
  readonly body: string;
}

/** A user whose process never crashes. */
export interface Peer {
  readonly client: Client;
  /** By room, the messages that it has received, once per delivery. */
  readonly received: ReadonlyMap<RoomID, ReceivedMessage[]>;
  /** By room, the events that it could not decrypt, with the reason. */
  readonly undecryptable: ReadonlyMap<RoomID, string[]>;
}

/** The homeserver and the two users, shared by all days that run at the same time. */
export class DaySetup implements AsyncDisposable {
  readonly stage: ClientStage;
  readonly bob: Peer;
  readonly carol: Peer;
  /** By user, the one-time keys that the server has handed out. */
  readonly claimed = new Map<string, Set<string>>();
  /** By user, the to-device messages that are withheld for now. */
  readonly #withheld = new Map<UserID, Request[]>();
  readonly #nudger: Client;
  #turn: Promise<void> | undefined;

  private constructor() {
    this.stage = clientStage({ requestLogSize: 100_000 });
    this.#nudger = this.stage.client("nudger");
    this.bob = this.#peer("bob");
    this.carol = this.#peer("carol");
  }

  static async open(): Promise<DaySetup> {
    const setup = new DaySetup();
    await setup.stage.settle();
    return setup;
  }

  /** Runs what is ready to run. Concurrent calls share one turn. */
  turn(): Promise<void> {
    return this.#turn ??= this.stage.clock.tick(0).then(() => {
      this.#turn = undefined;
    });
  }

  /** Withholds to-device messages to a user, while their senders get a success. */
  withhold(userId: UserID): void {
    this.#withheld.set(userId, []);
  }

  /** Delivers the messages that were withheld from a user. */
  async release(userId: UserID): Promise<void> {
    const requests = this.#withheld.get(userId) ?? [];
    this.#withheld.delete(userId);
    for (const request of requests) await (await this.stage.homeserver.fetch(request)).body?.cancel();
  }

  /** Makes the homeserver answer a user's sync, as its timeout would: its own clock stands still. */
  async nudge(userId: UserID): Promise<void> {
    await this.#nudger.sendToDevice("org.example.nudge", { [userId]: { "*": {} } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stage[Symbol.asyncDispose]();
  }

  #peer(name: string): Peer {
    const client = this.stage.client(name, { encryption: EVERYBODY, fetch: this.#fetch });
    const received = new Map<RoomID, ReceivedMessage[]>();
    const undecryptable = new Map<RoomID, string[]>();
    client.on("m.room.message", (event) => {
      received.getOrInsertComputed(event.room_id, () => []).push({ event, body: String(event.content.body) });
    });
    client.on("UNDECRYPTABLE", ({ event: { room_id, event_id }, reason }) => {
      undecryptable.getOrInsertComputed(room_id, () => []).push(`${event_id}: ${reason.message}`);
    });
    client.start();
    return { client, received, undecryptable };
  }

  readonly #fetch: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const { homeserver } = this.stage;
    if (pathname.includes("/sendToDevice/") && this.#withheld.size > 0) {
      const body = await request.clone().text();
      const { messages } = JSON.parse(body);
      for (const [userId, requests] of this.#withheld) {
        if (!(userId in messages)) continue;
        const { url, method, headers } = request; // without its signal: the sender's request is over
        requests.push(new Request(url, { method, headers, body }));
        return Response.json({});
      }
    }
    const response = await homeserver.fetch(request);
    if (!pathname.endsWith("/keys/claim") || !response.ok) return response;
    const answer = await response.json();
    this.#recordClaim(answer.one_time_keys);
    return Response.json(answer);
  };

  #recordClaim(keys: Record<string, Record<string, Record<string, unknown>>>): void {
    for (const [userId, devices] of Object.entries(keys)) {
      const names = this.claimed.getOrInsertComputed(userId, () => new Set());
      for (const device of Object.values(devices)) Object.keys(device).forEach((name) => names.add(name));
    }
  }
}
