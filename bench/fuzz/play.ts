/**
 * A client with a hostile server: after each response it has to be as it was, and to receive the
 * next valid message.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { Bot } from "./bot.ts";
import { Senders } from "./senders.ts";
import { FuzzClock } from "./fuzz_clock.ts";
import { ValidResponses } from "./valid_responses.ts";
import { isJsonObject } from "../../src/types/json.ts";
import { inputAt, type Making, parsed, randomFor } from "./input.ts";
import { ROOMS } from "./room_grammar.ts";
import { FuzzServer, type Served } from "./server.ts";
import { FuzzPlace, type FuzzStore } from "./store_kinds.ts";
import { Watch } from "./watch.ts";

/** Options of {@link play}. */
export interface PlayOptions {
  readonly store: FuzzStore;
  readonly seed: number;
  /** How many responses there are. */
  readonly count: number;
  /** Which of them are served. Default: all. */
  readonly only?: ReadonlySet<number>;
  /** Replaces a response. Default: no replacement. */
  readonly edit?: (index: number, bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;
}

/** What went wrong. */
export interface Fault {
  /**
   * The responses before it, by their numbers; several were served together.
   */
  readonly responses: ReadonlyMap<number, Uint8Array<ArrayBuffer>>;
  readonly reasons: readonly string[];
}

/** The result. */
export interface Played {
  /** How many responses were served, by how they were made. */
  readonly counts: ReadonlyMap<Making, number>;
  /** The messages that the client logged, and how often. */
  readonly logged: ReadonlyMap<string, number>;
  /** Its other requests, by kind. */
  readonly requests: ReadonlyMap<string, number>;
  /** How many clients there were, one after the other. */
  readonly clients: number;
  /** How many bytes the store had in the end. */
  readonly size: number;
  readonly fault: Fault | undefined;
}

/** After so many responses the client is closed, and another made with the store. */
const RESPONSES_PER_CLIENT = 250;
/** How many may be served together. */
const MOST_TOGETHER = 8;
/**
 * How often a response may be requested: again after each failure, up to this bound.
 */
const TRIES = 4;
const MINUTE = 60_000;

const vodozemac = await Vodozemac.load();
const people = Senders.people(vodozemac);

/** Serves hostile responses to clients. */
export async function play(options: PlayOptions): Promise<Played> {
  await using place = await FuzzPlace.make(options.store);
  using senders = new Senders(vodozemac, people);
  const player = new Player(options, place, senders);
  const fault = await player.play();
  const { counts, logged, clients, requests } = player;
  return { counts, logged, requests, clients, fault, size: await place.size() };
}

class Player {
  readonly counts = new Map<Making, number>();
  readonly logged = new Map<string, number>();
  clients = 0;
  readonly #options: PlayOptions;
  readonly #place: FuzzPlace;
  readonly #senders: Senders;
  readonly #clock = new FuzzClock(Date.UTC(2026, 8, 1));
  readonly #server: FuzzServer;
  readonly #valid: ValidResponses;
  #tokens = 0;
  /** The token of the next request. */
  #position = "";

  constructor(options: PlayOptions, place: FuzzPlace, senders: Senders) {
    this.#options = options;
    this.#place = place;
    this.#senders = senders;
    this.#server = new FuzzServer({ seed: options.seed, index: -1, senders });
    this.#valid = new ValidResponses(senders);
  }

  get requests(): ReadonlyMap<string, number> {
    return this.#server.requests;
  }

  async play(): Promise<Fault | undefined> {
    for (let from = 0; from < this.#options.count; from += RESPONSES_PER_CLIENT) {
      const fault = await this.#runClient(from, Math.min(from + RESPONSES_PER_CLIENT, this.#options.count));
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** One client, from its start to its end. */
  async #runClient(from: number, to: number): Promise<Fault | undefined> {
    const store = await this.#place.open();
    const watch = new Watch(this.#clock, this.#server);
    const [server, clock, number] = [this.#server, this.#clock, this.clients++];
    const bot = new Bot({ server, store, clock, number });
    watch.begin(bot);
    let last: Fault["responses"] = new Map();
    try {
      await this.#receives(bot, watch, []);
      for (let index = from; index < to && bot.faults.length === 0;) {
        const count = 1 + randomFor({ seed: this.#options.seed, index }, 3).below(MOST_TOGETHER);
        const end = Math.min(index + count, to);
        last = await this.#group(bot, watch, { index, end });
        index = end;
      }
      if (bot.faults.length === 0) {
        await bot.readRooms(ROOMS);
        await bot.close();
      }
    } finally {
      watch.end();
      for (const [message, count] of bot.logged) {
        this.logged.set(message, (this.logged.get(message) ?? 0) + count);
      }
      await bot.close().catch(() => {}); // a fault was recorded
      await store.close();
    }
    return bot.faults.length === 0 ? undefined : { responses: last, reasons: bot.faults };
  }

  /** Serves some responses, and a valid one after them. */
  async #group(
    bot: Bot,
    watch: Watch,
    { index: from, end }: { readonly index: number; readonly end: number },
  ): Promise<Fault["responses"]> {
    const { seed, only, edit } = this.#options;
    const given = new Map<number, Uint8Array<ArrayBuffer>>();
    const served: Served[] = [];
    let since = this.#position;
    for (let index = from; index < end; index++) {
      const place = { seed, index, senders: this.#senders };
      const input = inputAt(place, this.#nextToken());
      const bytes = edit?.(index, input.bytes) ?? input.bytes;
      const next = tokenOf(bytes, since);
      // A token that leads back would make the client request the same responses forever.
      const isBack = served.some((earlier) => earlier.since === next);
      if (only?.has(index) === false || isBack) continue;
      given.set(index, bytes);
      this.counts.set(input.making, (this.counts.get(input.making) ?? 0) + 1);
      this.#server.moveTo(place);
      served.push({ since, next, bytes, most: next === undefined ? 1 : TRIES, count: 0 });
      since = next ?? since;
    }
    if (served.length === 0) return given;
    await this.#receives(bot, watch, served);
    if (served.some(({ next, count }) => next !== undefined && count === TRIES)) {
      bot.fault("the sync", "it never gets past the response");
    }
    this.#clock.advance(MINUTE);
    return given;
  }

  /** Serves responses and a valid one after them, and waits until that is received. */
  async #receives(bot: Bot, watch: Watch, before: readonly Served[]): Promise<void> {
    const good = this.#valid.make(this.#nextToken());
    this.#server.serve(...before, good);
    await watch.until(() => this.#senders.isPublished && good.texts.every((text) => bot.received.has(text)));
    bot.received.clear();
    this.#position = good.next;
  }

  #nextToken(): string {
    return `s${++this.#tokens}`;
  }
}

/** Sections that make `sync()` refuse the whole response if they are not objects. */
const SECTIONS = [
  ...["rooms", "presence", "account_data", "to_device", "device_lists", "device_one_time_keys_count"],
] as const;

/**
 * The token of the request after a response, if the response is valid: its sections are objects,
 * and it has another token than the request before.
 */
function tokenOf(bytes: Uint8Array, since: string): string | undefined {
  const response = parsed(bytes);
  if (!isJsonObject(response)) return undefined;
  const { next_batch: next } = response;
  if (typeof next !== "string" || next === since) return undefined;
  const isWhole = SECTIONS.every((name) => response[name] === undefined || isJsonObject(response[name]));
  return isWhole ? next.toWellFormed() : undefined;
}
