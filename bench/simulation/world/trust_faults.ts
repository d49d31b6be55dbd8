/**
 * What goes wrong with signing, backing up and verifying.
 *
 * @module
 */

import type { Chance } from "../core/chance.ts";
import type { OperationNames } from "./ambushes.ts";
import type { Device } from "./device.ts";
import type { Network, Weather } from "./network.ts";
import type { Fault } from "./process.ts";

/** Where signing, backing up and verifying can break off. */
const TRUST_SUBJECTS: readonly (readonly [Fault["operation"], string])[] = [
  ["commit", "own_identity"],
  ["commit", "signature_due"],
  ["commit", "verification"],
  ["commit", "secret_request"],
  ["commit", "backup_due"],
  ["commit", "backup"],
  ["commit", "dehydration"],
  ["commit", "rehydrated_session"],
  ["request", "GET v3/dehydrated_device"],
  ["request", "PUT v3/dehydrated_device"],
  ["request", "GET v3/dehydrated_device/*/events"],
  ["request", "POST v3/keys/device_signing/upload"],
  ["request", "POST v3/keys/signatures/upload"],
  ["request", "POST v3/room_keys/version"],
  ["request", "GET v3/room_keys/version"],
  ["request", "PUT v3/room_keys/keys"],
  ["request", "GET v3/room_keys/keys/*"],
  ["request", "GET v3/user/*/account_data/*"],
  ["request", "PUT v3/user/*/account_data/*"],
  ["request", "PUT v3/sendToDevice/m.key.verification.*"],
  ["request", "PUT v3/sendToDevice/m.secret.request"],
  ["request", "DELETE v3/room_keys/version/*"],
  ["commit", "secret_answer"],
];

/** The same by operation. */
export const TRUST_NAMES: OperationNames = {
  commits: TRUST_SUBJECTS.flatMap(([operation, subject]) => operation === "commit" ? [subject] : []),
  requests: TRUST_SUBJECTS.flatMap(([operation, subject]) => operation === "request" ? [subject] : []),
};

/** What an identity has in a user's account data: its private keys, and which key opens them. */
const SECRET = /\/account_data\/(m\.cross_signing\.\w+|m\.secret_storage\.default_key)$/;

/** Who has stored the private keys of an identity last, and what devices have found when they looked. */
export class StoredSecrets {
  /** By name, who has stored it, and how often it was stored. */
  readonly #stored = new Map<string, { readonly by: Device; readonly count: number }>();
  /**
   * By device and name, how often it had been stored when the device looked, since it has stored it itself.
   */
  readonly #found = new Map<Device, Map<string, number>>();

  /** Notes what a device has stored, or found; a request without a body has asked. */
  note(device: Device, pathname: string, { body }: { readonly body: string }): void {
    const [, name] = SECRET.exec(pathname) ?? [];
    if (name === undefined) return;
    const { count = 0 } = this.#stored.get(name) ?? {};
    const found = this.#found.getOrInsertComputed(device, () => new Map());
    if (body === "{}") found.set(name, count);
    else {
      this.#stored.set(name, { by: device, count: count + 1 });
      found.delete(name);
    }
  }

  /**
   * Whether another device has stored something since a device has looked,
   * which it did when it had stored its own.
   */
  hasChangedFor(device: Device): boolean {
    const found = this.#found.get(device);
    return this.#stored.entries().some(([name, { by, count }]) =>
      by !== device && found?.has(name) === true && found.get(name) !== count
    );
  }
}

/** What becomes of a request of a first start. */
const WEATHER: readonly Weather["kind"][] = [
  ...["lost", "lost after", "twice", "late", "late answer", "429", "502"] as const,
];

/** Has a request that only a first start makes meet with something. */
export function planWeather({ weather }: Pick<Network, "weather">, device: Device, chance: Chance): void {
  const [kind, only] = [chance.pick(WEATHER), chance.pick(TRUST_NAMES.requests)];
  weather.getOrInsertComputed(device, () => []).push({ kind, path: "", only, times: 1, ms: 2_000 });
}

/**
 * Plans something to go wrong.
 *
 * @param where When, and how.
 * @param what With what.
 * @returns With what.
 */
export function planFault({ process }: Device, where: number, what: number): string {
  const [operation, subject] = TRUST_SUBJECTS[what % TRUST_SUBJECTS.length] ?? ["commit", "backup"];
  const kind = (where >> 1) % 3 < 2 ? "crash" : "error";
  process?.plan({ operation, subject, takesEffect: where % 2 === 0, kind, after: (where >> 3) % 3 });
  return subject;
}
