/**
 * The stores whose writing to the disk is judged.
 *
 * @module
 */

import { SealedStore, type Store } from "@greenroom/matrix";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { DatabaseSync } from "node:sqlite";

/**
 * `sqlite-short`: a log that is checkpointed, and begins anew, every few commits. `sealed`: a sealed
 * one on SQLite.
 */
export type DiskStore = "sqlite" | "sqlite-short" | "sealed" | "kv";

/** The name of the database in its folder. */
export const DATABASE = "store.db";

/** After how many pages a short log is checkpointed; 1,000 is SQLite's own. */
const SHORT_LOG = 24;

const SEAL_KEY = new Uint8Array(32).fill(7);

/** Opens the store of a folder. */
export async function openDiskStore(kind: DiskStore, folder: string): Promise<Store> {
  const path = `${folder}/${DATABASE}`;
  if (kind === "kv") return await KvStore.open(path);
  if (kind === "sealed") return await SealedStore.open(await SqliteStore.open(path), SEAL_KEY);
  if (kind === "sqlite") return await SqliteStore.open(path);
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA wal_autocheckpoint = ${SHORT_LOG}`);
  return await SqliteStore.over(database);
}
