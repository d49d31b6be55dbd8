/**
 * What the stub homeserver does for keys: it keeps what a client publishes, and has the members of
 * encrypted rooms.
 *
 * @module
 */

import type { Recipient } from "../inputs/encrypted_inputs.ts";
import type { Person } from "../inputs/person.ts";
import { OWN_USER } from "../inputs/room_inputs.ts";

interface KeysUpload {
  readonly device_keys?: { readonly device_id: string; readonly keys: Readonly<Record<string, string>> };
  readonly one_time_keys?: Readonly<Record<string, { readonly key: string }>>;
}

interface KeysQuery {
  readonly device_keys: Readonly<Record<string, unknown>>;
}

interface KeysClaim {
  readonly one_time_keys: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

const ENOUGH = 50;

/** A client's keys. */
export class StubKeys {
  readonly #people: ReadonlyMap<string, Person>;
  #device: KeysUpload["device_keys"];
  readonly #oneTimeKeys: string[] = [];

  /** @param people Whose keys it may ask for. */
  constructor(people: ReadonlyMap<string, Person> = new Map()) {
    this.#people = people;
  }

  /** Who room keys are for. */
  get recipient(): Recipient {
    if (this.#device === undefined) throw new Error("Cannot send keys: the client has published none");
    const { device_id: deviceId, keys } = this.#device;
    return {
      curve25519: keys[`curve25519:${deviceId}`] ?? "",
      ed25519: keys[`ed25519:${deviceId}`] ?? "",
      oneTimeKeys: this.#oneTimeKeys,
    };
  }

  /** Answers `/keys/upload`. */
  upload({ device_keys: device, one_time_keys: oneTimeKeys = {} }: KeysUpload): object {
    this.#device = device ?? this.#device;
    this.#oneTimeKeys.push(...Object.values(oneTimeKeys).map(({ key }) => key));
    const count = this.#people.size === 0 ? ENOUGH : this.#oneTimeKeys.length;
    return { one_time_key_counts: { signed_curve25519: count } };
  }

  /** Answers `/keys/query`. */
  query({ device_keys: wanted }: KeysQuery): object {
    const found = Object.keys(wanted).map((userId) => {
      if (userId === OWN_USER) {
        return [userId, this.#device === undefined ? {} : { [this.#device.device_id]: this.#device }];
      }
      const person = this.#people.get(userId);
      return [userId, person === undefined ? {} : { [person.deviceId]: person.deviceKeys }];
    });
    return { device_keys: Object.fromEntries(found), failures: {} };
  }

  /** Answers `/keys/claim`. */
  claim({ one_time_keys: wanted }: KeysClaim): object {
    const found = Object.entries(wanted).map(([userId, devices]) => {
      const person = this.#people.get(userId);
      const has = person !== undefined && person.deviceId in devices;
      return [userId, has ? { [person.deviceId]: person.oneTimeKey } : {}];
    });
    return { one_time_keys: Object.fromEntries(found), failures: {} };
  }
}
