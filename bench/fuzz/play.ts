/**
 * One client's life with a hostile server: after each response it has to be as it was, and to
 * receive the next good message.
 *
 * @module
 */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { Bot } from "./bot.ts";
import { Cast } from "./cast.ts";
import { FuzzClock } from "./fuzz_clock.ts";
import { GoodNews } from "./good_news.ts";
import { isJsonObject } from "../../src/types/json.ts";
import { inputAt, type Making, parsed, randomFor } from "./input.ts";
import { ROOMS } from "./room_grammar.ts";
import { FuzzServer, type Served } from "./server.ts";
import { FuzzPlace, type FuzzStore } from "./store_kinds.ts";
import { Watch } from "./watch.ts";

/** What is played. */
export interface PlayOptions {
  readonly store: FuzzStore;
  readonly seed: number;
  /** How many responses there are. */
  readonly count: number;
  /** Which of them are given. Default: all. */
  readonly only?: ReadonlySet<number>;
  /** What is given in the place of one. Default: itself. */
  readonly edit?: (index: number, bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;
}

/** What went wrong. */
export interface Fault {
  /**
   * The responses after which it did, by their numbers; where there are several, they were on their
   * way together.
   */
  readonly responses: ReadonlyMap<number, Uint8Array<ArrayBuffer>>;
  readonly reasons: readonly string[];
}

/** What came of it. */
export interface Played {
  /** How many responses were given, by how they were made. */
  readonly counts: ReadonlyMap<Making, number>;
  /** What the client logged, and how often. */
  readonly logged: ReadonlyMap<string, number>;
  /** What it asked beside, by kind. */
  readonly requests: ReadonlyMap<string, number>;
  /** How often it was ended and made anew. */
  readonly lives: number;
  /** How many bytes the store had in the end. */
  readonly size: number;
  readonly fault: Fault | undefined;
}

/** After so many responses the client is closed, and another made with the store. */
const LIFE = 250;
/** How many may be on their way together. */
const MOST_TOGETHER = 8;
/**
 * How often a response may be asked for: once more after each failure, but then it has to go on.
 */
const TRIES = 4;
const MINUTE = 60_000;

const vodozemac = await Vodozemac.load();
const people = Cast.people(vodozemac);

/** Plays. */
export async function play(options: PlayOptions): Promise<Played> {
  await using place = await FuzzPlace.make(options.store);
  using cast = new Cast(vodozemac, people);
  const player = new Player(options, place, cast);
  const fault = await player.play();
  const { counts, logged, lives, requests } = player;
  return { counts, logged, requests, lives, fault, size: await place.size() };
}

class Player {
  readonly counts = new Map<Making, number>();
  readonly logged = new Map<string, number>();
  lives = 0;
  readonly #options: PlayOptions;
  readonly #place: FuzzPlace;
  readonly #cast: Cast;
  readonly #clock = new FuzzClock(Date.UTC(2026, 8, 1));
  readonly #server: FuzzServer;
  readonly #news: GoodNews;
  #tokens = 0;
  /** What the client asks with. */
  #position = "";

  constructor(options: PlayOptions, place: FuzzPlace, cast: Cast) {
    this.#options = options;
    this.#place = place;
    this.#cast = cast;
    this.#server = new FuzzServer({ seed: options.seed, index: -1, cast });
    this.#news = new GoodNews(cast);
  }

  get requests(): ReadonlyMap<string, number> {
    return this.#server.requests;
  }

  async play(): Promise<Fault | undefined> {
    for (let from = 0; from < this.#options.count; from += LIFE) {
      const fault = await this.#live(from, Math.min(from + LIFE, this.#options.count));
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /** One client, from its start to its end. */
  async #live(from: number, to: number): Promise<Fault | undefined> {
    const store = await this.#place.open();
    const watch = new Watch(this.#clock, this.#server);
    const [server, clock, life] = [this.#server, this.#clock, this.lives++];
    const bot = new Bot({ server, store, clock, life });
    watch.begin(bot);
    let last: Fault["responses"] = new Map();
    try {
      await this.#receives(bot, watch, []);
      for (let index = from; index < to && bot.faults.length === 0;) {
        const count = 1 + randomFor({ seed: this.#options.seed, index }, 3).below(MOST_TOGETHER);
        const end = Math.min(index + count, to);
        last = await this.#volley(bot, watch, { index, end });
        index = end;
      }
      if (bot.faults.length === 0) {
        await bot.look(ROOMS);
        await bot.close();
      }
    } finally {
      watch.end();
      for (const [message, count] of bot.logged) {
        this.logged.set(message, (this.logged.get(message) ?? 0) + count);
      }
      await bot.close().catch(() => {}); // what failed has been told
      await store.close();
    }
    return bot.faults.length === 0 ? undefined : { responses: last, reasons: bot.faults };
  }

  /** Some responses, and a good one behind them. */
  async #volley(
    bot: Bot,
    watch: Watch,
    { index: from, end }: { readonly index: number; readonly end: number },
  ): Promise<Fault["responses"]> {
    const { seed, only, edit } = this.#options;
    const given = new Map<number, Uint8Array<ArrayBuffer>>();
    const served: Served[] = [];
    let since = this.#position;
    for (let index = from; index < end; index++) {
      const place = { seed, index, cast: this.#cast };
      const input = inputAt(place, this.#nextToken());
      const bytes = edit?.(index, input.bytes) ?? input.bytes;
      const next = tokenOf(bytes, since);
      // One that leads back would have the client go round in circles, as it is told to.
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

  /** Gives responses and a good one behind them, and waits until that is heard. */
  async #receives(bot: Bot, watch: Watch, before: readonly Served[]): Promise<void> {
    const good = this.#news.tell(this.#nextToken());
    this.#server.serve(...before, good);
    await watch.until(() => this.#cast.isPublished && good.texts.every((text) => bot.heard.has(text)));
    bot.heard.clear();
    this.#position = good.next;
  }

  #nextToken(): string {
    return `s${++this.#tokens}`;
  }
}

/** What `sync()` refuses the whole response for, if it is there and no object. */
const SECTIONS = [
  ...["rooms", "presence", "account_data", "to_device", "device_lists", "device_one_time_keys_count"],
] as const;

/**
 * What the client asks with after a response, if that is one at all: its sections are some, and it
 * says where to go on, which is not where the client was.
 */
function tokenOf(bytes: Uint8Array, since: string): string | undefined {
  const response = parsed(bytes);
  if (!isJsonObject(response)) return undefined;
  const { next_batch: next } = response;
  if (typeof next !== "string" || next === since) return undefined;
  const isWhole = SECTIONS.every((name) => response[name] === undefined || isJsonObject(response[name]));
  return isWhole ? next.toWellFormed() : undefined;
}
