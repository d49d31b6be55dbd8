/**
 * The session of a login by OAuth 2.0. It stays in memory until the login is whole, so that the session before
 * goes on if the login fails, and is ended if it does not.
 *
 * @module
 */

import { MemoryStore, type Store, type StoreKey } from "../../../mod.ts";
import type { UserID } from "../../../types.ts";
import type { OAuthSession } from "../../oauth/mod.ts";

/** Where sessions and clients are in a store. */
const ALL: StoreKey = ["greenroom.oauth"];

/** A store in memory for a login, which knows the clients that are registered already. */
export async function apart(store: Store): Promise<MemoryStore> {
  const made = new MemoryStore();
  await copy(store, made, [...ALL, "client"]);
  return made;
}

/**
 * Puts a session that was kept apart into the store.
 *
 * @param finish Does what else makes the login whole; if that fails, the store is as it was.
 * @returns The session of the user that was there before.
 */
export async function putInPlace(
  { session, store, user: mxid }: { readonly session: Store; readonly store: Store; readonly user: UserID },
  finish: () => Promise<void>,
): Promise<OAuthSession | undefined> {
  const before = new MemoryStore();
  await copy(store, before, ALL);
  await copy(session, store, ALL);
  try {
    await finish();
  } catch (error) {
    for await (const { key } of store.list(ALL)) await store.commit([{ type: "delete", key }]);
    await copy(before, store, ALL);
    throw error;
  }
  const { OAuthSession } = await import("../../oauth/mod.ts");
  return await OAuthSession.resume({ store: before, mxid, log: false });
}

async function copy(from: Store, to: Store, prefix: StoreKey): Promise<void> {
  for await (const { key, value } of from.list(prefix)) await to.commit([{ type: "set", key, value }]);
}
