/**
 * Whose device lists have changed, and when.
 *
 * @module
 */

import type { UserID } from "../../../types/ids.ts";
import { firstAfter } from "../events/search.ts";

/** The log of changed device lists. */
export class DeviceChanges {
  readonly #changes: { readonly position: number; readonly user: UserID }[] = [];

  /** Notes that the devices or keys of `user` changed at `position`. */
  add(user: UserID, position: number): void {
    this.#changes.push({ user, position });
  }

  /** The users whose devices changed after `from`, up to `to`. */
  between(from: number, to: number): Set<UserID> {
    const users = new Set<UserID>();
    for (let i = firstAfter(this.#changes, from); i < this.#changes.length; i++) {
      const change = this.#changes[i];
      if (change === undefined || change.position > to) break;
      users.add(change.user);
    }
    return users;
  }
}
