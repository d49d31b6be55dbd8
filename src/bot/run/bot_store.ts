/**
 * What a bot keeps by keys of its own.
 *
 * @module
 */

import { type Client, defineSession, ValueError } from "../../../mod.ts";
import { hintAt, type Hints } from "../../errors/hints.ts";
import type { BotSessions } from "./bot_sessions.ts";
import { currentRun } from "./run.ts";

/** The name of a value: a text, or texts and numbers from the general to the particular. */
export type BotStoreKey = string | readonly (string | number)[];

/** A value and its key. */
export interface BotStoreEntry<Value> {
  /** The parts of the key. */
  readonly key: readonly (string | number)[];
  /** A copy of what was set. */
  readonly value: Value;
}

/** A value as a session has it. */
interface Kept {
  value?: unknown;
}

const KEPT = defineSession<Kept>({ name: "bot.store", per: () => undefined, initial: () => ({}) });
/** What other libraries call members of such a store, and what to write here. */
const STORE_HINTS = {
  collection: "keys of more parts: bot.store.get([name, key]), bot.store.list(name)",
  namespace: "keys of more parts: bot.store.get([name, key]), bot.store.list(name)",
  entries: "bot.store.list(prefix)",
  keys: "bot.store.list(prefix), whose entries have a key",
  values: "bot.store.list(prefix), whose entries have a value",
  has: "await bot.store.get(key) !== undefined",
  put: "bot.store.set(key, value)",
  update: "bot.store.get(key), then bot.store.set(key, value): in a function nobody else comes in between",
  remove: "bot.store.delete(key)",
  value: "await bot.store.get(key) ?? initial",
} as const;

/** The longest key, as JSON: what a session may have. */
const MAX_KEY = 255;

/**
 * Values by keys, kept with the bot's sessions in its store, and with their guarantees.
 *
 * What a function sets and deletes is committed together with the record that the event was handled: a crash
 * repeats none of it, and a function that throws changes nothing. A key that a function has read or changed
 * is its own until it ends or asks, so that what it reads and then sets loses no change of another. Outside
 * of functions each call is a commit of its own.
 *
 * @example
 * ```ts
 * import type { Bot } from "@greenroom/matrix/bot";
 *
 * export function addNotes(bot: Bot): void {
 *   bot.command("note <name> <text...>", (c) => bot.store.set(["note", c.roomId, c.args.name], c.args.text));
 *   bot.command("notes", async (c) => {
 *     for await (const { key, value } of bot.store.list<string>(["note", c.roomId])) {
 *       await c.send(`${key[2]}: ${value}`, { format: "plain" });
 *     }
 *   });
 * }
 * ```
 */
export class BotStore {
  readonly #client: Client;
  readonly #sessions: BotSessions;

  /** @internal Made by bots. */
  constructor(client: Client, sessions: BotSessions) {
    this.#client = client;
    this.#sessions = sessions;
  }

  /**
   * Reads a value.
   *
   * @param key The key.
   * @returns A copy of what was set; undefined if there is nothing.
   * @throws {ValueError} If it is no key, or another function has it and waits for this one.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export const warningsOf = async (bot: Bot, userId: string): Promise<number> =>
   *   await bot.store.get<number>(["warnings", userId]) ?? 0;
   * ```
   */
  async get<Value = unknown>(key: BotStoreKey): Promise<Value | undefined> {
    const text = textOf(key);
    const run = currentRun(this.#sessions.bot);
    const kept = run === undefined
      ? await this.#client.sessions.read(KEPT, text)
      : await this.#sessions.take(run, KEPT, text);
    return structuredClone(kept?.value) as Value | undefined;
  }

  /**
   * Sets a value.
   *
   * @param key The key.
   * @param value Plain data, whatever structured clone can carry. `undefined` deletes what was there.
   * @throws {ValueError} If it is no key, or no plain data, or another function has the key and waits for
   *   this one.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addWarn(bot: Bot): void {
   *   bot.command("warn <user:user>", async (c) => {
   *     const count = (await bot.store.get<number>(["warnings", c.args.user]) ?? 0) + 1;
   *     await bot.store.set(["warnings", c.args.user], count);
   *     await c.reply(`${count} warnings`);
   *   });
   * }
   * ```
   */
  async set(key: BotStoreKey, value: unknown): Promise<void> {
    if (value === undefined) return await this.delete(key);
    const text = textOf(key);
    const copy = copyOf(value); // as it is now, whatever becomes of it before the commit
    const run = currentRun(this.#sessions.bot);
    if (run === undefined) {
      await this.#sessions.session(KEPT, text).update((kept) => void (kept.value = copy));
      return;
    }
    await run.begun.during(async () => { // to its end, awaited or not
      const kept = await this.#sessions.take(run, KEPT, text);
      kept.value = copy;
    });
  }

  /**
   * Deletes a value. Does nothing if there is none.
   *
   * @param key The key.
   * @throws {ValueError} If it is no key, or another function has it and waits for this one.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export function addForgive(bot: Bot): void {
   *   bot.command("forgive <user:user>", (c) => bot.store.delete(["warnings", c.args.user]));
   * }
   * ```
   */
  async delete(key: BotStoreKey): Promise<void> {
    const text = textOf(key);
    const run = currentRun(this.#sessions.bot);
    if (run === undefined) await this.#sessions.session(KEPT, text).end();
    else await run.begun.during(() => this.#sessions.end(run, KEPT, text));
  }

  /**
   * Lists the values below a key, without that of the key itself, as they are committed, and as the
   * function that asks has changed them. They are read as they are asked for, in the order of their keys as
   * texts; those that the function has changed come last. In a function that asks questions, put what it
   * comes to into `c.step()`.
   *
   * @param prefix The first parts of the keys. Default: none, all are listed.
   * @throws {ValueError} If it is no key.
   *
   * @example
   * ```ts
   * import type { Bot } from "@greenroom/matrix/bot";
   *
   * export async function total(bot: Bot): Promise<number> {
   *   let sum = 0;
   *   for await (const { value } of bot.store.list<number>(["warnings"])) sum += value;
   *   return sum;
   * }
   * ```
   */
  async *list<Value = unknown>(prefix: BotStoreKey = []): AsyncIterableIterator<BotStoreEntry<Value>> {
    const parts = partsOf(prefix);
    const start = parts.length === 0 ? "" : `${textOf(parts)},`;
    // A comma comes before a hyphen: what begins with it is between the two.
    const range = start === "" ? {} : { after: start, before: `${start.slice(0, -1)}-` };
    const run = currentRun(this.#sessions.bot);
    const own = run === undefined ? new Map<string, Kept | undefined>() : this.#sessions.taken(run, KEPT);
    for await (const { key, state: { value } } of this.#client.sessions.list(KEPT, range)) {
      if (value !== undefined && !own.has(String(key))) yield entryOf(String(key), value as Value);
    }
    for (const [text, kept] of own) {
      if (kept?.value === undefined || !text.startsWith(start)) continue;
      yield entryOf(text, structuredClone(kept.value) as Value);
    }
  }
}

hintAt(BotStore.prototype, "bot.store", STORE_HINTS);

/** @internal Names of other libraries, for the compiler. */
export interface BotStoreHints extends Hints<typeof STORE_HINTS> {}

/** What other libraries call it is refused with the name that it has here. */
export interface BotStore extends BotStoreHints {}

function partsOf(key: BotStoreKey): readonly (string | number)[] {
  const parts: readonly unknown[] = typeof key === "string" ? [key] : key;
  const isKey = Array.isArray(parts) &&
    parts.every((part) => typeof part === "string" || typeof part === "number" && Number.isFinite(part));
  if (isKey) return parts as readonly (string | number)[];
  throw new ValueError("Cannot use a key of bot.store: it must be a text, or a list of texts and numbers");
}

/** A key as the text by which it is kept: its parts as JSON, which no other parts have. */
function textOf(key: BotStoreKey): string {
  const parts = partsOf(key);
  const text = JSON.stringify(parts).slice(1, -1);
  if (parts.length > 0 && text.length <= MAX_KEY) return text;
  throw new ValueError(
    `Cannot use a key of bot.store: it must have a part at least, and ${MAX_KEY} characters as JSON at most`,
  );
}

function copyOf(value: unknown): unknown {
  try {
    return structuredClone(value);
  } catch (cause) {
    throw new ValueError(
      "Cannot set a value of bot.store: it is no plain data; leave out functions and the like",
      {
        cause,
      },
    );
  }
}

function entryOf<Value>(text: string, value: Value): BotStoreEntry<Value> {
  return { key: JSON.parse(`[${text}]`), value };
}
