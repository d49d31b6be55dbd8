/**
 * Opens the Store for the account that acts.
 *
 * @module
 */

import { ValueError } from "../errors/value_error.ts";
import type { DeviceID, UserID } from "../types/ids.ts";
import type { KvKey } from "../store/kv_store.ts";
import type { ActorRef } from "./actor.ts";
import type { StoreProtocol } from "./store_protocol.ts";

/** Who acts. */
export interface Account {
  /** The user; empty until known. */
  readonly mxid: UserID | "";
  /** The device; undefined until known, and after a logout. */
  readonly deviceId: DeviceID | undefined;
  /** Finds out. */
  account(): Promise<KvKey>;
}

/** What a {@link storeOpener} works with. */
export interface StoreOpenerOptions {
  /** The Store actor. */
  readonly store: ActorRef<StoreProtocol>;
  /** Who acts. */
  readonly session: Account;
  /** Whether the store may hold what belongs to others too, so that it matters who acts. */
  readonly shared: boolean;
}

/**
 * Makes what opens the Store the first time, and from then on makes sure that it is still the same user and device who acts.
 *
 * @returns Rejects with a `ValueError` if the account is another than before.
 */
export function storeOpener({ store, session, shared }: StoreOpenerOptions): () => Promise<void> {
  let opening: Promise<void> | undefined;
  let owner: Pick<Account, "mxid" | "deviceId"> = { mxid: "", deviceId: undefined };
  const open = async (): Promise<void> => {
    try {
      await store.ask("open", shared ? await session.account() : []);
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };
  return async () => {
    await (opening ??= open());
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
