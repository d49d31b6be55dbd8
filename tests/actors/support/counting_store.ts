/**
 * A store that tells what is done to it, and fails on demand.
 *
 * @module
 */

import type { Store, StoreEntry, StoreMutation } from "@greenroom/matrix";
import { MemoryStore } from "../../../src/store/base/mod.ts";

/** A memory store that keeps its commits. */
export class CountingStore extends MemoryStore implements Store {
  /** Every commit that took effect. */
  readonly commits: (readonly StoreMutation[])[] = [];
  /** What the next commits fail with. */
  failure: Error | undefined;
  /** How many records were listed. */
  listed = 0;
  /** How often it was closed. */
  closed = 0;

  override commit(...args: Parameters<MemoryStore["commit"]>): Promise<boolean> {
    if (this.failure !== undefined) return Promise.reject(this.failure);
    this.commits.push(args[0]);
    return super.commit(...args);
  }

  override async *list(...args: Parameters<MemoryStore["list"]>): AsyncGenerator<StoreEntry> {
    for await (const entry of super.list(...args)) {
      this.listed++;
      yield entry;
    }
  }

  override close(): void {
    this.closed++;
  }
}
