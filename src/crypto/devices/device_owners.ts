/**
 * The owners of devices, by signing key.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { Transaction } from "../records/transaction.ts";
import { userKey, type UserRecord } from "./user_record.ts";

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
  readonly #users = new Map<string, UserID>();
  /** What the map is the state of; undefined: of nothing yet. */
  #version: number | undefined;

  /** @param changes The changes of device lists. */
  constructor(changes: DeviceChanges) {
    this.#changes = changes;
  }

  /** The user of the device with an Ed25519 key; undefined if no such device is known. */
  async ownerOf(tx: Transaction, ed25519: string): Promise<UserID | undefined> {
    const { version } = this.#changes;
    const changed = this.#version === undefined ? undefined : this.#changes.changedSince(this.#version);
    if (changed === undefined) {
      for (const [[userId = ""], record] of await tx.list<UserRecord>("devices")) {
        this.#note(userId as UserID, record); // it was written under a user ID
      }
    } else {
      const users = [...changed];
      const records = await tx.getMany(users.map(userKey));
      for (const [index, userId] of users.entries()) this.#note(userId, records[index]);
    }
    this.#version = version;
    return this.#users.get(ed25519);
  }

  /** Old entries stay: the keys of a device never change. */
  #note(userId: UserID, record: UserRecord | undefined): void {
    for (const { ed25519 } of [...record?.devices ?? [], ...record?.gone ?? []]) {
      this.#users.set(ed25519, userId);
    }
  }
}
