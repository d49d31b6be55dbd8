/**
 * What becomes of what the server does not take.
 *
 * Devices may be called whatever their users like, and one that a server stumbles over must cost nobody else anything: what is
 * refused is sent in halves, until whoever is to blame is alone.
 *
 * @module
 */

import type { DeviceMessages, OutboxEntry } from "./outbox.ts";

/** What failed. */
interface Refused {
  /** How often. */
  readonly failures: number;
  /** How much the server had taken when it failed for the first time. */
  readonly taken: number;
}

/** What is to be done: sent again later, or in halves; or it is given up. */
export type Verdict = "later" | "halves" | "never";

/** Failures after which the same request would fail again. */
const HOPELESS = new Set([400, 403, 404, 405, 413]);
/** How often the server may fail over something without anything to show that it works otherwise. */
const MAX_FAILURES = 2;

/** Remembers what the server did not take, in memory only: a new process may well try once more. */
export class RefusedParcels {
  readonly #refused = new Map<string, Refused>();
  /** What is a part of something that was refused. */
  readonly #parts = new Set<string>();
  #taken = 0;

  /** In the order in which to send: what was refused least often first, so that it stands in nobody's way. */
  sorted(entries: readonly OutboxEntry[]): readonly OutboxEntry[] {
    if (this.#refused.size === 0) return entries;
    const failures = ({ id }: OutboxEntry): number => this.#refused.get(id)?.failures ?? 0;
    return entries.toSorted((one, other) => failures(one) - failures(other));
  }

  /** The server has taken something. */
  took({ id }: OutboxEntry): void {
    this.#taken++;
    this.#refused.delete(id);
    this.#parts.delete(id);
  }

  /** Something is a part of what was refused: should it be refused too, it alone is to blame. */
  divided(id: string): void {
    this.#parts.add(id);
  }

  /** Whether something is such a part; it is asked for once. */
  takePart({ id }: OutboxEntry): boolean {
    return this.#parts.delete(id);
  }

  /** The server has not taken something: `status` says how, or 0 if it could not be reached. */
  judge(entry: OutboxEntry, status: number): Verdict {
    const { id } = entry;
    const many = entry.kind === "toDevice" && countOf(entry.messages) > 1;
    if (HOPELESS.has(status)) {
      this.#refused.delete(id);
      return many && isDivisible(status) ? "halves" : "never";
    }
    if (status < 500) return "later";
    const before = this.#refused.get(id) ?? { failures: 0, taken: this.#taken };
    const failures = before.failures + 1;
    this.#refused.set(id, { ...before, failures });
    if (entry.kind !== "toDevice" || failures < MAX_FAILURES) return "later";
    const works = this.#taken > before.taken;
    if (!many && !works) return "later"; // the whole server may be out of order
    this.#refused.delete(id);
    return many ? "halves" : "never";
  }
}

/** Whether a request was refused that with less in it may not be: because of some of it, or because it is too large. */
export function isDivisible(status: number): boolean {
  return status === 400 || status === 413;
}

/** Messages for devices, in two: users are kept together as far as that goes. */
export function halves(messages: DeviceMessages): readonly DeviceMessages[] {
  const all = Object.entries(messages).flatMap(([userId, devices]) =>
    Object.entries(devices).map(([deviceId, content]) => ({ userId, deviceId, content }))
  );
  const middle = Math.ceil(all.length / 2);
  return [all.slice(0, middle), all.slice(middle)].map((part) => {
    const half: Record<string, Record<string, typeof all[number]["content"]>> = Object.create(null); // names come off the wire
    for (const { userId, deviceId, content } of part) {
      const devices = half[userId] ??= Object.create(null) as typeof half[string];
      devices[deviceId] = content;
    }
    return half;
  });
}

function countOf(messages: DeviceMessages): number {
  return Object.values(messages).reduce((sum, devices) => sum + Object.keys(devices).length, 0);
}
