/**
 * Events that were left out, since process after process ended while they were handled: what is kept of
 * each, and the Store's records of them.
 *
 * @module
 */

import { DecryptionError } from "../../errors/encryption_error.ts";
import { type Encryptions, encryptionsOf, noteEncryption } from "../../types/events/encryption_info.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import type { EventQuarantined } from "../../types/events/internal_event.ts";
import type { JsonObject } from "../../types/json.ts";
import type { InternalDelivery } from "./store_protocol.ts";
import { encodeValue, type StoreKey, type StoreMutation } from "../../store/base/mod.ts";
import { set, type StoreWriter } from "./writer.ts";

/** What is delivered: an event, or data of one of Greenroom's own. */
export type AnyDelivery = { readonly type?: undefined; readonly data: MatrixEvent } | InternalDelivery;

/** What is kept of an event that was left out. */
export interface QuarantineRecord {
  /** Names it. */
  readonly id: string;
  /** What it is for: undefined of an event, otherwise the type of an event of Greenroom's own. */
  readonly type?: InternalDelivery["type"];
  /** What handlers are called with. */
  readonly data: EventQuarantined["event"];
  /**
   * How it was encrypted, which the event that is kept does not say; absent if it came in clear.
   */
  readonly encryptions?: Encryptions;
  /** The names of its deliveries that have settled. */
  readonly settled: readonly string[];
  /** In how many lives it was begun. */
  readonly attempts: number;
  /** How often it was tried since it was left out. */
  readonly tries: number;
  /** When it was left out, in milliseconds since the epoch. */
  readonly since: number;
  /** From when on it waits for the next try, likewise. */
  readonly waitsFrom: number;
  /** Whether it is being tried. */
  readonly isTrying: boolean;
}

/**
 * How long an event waits, in milliseconds, before it is tried again: after it was left out, after
 * the first try that has not ended, and so on.
 */
const WAITS = [10_000, 60_000, 600_000, 3_600_000, 21_600_000, 86_400_000] as const;

/** Returns the time of the next try, in milliseconds since the epoch. */
export function nextTry({ tries, waitsFrom }: Pick<QuarantineRecord, "tries" | "waitsFrom">): number {
  return waitsFrom + (WAITS[tries] ?? WAITS[5]);
}

/** Returns what applications see of it. */
export function told(record: QuarantineRecord): EventQuarantined {
  const { id, type, attempts, since } = record;
  const { data } = deliveryOf(record);
  const name = type ?? ("type" in data ? String(data.type) : "");
  return { id, type: name, event: data, attempts, since, nextTry: nextTry(record) };
}

/** What a record says of what is to be delivered. */
type KeptDelivery = Pick<QuarantineRecord, "type" | "data" | "encryptions">;

/** Packs a delivery for the store, as plain data. */
export function keptOf({ type, data }: AnyDelivery): KeptDelivery {
  if (type !== "UNDECRYPTABLE") return { type, data, encryptions: encryptionsOf(data) };
  // Made an error again when it is delivered.
  return { type, data: { ...data, reason: data.reason.message as never } };
}

/** Unpacks a delivery that the store has kept. */
export function deliveryOf({ type, data, encryptions = {} }: KeptDelivery): AnyDelivery {
  // As it was put in.
  if (type !== "UNDECRYPTABLE") return { type, data: noteEncryption(data, encryptions) } as AnyDelivery;
  const { reason, ...rest } = data as unknown as JsonObject;
  return { type, data: { ...rest, reason: new DecryptionError(String(reason)) } } as unknown as AnyDelivery;
}

/** The first part of the keys. */
const QUARANTINE = "quarantine";
/** The most records, and their bytes together; what was tried most often is dropped first. */
const MOST = { records: 100, bytes: 4 * 2 ** 20 };

interface Kept {
  /** The last part of its key, a number: event IDs may be too long for one. */
  readonly place: string;
  readonly record: QuarantineRecord;
  readonly bytes: number;
}

/** Stores events that were left out. */
export class QuarantinedEvents {
  readonly #writer: StoreWriter;
  #kept: Map<string, Kept> | undefined;
  #last = 0;
  /** The records of what this process is trying, as they were before. */
  readonly #before = new Map<string, QuarantineRecord>();

  /** @param writer Reads and writes. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /** All of them, the oldest first. */
  async list(): Promise<QuarantineRecord[]> {
    return [...(await this.#all()).values()].map(({ record }) => record);
  }

  /** Returns whether an event is among them. */
  async has(id: string): Promise<boolean> {
    return (await this.#all()).has(id);
  }

  /**
   * Stores one more, with other changes in the same commit.
   *
   * @param added The record.
   * @param settled Names of deliveries that have settled, of this event and of others.
   * @param changes The other changes.
   * @returns Those that were dropped for it: itself, if it is too large.
   */
  async add(
    added: QuarantineRecord,
    settled: readonly string[],
    changes: readonly StoreMutation[],
  ): Promise<QuarantineRecord[]> {
    const all = await this.#all();
    const record = { ...added, settled: settled.filter((name) => isOf(added, name)) };
    this.#put(record);
    const dropped: QuarantineRecord[] = [];
    const gone: StoreMutation[] = [];
    for (let bytes = sizeOf(all); all.size > MOST.records || bytes > MOST.bytes; bytes = sizeOf(all)) {
      const worst = worstOf(all, record, this.#before);
      if (worst === undefined) break;
      gone.push({ type: "delete", key: this.#key(worst) });
      all.delete(worst.record.id);
      dropped.push(worst.record);
    }
    const own = all.get(record.id);
    await this.#writer.commit([...changes, ...gone, ...own ? [set(this.#key(own), record)] : []]);
    return dropped;
  }

  /**
   * Records durably that one is about to be tried.
   *
   * @returns Undefined if there is none.
   */
  async retry(id: string, at: number): Promise<QuarantineRecord | undefined> {
    const before = (await this.#all()).get(id)?.record;
    if (before === undefined) return undefined;
    this.#before.set(id, before);
    return await this.#change({
      ...before,
      isTrying: true,
      waitsFrom: at,
      tries: before.tries + 1,
      attempts: before.attempts + 1,
    });
  }

  /** Restarts the wait of one that is not being tried any more, or whose wait is unknown. */
  async wait(id: string, at: number): Promise<void> {
    const record = (await this.#all()).get(id)?.record;
    if (record !== undefined) await this.#change({ ...record, isTrying: false, waitsFrom: at });
  }

  /**
   * Removes one, with other changes in the same commit.
   *
   * @returns Whether it was there.
   */
  async release(id: string, changes: readonly StoreMutation[]): Promise<boolean> {
    this.#before.delete(id);
    const all = await this.#all();
    const kept = all.get(id);
    all.delete(id);
    await this.#writer.commit(kept ? [...changes, { type: "delete", key: this.#key(kept) }] : changes);
    return kept !== undefined;
  }

  /** The changes that record which deliveries of stored events have settled. */
  async recording(names: readonly string[]): Promise<StoreMutation[]> {
    const all = await this.#all();
    return [...all.values()].flatMap(({ record }) => {
      const own = names.filter((name) => isOf(record, name) && !record.settled.includes(name));
      return own.length === 0 ? [] : [this.#put({ ...record, settled: [...record.settled, ...own] })];
    });
  }

  /** The changes so that the tries of this process do not count, since it ends by itself. */
  ending(): StoreMutation[] {
    const changes = [...this.#before].map(([id, before]) => {
      const { settled = before.settled } = this.#kept?.get(id)?.record ?? {};
      return this.#put({ ...before, settled });
    });
    this.#before.clear();
    return changes;
  }

  async #change(record: QuarantineRecord): Promise<QuarantineRecord> {
    await this.#writer.commit([this.#put(record)]);
    return record;
  }

  /** Sets a record in memory, and returns the change that stores it. */
  #put(record: QuarantineRecord): StoreMutation {
    const all = this.#kept ?? new Map<string, Kept>();
    const place = all.get(record.id)?.place ?? String(++this.#last).padStart(16, "0");
    const kept = { place, record, bytes: encodeValue(record).length };
    all.set(record.id, kept);
    return set(this.#key(kept), record);
  }

  async #all(): Promise<Map<string, Kept>> {
    if (this.#kept !== undefined) return this.#kept;
    const kept = new Map<string, Kept>();
    for (const { key: [, place = ""], value } of await this.#writer.listRecords([QUARANTINE])) {
      const record = value as QuarantineRecord; // written by this class
      kept.set(record.id, { place, record, bytes: encodeValue(record).length });
      this.#last = Number(place);
    }
    return this.#kept = kept;
  }

  #key({ place }: Kept): StoreKey {
    return this.#writer.keys.record([QUARANTINE, place]);
  }
}

/**
 * The one to drop: what was tried most often and is not being tried; or the added one, if it is too
 * large.
 */
function worstOf(
  all: ReadonlyMap<string, Kept>,
  record: QuarantineRecord,
  trying: ReadonlyMap<string, unknown>,
): Kept | undefined {
  const own = all.get(record.id);
  if (own === undefined || own.bytes > MOST.bytes) return own;
  const others = [...all.values()].filter((kept) => kept !== own && !trying.has(kept.record.id));
  return others.sort((one, other) => other.record.tries - one.record.tries)[0] ?? own;
}

function sizeOf(all: ReadonlyMap<string, Kept>): number {
  return [...all.values()].reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Returns whether a delivery is one of an event. */
function isOf({ data }: QuarantineRecord, name: string): boolean {
  return "event_id" in data && name.startsWith(`${data.event_id}-`);
}
