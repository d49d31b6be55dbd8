/**
 * The client under test: encryption, handlers of all kinds, and the detection of faults.
 *
 * @module
 */

import { Client, type ClientOptions, defineSession, type Logger, type Store } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import type { FuzzClock } from "./fuzz_clock.ts";
import type { FuzzServer } from "./server.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

/** Options of {@link Bot}. */
export interface BotOptions {
  readonly server: Pick<FuzzServer, "fetch">;
  readonly store: Store;
  readonly clock: FuzzClock;
  /** How many clients with this store there were before. */
  readonly number: number;
  /** How it syncs. Default: by the classic sync. */
  readonly sync?: ClientOptions["sync"];
}

/** Errors of code that relied on a wrong type. */
const CARELESS = /\b(TypeError|RangeError|ReferenceError|SyntaxError|AssertionError)\b/;
/** The type of events that say in `note` what is received. */
export const NOTE = "org.example.heard";
const counter = defineSession({ name: "counter", per: "member", initial: () => ({ received: 0 }) });

/** A client whose handlers rely on the types. */
export class Bot {
  readonly client: Client;
  /** The texts of messages that reached a handler. */
  readonly received = new Set<string>();
  /** The faults that were found. */
  readonly faults: string[] = [];
  /** What was logged as a warning or an error, and how often. */
  readonly logged = new Map<string, number>();
  /**
   * Called when a message is received, a fault is found, or the condition has to be checked again.
   */
  wake: () => void = () => {};

  /** Makes it, and starts it. */
  constructor({ server, store, clock, number, sync }: BotOptions) {
    this.client = new Client({
      baseUrl: "https://example.org",
      accessToken: "token",
      fetch: server.fetch,
      store,
      clock,
      log: this.#logger(),
      encryption: EVERYBODY,
      sync,
    });
    this.#addHandlers(number, clock);
    this.client.done.catch((error) => this.fault("the client ended", error));
    this.client.start({ fillGaps: 50 });
  }

  /** Resolves at the next call of `wake`. */
  next(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.wake = resolve;
    return promise;
  }

  /** Reads what applications read of rooms. */
  async readRooms(rooms: readonly string[]): Promise<void> {
    const { stateStore } = this.client;
    for (const roomId of rooms as readonly RoomID[]) {
      for (
        const read of [
          stateStore.getMembers(roomId),
          stateStore.getEncryptionInfo(roomId),
          stateStore.getState(roomId, "m.room.name"),
        ]
      ) {
        await Promise.resolve(read).catch((error: unknown) => this.fault("reading state", error));
      }
    }
  }

  /** Closes it as programs do. */
  async close(): Promise<void> {
    await this.client.close();
    await this.client.syncingTask?.catch((error) => this.fault("the sync ended", error));
  }

  #addHandlers(number: number, clock: FuzzClock): void {
    const { client } = this;
    const receive = (text: string): void => {
      this.received.add(text);
      this.wake();
    };
    client.on("m.room.message", ({ content: { body, msgtype } }) => {
      receive(body.concat(msgtype.slice(99)));
    }, { redacted: false, waitSync: number % 3 === 2 });
    client.on(
      "m.room.message",
      (event, { session }) => void (session.received += event.content.body.length),
      {
        session: counter,
      },
    );
    client.on("m.room.encrypted", ({ content }) => void content.algorithm.length, { sequential: true });
    client.on(
      "m.room.member",
      ({ content, state_key }) => void (state_key.length + content.membership.length),
      {
        history: true,
        redacted: false,
      },
    );
    client.on("m.room.message", async (event) => {
      if (event.origin_server_ts % 7 === 0) await client.sendText(event.room_id, "yes");
    }, { name: "answering" });
    client.on("m.reaction", ({ content }) => void content["m.relates_to"]?.event_id.length);
    client.on("m.room.power_levels", ({ content }) => void Object.keys(content.users ?? {}).length);
    client.on(
      "m.receipt",
      ({ content }) => void Object.values(content).map((receipts) => Object.keys(receipts)),
    );
    client.on("INVITE", (event) => void event.room_id.length);
    client.on("UNDECRYPTABLE", ({ event, reason }) => void (event.event_id.length + reason.message.length));
    client.on("DEVICE_LISTS", ({ changed, left }) => void (changed.length + left.length));
    client.on("SYNC_ERRORED", ({ sleepFor }) => setImmediate(() => clock.advance(sleepFor + 1)));
    client.on("HANDLER_ERROR", ({ error }) => this.#careless("a handler", error));
    client.on((event) => {
      void (event.type.length + JSON.stringify(event.content).length);
      const { type, content: { note } } = event as { type: string; content: { note?: unknown } };
      if (type === NOTE && typeof note === "string") receive(note);
    });
  }

  #logger(): Logger {
    const note = (message: string, data: Record<string, unknown> = {}): void => {
      this.logged.set(message, (this.logged.get(message) ?? 0) + 1);
      this.#careless(message, data.error);
    };
    return { debug() {}, info() {}, warn: note, error: note };
  }

  #careless(where: string, error: unknown): void {
    if (CARELESS.test(String(error))) this.fault(where, error);
  }

  /** Records a fault. */
  fault(where: string, error: unknown): void {
    this.faults.push(`${where}: ${stackOf(error)}`);
    this.wake();
  }
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error}${cause}`;
}
