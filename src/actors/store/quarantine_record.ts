/**
 * An event that was left out, as it is kept.
 *
 * @module
 */

import { DecryptionError } from "../../errors/encryption_error.ts";
import { type Encryptions, encryptionsOf, noteEncryption } from "../../types/events/encryption_of.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import type { EventQuarantined } from "../../types/events/internal_event.ts";
import type { JsonObject } from "../../types/json.ts";
import type { InternalDelivery } from "./sync_batch.ts";

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

/** When it is tried next, in milliseconds since the epoch. */
export function nextTry({ tries, waitsFrom }: Pick<QuarantineRecord, "tries" | "waitsFrom">): number {
  return waitsFrom + (WAITS[tries] ?? WAITS[5]);
}

/** What applications see of it. */
export function told(record: QuarantineRecord): EventQuarantined {
  const { id, type, attempts, since } = record;
  const { data } = deliveryOf(record);
  const name = type ?? ("type" in data ? String(data.type) : "");
  return { id, type: name, event: data, attempts, since, nextTry: nextTry(record) };
}

/** What a record says of what is to be delivered. */
type Kept = Pick<QuarantineRecord, "type" | "data" | "encryptions">;

/** What is kept of what is to be delivered: plain data. */
export function keptOf({ type, data }: AnyDelivery): Kept {
  if (type !== "UNDECRYPTABLE") return { type, data, encryptions: encryptionsOf(data) };
  return { type, data: { ...data, reason: data.reason.message as never } }; // made an error again when it is delivered
}

/** What is to be delivered, of what is kept. */
export function deliveryOf({ type, data, encryptions = {} }: Kept): AnyDelivery {
  if (type !== "UNDECRYPTABLE") return { type, data: noteEncryption(data, encryptions) } as AnyDelivery; // as it was put in
  const { reason, ...rest } = data as unknown as JsonObject;
  return { type, data: { ...rest, reason: new DecryptionError(String(reason)) } } as unknown as AnyDelivery;
}
