/**
 * Whose devices and keys have changed, in the order of the stream.
 *
 * @module
 */

import type { RoomID, UserID } from "../../../types/ids.ts";
import { firstAfter } from "../events/search.ts";
import type { User } from "./user.ts";

/** A change of a user's devices or keys. */
interface DeviceChange {
  /** Whose. */
  readonly user: User;
  /** The rooms that the user was in. */
  readonly rooms: readonly RoomID[];
  /** Where it lies in the stream. */
  readonly position: number;
}

/** The log of changed device lists. */
export class DeviceChanges {
  readonly #changes: DeviceChange[] = [];

  /** Notes a change. */
  add(change: DeviceChange): void {
    this.#changes.push(change);
  }

  /** Those whose devices changed after a position: `viewer`, and users in a room that `viewer` is in. */
  since(position: number, viewer: User): UserID[] {
    const joined = new Set(viewer.roomsWith("join"));
    return this.#changes.slice(firstAfter(this.#changes, position))
      .filter(({ user, rooms }) => user === viewer || rooms.some((room) => joined.has(room)))
      .map(({ user }) => user.id);
  }
}
