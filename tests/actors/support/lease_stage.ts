/**
 * Several processes' Stores over one shared store.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Actor } from "../../../src/actors/kernel/mod.ts";
import type { StoreOptions } from "../../../src/actors/store/store_actor.ts";
import { spawnStore, type StoreHandlers } from "../../../src/actors/store/mod.ts";
import type { StoreCheck, StoreKey, StoreMutation } from "@greenroom/matrix";
import { TestClock } from "@greenroom/matrix/testing";
import { recordingLogger } from "../kernel/support.ts";
import { CountingStore } from "./counting_store.ts";

/** The device of these tests. */
export const DEVICE: StoreKey = ["@a:a", "D"];

/** A store that keeps the checks of each commit. */
export class CheckingStore extends CountingStore {
  readonly checks: (readonly StoreCheck[])[] = [];

  override commit(mutations: readonly StoreMutation[], checks: readonly StoreCheck[] = []): Promise<boolean> {
    this.checks.push(checks);
    return super.commit(mutations, checks);
  }

  /** Which records the commits were about. */
  get touched(): string[] {
    return this.commits.map((mutations) => mutations.map(({ key }) => key[2]).join(" "));
  }

  async value(...key: string[]): Promise<unknown> {
    return (await this.getMany([[...DEVICE, ...key]]))[0]?.value;
  }
}

/** The stage. */
export interface LeaseStage extends AsyncDisposable {
  readonly clock: TestClock;
  readonly kv: CheckingStore;
  readonly log: ReturnType<typeof recordingLogger>;
  /** A process's Store. */
  process(owner: string, lease?: StoreOptions["lease"]): Actor<StoreHandlers>;
  /** A process's Store that has taken the device. */
  opened(owner: string, lease?: StoreOptions["lease"]): Promise<Actor<StoreHandlers>>;
}

/** Sets the stage; no timer may be left in the end. */
export function leaseStage(): LeaseStage {
  const clock = new TestClock(1_000_000);
  const kv = new CheckingStore();
  const log = recordingLogger();
  const stores: Actor<StoreHandlers>[] = [];
  const process = (owner: string, lease: StoreOptions["lease"] = {}): Actor<StoreHandlers> => {
    const store = spawnStore({ kv, clock, log, lease: { owner, ...lease } });
    stores.push(store);
    return store;
  };
  return {
    clock,
    kv,
    log,
    process,
    async opened(owner: string, lease?: StoreOptions["lease"]): Promise<Actor<StoreHandlers>> {
      const store = process(owner, lease);
      await store.open(DEVICE);
      return store;
    },
    async [Symbol.asyncDispose]() {
      for (const store of stores) await store.stop();
      assertEquals(clock.pending, 0);
    },
  };
}

/** Has a device taken by another, as when this process was paused past its lease. */
export async function overtake(kv: CountingStore): Promise<void> {
  await kv.commit([
    { type: "set", key: [...DEVICE, "owner"], value: { epoch: 7, owner: "the other", id: "x" } },
    { type: "set", key: [...DEVICE, "lease"], value: { until: 9_000_000 } },
  ]);
}
