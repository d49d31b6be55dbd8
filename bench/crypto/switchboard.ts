/**
 * What a server does for keys, in as few steps as can be: it keeps what is uploaded, hands it out,
 * and passes messages on.
 *
 * @module
 */

import type { JsonObject } from "../../src/types/json.ts";
import type { Crowd } from "./crowd.ts";

/** A message from device to device. */
export interface PassedMessage {
  readonly type: string;
  readonly sender: string;
  readonly content: JsonObject;
}

type ByDevice<Value> = Record<string, Record<string, Value>>;

const OK: JsonObject = {};

/** The server of a bench. */
export class Switchboard {
  readonly #crowd: Crowd;
  readonly #deviceKeys: ByDevice<JsonObject> = {};
  readonly #oneTimeKeys: ByDevice<Map<string, JsonObject>> = {};
  readonly #queues = new Map<string, PassedMessage[]>();

  /** @param crowd The users beside those who upload keys. */
  constructor(crowd: Crowd = { deviceKeys: {}, oneTimeKeys: {} }) {
    this.#crowd = crowd;
  }

  /** Answers `/keys/upload`. */
  upload(userId: string, deviceId: string, body: JsonObject): JsonObject {
    const { device_keys: keys, one_time_keys: oneTimeKeys } = body as ByDevice<JsonObject>;
    if (keys !== undefined) (this.#deviceKeys[userId] ??= {})[deviceId] = keys;
    const kept = (this.#oneTimeKeys[userId] ??= {})[deviceId] ??= new Map();
    for (const [name, key] of Object.entries(oneTimeKeys ?? {})) kept.set(name, key);
    return { one_time_key_counts: { signed_curve25519: kept.size } };
  }

  /** Answers `/keys/query`. */
  query(users: readonly string[]): JsonObject {
    const devices = users.map((user) => [user, this.#deviceKeys[user] ?? this.#crowd.deviceKeys[user] ?? {}]);
    return { device_keys: Object.fromEntries(devices), failures: {} };
  }

  /** Answers `/keys/claim`. */
  claim(wanted: Readonly<ByDevice<string>>): JsonObject {
    const found = Object.entries(wanted).map(([userId, devices]) => [
      userId,
      Object.fromEntries(Object.keys(devices).map((deviceId) => [deviceId, this.#take(userId, deviceId)])),
    ]);
    return { one_time_keys: Object.fromEntries(found), failures: {} };
  }

  /** Answers `/sendToDevice`. */
  send(sender: string, type: string, messages: Readonly<ByDevice<JsonObject>>): JsonObject {
    for (const [userId, contents] of Object.entries(messages)) {
      for (const [deviceId, content] of Object.entries(contents)) {
        const name = `${userId} ${deviceId}`;
        if (this.#deviceKeys[userId] === undefined) continue; // no device receives it
        const queue = this.#queues.get(name) ?? [];
        queue.push({ type, sender, content });
        this.#queues.set(name, queue);
      }
    }
    return OK;
  }

  /** Takes what there is for a device. */
  collect(userId: string, deviceId: string): PassedMessage[] {
    const name = `${userId} ${deviceId}`;
    const queue = this.#queues.get(name) ?? [];
    this.#queues.delete(name);
    return queue;
  }

  /** How many one-time keys a device has left. */
  count(userId: string, deviceId: string): number {
    return this.#oneTimeKeys[userId]?.[deviceId]?.size ?? 0;
  }

  #take(userId: string, deviceId: string): Record<string, JsonObject> {
    const own = this.#oneTimeKeys[userId]?.[deviceId];
    if (own === undefined) return this.#crowd.oneTimeKeys[userId]?.[deviceId] ?? {};
    for (const [name, key] of own) {
      own.delete(name);
      return { [name]: key };
    }
    return {};
  }
}
