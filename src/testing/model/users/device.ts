/**
 * A device of a user: its keys, its inbox of to-device messages, and the transactions it has sent.
 *
 * @module
 */

import type { DeviceID, EventID, UserID } from "../../../types/ids.ts";
import type { JsonObject } from "../../../types/json.ts";
import type { Answer } from "../../http/reply.ts";

/** A message waiting for a device. */
export interface ToDeviceMessage {
  /** Where it lies in the stream. */
  readonly position: number;
  /** What the device gets to see. */
  readonly event: JsonObject;
}

/** A fallback key and whether it was handed out. */
export interface FallbackKey {
  /** `algorithm:key_id`. */
  readonly id: string;
  /** The key as it was uploaded. */
  readonly key: unknown;
  /** Whether someone has claimed it. */
  used: boolean;
}

/** A member event that was sent to a device, and the stream position that the response reached. */
export interface KnownMember {
  /** The member event. */
  readonly event: EventID;
  /** The stream position. */
  readonly position: number;
}

/** The longest name of a device, in characters. */
export const MAX_DEVICE_NAME = 100;

const TRANSACTIONS_KEPT = 10_000;

/** A device. */
export class Device {
  /** Its ID. */
  readonly id: DeviceID;
  /** The name that its user gave it. */
  displayName: string | undefined;
  /** When it was last used, in milliseconds since the epoch. */
  lastSeen: number | undefined;
  /** The signed identity keys it has uploaded. */
  keys: JsonObject | undefined;
  /** One-time keys by `algorithm:key_id`, in the order of upload. */
  readonly oneTimeKeys: Map<string, unknown> = new Map();
  /** The fallback key of each algorithm. */
  readonly fallbackKeys: Map<string, FallbackKey> = new Map();
  /** To-device messages that the device has not acknowledged, in the order of the stream. */
  inbox: ToDeviceMessage[] = [];
  /** The member event of each user that this device was last sent, of whatever room. */
  readonly knownMembers: Map<UserID, KnownMember> = new Map();
  readonly #transactions = new Map<string, Promise<Answer>>();

  /** Makes a device without keys. */
  constructor(id: DeviceID, displayName: string | undefined) {
    this.id = id;
    this.displayName = displayName;
  }

  /**
   * Runs `action` once per `key`: a repeated request gets the answer of the first. A failed one may
   * be repeated.
   */
  once(key: string, action: () => Promise<Answer>): Promise<Answer> {
    const known = this.#transactions.get(key);
    if (known !== undefined) return known;
    const answer = action();
    this.#transactions.set(key, answer);
    answer.catch(() => this.#transactions.delete(key));
    const [oldest] = this.#transactions.keys();
    if (this.#transactions.size > TRANSACTIONS_KEPT && oldest !== undefined) {
      this.#transactions.delete(oldest);
    }
    return answer;
  }

  /** How many one-time keys of each algorithm are left. `signed_curve25519` is always listed. */
  oneTimeKeyCounts(): Map<string, number> {
    const counts = new Map([["signed_curve25519", 0]]);
    for (const id of this.oneTimeKeys.keys()) {
      const algorithm = id.split(":", 1)[0] ?? "";
      counts.set(algorithm, (counts.get(algorithm) ?? 0) + 1);
    }
    return counts;
  }

  /** The algorithms whose fallback key is unclaimed. */
  unusedFallbackAlgorithms(): string[] {
    return [...this.fallbackKeys].filter(([, key]) => !key.used).map(([algorithm]) => algorithm);
  }

  /** What other users and the owner see of it. */
  describe(user: UserID): JsonObject {
    return {
      device_id: this.id,
      display_name: this.displayName ?? null,
      last_seen_ip: this.lastSeen === undefined ? null : "127.0.0.1",
      last_seen_ts: this.lastSeen ?? null,
      user_id: user,
    };
  }
}
