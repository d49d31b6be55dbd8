/**
 * Which format a database has.
 *
 * @module
 */

import { StoreFormatError } from "../../errors/store_error.ts";
import type { KvDatabase } from "./deno_kv_database.ts";
import { formatKey, namespaceKey } from "./deno_kv_key.ts";

/** The format that this version writes, and the only one that it reads. */
const FORMAT = "1";

/** What can be below the prefix: `format` too, if somebody else notes it while we look. */
const KINDS: ReadonlySet<unknown> = new Set([
  "format",
  "journal",
  "part",
  "parts",
  "staged",
  "turn",
  "value",
]);

/**
 * Looks whether the database is ours to use, and notes the format where it is not noted yet.
 *
 * @throws {StoreFormatError} If it is not; nothing was written then.
 */
export async function checkFormat(database: KvDatabase): Promise<void> {
  while (!await isNoted(database)) {
    const { entries } = await database.page(namespaceKey);
    if (!entries.every(({ key, value }) => KINDS.has(key[1]) && value instanceof Uint8Array)) throw foreign();
    const record = new TextEncoder().encode(FORMAT);
    await database.commit([{ key: formatKey, versionstamp: null }], [{ key: formatKey, record }]);
  }
}

async function isNoted(database: KvDatabase): Promise<boolean> {
  const [noted] = await database.getMany([formatKey]);
  if (noted === undefined || noted.versionstamp === null) return false;
  const format = noted.value instanceof Uint8Array ? new TextDecoder().decode(noted.value) : "";
  if (format === FORMAT) return true;
  if (!/^\d{1,9}$/.test(format)) throw foreign();
  throw new StoreFormatError(
    `Cannot open the store: it has format ${format}, and this version of Greenroom reads format ${FORMAT}; use a newer one`,
  );
}

function foreign(): StoreFormatError {
  return new StoreFormatError(
    'Cannot open the store: what is below "greenroom" in the database was not written by Greenroom; use another database',
  );
}
