/**
 * Opens the Store for the account that acts.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { ValueError } from "../../errors/matrix_error.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { StoreKey } from "../../store/base/mod.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { StoreHandlers } from "./store_actor.ts";

/** A Store that is opened before it is asked. */
export interface OpenableStore {
  /** The Store; another, if that takes its place. */
  readonly store: ActorRef<StoreHandlers>;
  /** Opens it, the first time. */
  readonly ready: OpenStore;
}

/** The Store, once it is open. */
export async function openedStore(actors: OpenableStore): Promise<ActorRef<StoreHandlers>> {
  await actors.ready();
  return actors.store;
}

/** Who acts. */
export interface Account {
  /** The user; empty until known. */
  readonly mxid: UserID | "";
  /** The device; undefined until known, and after a logout. */
  readonly deviceId: DeviceID | undefined;
  /** Finds out who acts. */
  account(options: { readonly signal: AbortSignal }): Promise<StoreKey>;
}

/** What a {@link storeOpener} works with. */
export interface StoreOpenerOptions {
  readonly store: ActorRef<StoreHandlers>;
  /** Who acts. */
  readonly session: Account;
  /** Whether the store may have records of other accounts, so that it matters who acts. */
  readonly shared: boolean;
}

/**
 * Opens the Store.
 *
 * @param signal Ends the wait. If nothing waits any more before it is open, the opening is
 *   cancelled.
 */
export type OpenStore = (signal?: AbortSignal) => Promise<void>;

/**
 * Makes a function that opens the Store the first time, and later checks that the same user and
 * device act.
 *
 * @returns Rejects with a `ValueError` if the account is another than before.
 */
export function storeOpener({ store, session, shared }: StoreOpenerOptions): OpenStore {
  const opening = new Opening(async (signal) => {
    await store.open(shared ? await session.account({ signal }) : [], { signal });
  });
  let owner: Pick<Account, "mxid" | "deviceId"> = { mxid: "", deviceId: undefined };
  return async (signal) => {
    await opening.join(signal);
    const mxid = session.mxid || owner.mxid;
    const deviceId = session.deviceId ?? owner.deviceId;
    const isOther = (owner.mxid !== "" && mxid !== owner.mxid) ||
      (owner.deviceId !== undefined && deviceId !== owner.deviceId);
    if (isOther) {
      throw new ValueError(
        `Cannot use the store for ${mxid} ${deviceId}: it is open for ${owner.mxid} ${owner.deviceId}; make a new Client`,
      );
    }
    owner = { mxid, deviceId };
  };
}

/**
 * Work that is done once for all who wait for it, and cancelled when none of them waits any more.
 */
class Opening {
  readonly #work: (signal: AbortSignal) => Promise<void>;
  #isOpen = false;
  #attempt: { readonly done: Promise<void>; readonly abort: AbortController; waiting: number } | undefined;

  constructor(work: (signal: AbortSignal) => Promise<void>) {
    this.#work = work;
  }

  async join(signal: AbortSignal | undefined): Promise<void> {
    if (this.#isOpen) return;
    const attempt = this.#attempt ??= this.#begin();
    attempt.waiting++;
    try {
      await (signal === undefined ? attempt.done : abortable(attempt.done, signal));
      this.#isOpen = true;
    } finally {
      if (--attempt.waiting === 0) {
        attempt.abort.abort(signal?.reason); // no effect if it is open or has failed
        if (this.#attempt === attempt) this.#attempt = undefined;
      }
    }
  }

  #begin() {
    const abort = new AbortController();
    const done = this.#work(abort.signal);
    done.catch(() => {}); // `join()` rejects with it
    return { done, abort, waiting: 0 };
  }
}
