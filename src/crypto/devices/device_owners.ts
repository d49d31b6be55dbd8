/**
 * Whose a device is, by its signing key.
 *
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { Transaction } from "../records/transaction.ts";
import { userKey, type UserRecord } from "./user_record.ts";

/** What tells whose devices have changed. */
export interface DeviceChanges {
  /** Changes when any device does. */
  readonly version: number;
  /** Whose devices have changed since a version; undefined: it is too long ago to tell. */
  changedSince(version: number): ReadonlySet<UserID> | undefined;
}

/**
 * Finds the user of a device, also of one that is gone: a device has signed its keys with its user's name, so that nobody can
 * publish the signing key of another's. The devices are read when somebody asks for the first time, which hardly ever happens.
 */
export class DeviceOwners {
  readonly #changes: DeviceChanges;
  readonly #users = new Map<string, UserID>();
  /** What the map is the state of; undefined: of nothing yet. */
  #version: number | undefined;

  /** @param changes What tells whose devices have changed. */
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

  /** What was known stays: the keys of a device never change. */
  #note(userId: UserID, record: UserRecord | undefined): void {
    for (const { ed25519 } of [...record?.devices ?? [], ...record?.gone ?? []]) {
      this.#users.set(ed25519, userId);
    }
  }
}
