/**
 * The owners of devices, by signing key.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { Transaction } from "../records/mod.ts";
import { userKey, type UserRecord } from "./user_record.ts";

/** How many devices that no record has any more are kept, beside as many as the records have. */
const MAX_FORMER = 10_000;

/** The changes of device lists. */
export interface DeviceChanges {
  /** Changes when any device does. */
  readonly version: number;
  /** The users with changed devices since a version; undefined: it is too long ago. */
  changedSince(version: number): ReadonlySet<UserID> | undefined;
}

/**
 * Finds the user of a present or former device: a device signs its keys with its user's ID, so that
 * no other user can publish its signing key. The devices are read at the first use, which is rare.
 */
export class DeviceOwners {
  readonly #changes: DeviceChanges;
  #users = new Map<string, UserID>();
  /** How many there were when all records were read. */
  #read = 0;
  /** What the map is the state of; undefined: of nothing yet. */
  #version: number | undefined;

  /** @param changes The changes of device lists. */
  constructor(changes: DeviceChanges) {
    this.#changes = changes;
  }

  /** The user of the device with an Ed25519 key; undefined if no such device is known. */
  async ownerOf(tx: Transaction, ed25519: string): Promise<UserID | undefined> {
    const { version } = this.#changes;
    const since = this.#users.size > 2 * this.#read + MAX_FORMER ? undefined : this.#version;
    const changed = since === undefined ? undefined : this.#changes.changedSince(since);
    if (changed === undefined) {
      this.#version = undefined; // until all are read
      this.#users = new Map();
      for (const [[userId = ""], record] of await tx.list<UserRecord>("devices")) {
        this.#note(userId as UserID, record); // it was written under a user ID
      }
      this.#read = this.#users.size;
    } else {
      const users = [...changed];
      const records = await tx.getMany(users.map(userKey));
      for (const [index, userId] of users.entries()) this.#note(userId, records[index]);
    }
    this.#version = version;
    return this.#users.get(ed25519);
  }

  /** Old entries stay for a while: the keys of a device never change. */
  #note(userId: UserID, record: UserRecord | undefined): void {
    for (const { ed25519 } of [...record?.devices ?? [], ...record?.gone ?? []]) {
      this.#users.set(ed25519, userId);
    }
  }
}
