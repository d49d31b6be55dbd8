/**
 * The Store's records of deliveries: which have settled though their response was not handled as a
 * whole, and which began and did not end in any process so far.
 *
 * @module
 */

import type { StoreMutation } from "../../store/base/mod.ts";
import type { Attempt, Attempted, SessionCommit } from "./store_protocol.ts";
import type { KeptResponses } from "./kept_responses.ts";
import type { QuarantinedEvents } from "./quarantine.ts";
import { set, type StoreWriter } from "./writer.ts";
import { isJsonObject } from "../../types/json.ts";

/** How many deliveries are remembered: beyond them, the oldest may come again. */
const REMEMBERED = 10_000;
/** The first part of the keys. */
const SETTLED = "settled";
/** The value under the name of a delivery. */
const PRESENT = {};

/** When a delivery has settled. */
interface Settled {
  /** The number of checkpoints before that. */
  readonly checkpoints: number;
  /** The number of the latest response that was kept by then. */
  readonly kept: number;
}

/** Stores which deliveries have settled. */
export class StoreDeliveries {
  readonly #writer: StoreWriter;
  /** Names of deliveries that have settled, in order. */
  #settled: Map<string, Settled> | undefined;
  readonly #quarantine: QuarantinedEvents;
  readonly #kept: Pick<KeptResponses, "oldest" | "last">;
  #checkpoints = 0;

  /**
   * @param writer Reads and writes.
   * @param quarantine Stores what has settled of events that are left out.
   * @param kept Has responses that come again one by one.
   */
  constructor(
    writer: StoreWriter,
    quarantine: QuarantinedEvents,
    kept: Pick<KeptResponses, "oldest" | "last">,
  ) {
    [this.#writer, this.#quarantine, this.#kept] = [writer, quarantine, kept];
  }

  /** Names of deliveries that have settled. */
  async settled(): Promise<string[]> {
    return [...(await this.#names()).keys()];
  }

  /** Records deliveries that have settled, with the next commit. */
  async noteSettled(names: readonly string[]): Promise<void> {
    for (const mutation of await this.recording(names)) this.#writer.defer(mutation);
  }

  /** Commits changed sessions of handlers, with the deliveries in which they changed. */
  async commitSessions({ mutations, settled }: SessionCommit): Promise<void> {
    const { keys } = this.#writer;
    const sessions = mutations.map((mutation) => ({ ...mutation, key: keys.record(mutation.key) }));
    await this.#writer.commit([...sessions, ...await this.recording(settled)]);
  }

  /**
   * Forgets what is not needed any more, since there is another checkpoint. What was recorded since
   * the one before stays: a repetition of the very first response is handled in two parts. So does what
   * belongs to a response that is still kept. Undefined: there is nothing to forget.
   */
  checkpointed(): Promise<void> | undefined {
    this.#checkpoints++;
    return this.#settled?.size === 0 ? undefined : this.#forgetOld();
  }

  async #forgetOld(): Promise<void> {
    const names = await this.#names();
    for (const [name, { checkpoints, kept }] of names) {
      if (checkpoints > this.#checkpoints - 2 || kept >= this.#kept.oldest) break;
      names.delete(name);
      this.#writer.defer({ type: "delete", key: this.#key(name) });
    }
  }

  /** The changes that record deliveries that have settled. */
  async recording(names: readonly string[]): Promise<StoreMutation[]> {
    const known = await this.#names();
    const mutations = names.filter((name) => !known.has(name)).map((name) => set(this.#key(name), PRESENT));
    for (const name of names) if (!known.has(name)) known.set(name, this.#now());
    for (const oldest of known.keys()) {
      if (known.size <= REMEMBERED) break;
      known.delete(oldest);
      mutations.push({ type: "delete", key: this.#key(oldest) });
    }
    return mutations.concat(await this.#quarantine.recording(names));
  }

  async #names(): Promise<Map<string, Settled>> {
    if (this.#settled !== undefined) return this.#settled;
    const records = await this.#writer.listRecords([SETTLED]);
    return this.#settled = new Map(records.map(({ key: [, name = ""] }) => [name, this.#now()]));
  }

  #now(): Settled {
    return { checkpoints: this.#checkpoints, kept: this.#kept.last };
  }

  #key(name: string) {
    return this.#writer.keys.record([SETTLED, name]);
  }
}

/**
 * In how many processes an event began and did not end, the weight of the evidence that it ended
 * them, and whether it was left out.
 */
interface AttemptRecord {
  readonly lives: number;
  readonly weight: number;
  readonly isOut?: boolean;
}

/** The first part of the key. */
const ATTEMPTS = "attempts";
/**
 * The weight of a process that ended soon after the event began, and of one that ended later: what
 * ends a process does so fast, and a slow handler is often at work when something else ends it.
 */
const WEIGHT = { soon: 20, late: 3 };
/**
 * The weight from which on an event is left out: three processes that ended soon, or twenty that
 * ended later.
 */
const LIMIT = 60;

/** Stores which deliveries began and did not end. */
export class StoreAttempts {
  readonly #writer: StoreWriter;
  #attempts: Map<string, AttemptRecord> | undefined;
  /** What this process has added to the weights, of events that have not ended. */
  readonly #added = new Map<string, number>();
  #isEnding = false;

  /** @param writer Reads and writes. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /**
   * Records that an event is about to begin, unless it must not, or the process is about to end
   * anyway.
   */
  async begin({ id, ended }: Attempt): Promise<Attempted> {
    const attempts = await this.#all();
    for (const each of ended) this.#forget(attempts, each);
    const { lives, weight, isOut = false } = attempts.get(id) ?? { lives: 0, weight: 0 };
    if (isOut || weight >= LIMIT) return { lives, verdict: isOut ? "out" : "poison" };
    if (!this.#isEnding) {
      attempts.set(id, { lives: lives + 1, weight: weight + WEIGHT.soon });
      this.#added.set(id, WEIGHT.soon);
      await this.#writer.commit([this.#mutation(attempts)]);
    }
    return { lives, verdict: "begin" };
  }

  /** Records that the process still lives long after an event has begun. */
  async outlived(id: string): Promise<void> {
    const attempts = await this.#all();
    const record = attempts.get(id);
    if (record === undefined || this.#added.get(id) !== WEIGHT.soon) return;
    attempts.set(id, { ...record, weight: record.weight - WEIGHT.soon + WEIGHT.late });
    this.#added.set(id, WEIGHT.late);
    await this.#writer.commit([this.#mutation(attempts)]);
  }

  /** Records that events have ended. */
  async ended(ids: readonly string[]): Promise<void> {
    const attempts = await this.#all();
    const before = attempts.size;
    for (const id of ids) this.#forget(attempts, id);
    if (attempts.size < before) await this.#writer.commit([this.#mutation(attempts)]);
  }

  /** The changes that record that an event is left out, in case its response comes again. */
  async leavingOut(id: string): Promise<StoreMutation[]> {
    const attempts = await this.#all();
    attempts.set(id, { lives: 0, weight: 0, isOut: true });
    return [this.#mutation(attempts)];
  }

  /** Forgets all: everything up to another token has been handled. Undefined: there is nothing to forget. */
  checkpointed(): Promise<void> | undefined {
    return this.#attempts?.size === 0 ? undefined : this.#forgetAll();
  }

  async #forgetAll(): Promise<void> {
    const attempts = await this.#all();
    if (attempts.size === 0) return;
    attempts.clear();
    this.#added.clear();
    this.#writer.defer(this.#mutation(attempts));
  }

  /**
   * The changes so that this process does not count, since it ends by itself; or that it counts
   * again.
   */
  async ending(isEnding: boolean): Promise<StoreMutation[]> {
    this.#isEnding = isEnding;
    if (!isEnding || this.#added.size === 0) return [];
    const attempts = await this.#all();
    for (const [id, added] of this.#added) {
      const { lives = 0, weight = 0 } = attempts.get(id) ?? {};
      if (lives > 1) attempts.set(id, { lives: lives - 1, weight: weight - added });
      else attempts.delete(id);
    }
    this.#added.clear();
    return [this.#mutation(attempts)];
  }

  #forget(attempts: Map<string, AttemptRecord>, id: string): void {
    attempts.delete(id);
    this.#added.delete(id);
  }

  #mutation(attempts: ReadonlyMap<string, AttemptRecord>): StoreMutation {
    const key = this.#writer.keys.record([ATTEMPTS]);
    return attempts.size === 0 ? { type: "delete", key } : set(key, Object.fromEntries(attempts));
  }

  async #all(): Promise<Map<string, AttemptRecord>> {
    if (this.#attempts !== undefined) return this.#attempts;
    const kept = await this.#writer.get<Record<string, AttemptRecord>>(this.#writer.keys.record([ATTEMPTS]));
    // A record of earlier versions is a number.
    const known = Object.entries(kept ?? {}).filter(([, record]) => isJsonObject(record));
    return this.#attempts = new Map(known);
  }
}
