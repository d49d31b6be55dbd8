/**
 * A store whose commits wait for the test.
 *
 * @module
 */

import type { MemoryStore } from "@greenroom/matrix";
import { CountingStore } from "./counting_store.ts";

/** A memory store whose commits a test releases. */
export class HeldStore extends CountingStore {
  /** Whether commits wait from now on. */
  isHeld = false;
  /** What the next reads fail with. */
  unreadable: Error | undefined;
  readonly #waiting: (() => void)[] = [];

  /** How many commits wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Makes the commit that has waited longest. */
  letGo(): void {
    this.#waiting.shift()?.();
  }

  /** Makes all commits, those to come too. */
  free(): void {
    this.isHeld = false;
    while (this.waiting > 0) this.letGo();
  }

  override async commit(...args: Parameters<MemoryStore["commit"]>): Promise<boolean> {
    if (this.isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    return await super.commit(...args);
  }

  override async getMany(...args: Parameters<MemoryStore["getMany"]>) {
    if (this.unreadable !== undefined) throw this.unreadable;
    return await super.getMany(...args);
  }
}
