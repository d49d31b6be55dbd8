/**
 * A store with locks, in which processes can end.
 *
 * @module
 */

import type { StoreKey, StoreLock } from "@greenroom/matrix";
import { MemoryStore } from "../../../src/store/base/mod.ts";

interface Held {
  left: string;
  isHeld: boolean;
}

/** A store whose locks go as they would with the process that has them. */
export class LockingStore extends MemoryStore {
  readonly #locks = new Map<string, Held>();

  lock(key: StoreKey): Promise<StoreLock | undefined> {
    const name = JSON.stringify(key);
    const before = this.#locks.get(name);
    if (before?.isHeld) return Promise.resolve(undefined);
    const held: Held = { left: before?.left ?? "", isHeld: true };
    this.#locks.set(name, held);
    return Promise.resolve({
      left: held.left,
      leave: (text: string) => Promise.resolve(void (held.left = text)),
      release: () => void (held.isHeld = false),
    });
  }

  /** Ends the process that has a lock. */
  endHolder(key: StoreKey): void {
    const held = this.#locks.get(JSON.stringify(key));
    if (held !== undefined) held.isHeld = false;
  }

  /** Removes a lock, as who removes a locked file. */
  removeLock(key: StoreKey): void {
    this.#locks.delete(JSON.stringify(key));
  }

  /** Whether a lock is taken. */
  isLocked(key: StoreKey): boolean {
    return this.#locks.get(JSON.stringify(key))?.isHeld === true;
  }
}
