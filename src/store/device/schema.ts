/**
 * The schema that the records of a device follow: looked at before anything is written, and upgraded once.
 *
 * @module
 */

import { StoreError, StoreFormatError } from "../../errors/store_error.ts";
import { isJsonObject } from "../../types/json.ts";
import { StoreKeys } from "./keys.ts";
import type { KvEntry, KvKey, KvMutation, KvStore } from "../kv_store.ts";
import { assertNoSeal, sealKey } from "../sealed/sealed_mark.ts";
import { SchemaDraft } from "./schema_draft.ts";
import { SCHEMA_STEPS, type SchemaStep } from "./schema_steps.ts";

/** The version that this Greenroom writes. */
export const SCHEMA_VERSION: number = SCHEMA_STEPS.length;

/** What brings a device's records up to date. */
export interface SchemaUpgrade {
  /** The changes, the new version among them. */
  readonly mutations: readonly KvMutation[];
  /** Whether the records must not be used before these changes are made; else they can go along with any commit. */
  readonly isNeeded: boolean;
}

/** Who holds a device is no record of it. */
const NO_RECORDS: ReadonlySet<string | undefined> = new Set(["owner", "lease"]);

/**
 * Reads which version the records of a device have. Nothing is written.
 *
 * @param kv Where the device is kept.
 * @param prefix What the keys of the device begin with.
 * @param newest The newest version that can be read.
 * @returns The version; undefined if none was written down.
 * @throws {StoreFormatError} If the records are of a version that is not known.
 * @throws {StoreError} If an import of the device did not finish.
 * @throws {StoreKeyError} If the store is sealed, without its seal around it.
 */
export async function readSchema(
  kv: KvStore,
  prefix: KvKey,
  newest: number = SCHEMA_VERSION,
): Promise<number | undefined> {
  const keys = new StoreKeys(prefix);
  const [schema, importing, seal] = await kv.getMany([keys.schema(), keys.importing(), sealKey]);
  assertNoSeal(seal);
  const device = prefix.join(" ");
  if (importing !== undefined) {
    throw new StoreError(
      `Cannot open the store of ${device}: an import into it did not finish; import it once more`,
    );
  }
  if (schema === undefined) return undefined;
  const version = versionOf(schema);
  if (version > newest) {
    throw new StoreFormatError(
      `Cannot open the store of ${device}: its schema is version ${version}, and this Greenroom knows up to ${newest}; use a newer Greenroom`,
    );
  }
  return version;
}

/**
 * Makes out what brings a device's records up to date. Nothing is written: the caller commits it, on condition that it still holds
 * the device.
 *
 * @param kv Where the device is kept.
 * @param prefix What the keys of the device begin with.
 * @param steps What leads from each version to the next, from version 0 on.
 * @throws What {@link readSchema} throws.
 */
export async function schemaUpgrade(
  kv: KvStore,
  prefix: KvKey,
  steps: readonly SchemaStep[] = SCHEMA_STEPS,
): Promise<SchemaUpgrade> {
  const version = await readSchema(kv, prefix, steps.length);
  if (version === steps.length) return { mutations: [], isNeeded: false };
  const stamp: KvMutation = {
    type: "set",
    key: new StoreKeys(prefix).schema(),
    value: { version: steps.length },
  };
  if (version === undefined && await isEmpty(kv, prefix)) return { mutations: [stamp], isNeeded: false };
  const draft = new SchemaDraft(kv, prefix);
  for (const step of steps.slice(version ?? 0)) await step(draft); // records without a version are of version 0
  return { mutations: [...draft.mutations, stamp], isNeeded: true };
}

function versionOf({ key, value }: KvEntry): number {
  const version = isJsonObject(value) ? value.version : undefined;
  if (typeof version === "number" && Number.isInteger(version) && version >= 0) return version;
  throw new StoreFormatError(
    `Cannot open the store of ${key.slice(0, -1).join(" ")}: its schema has no version; restore a copy of it`,
  );
}

async function isEmpty(kv: KvStore, prefix: KvKey): Promise<boolean> {
  for await (const { key } of kv.list(prefix)) {
    if (!NO_RECORDS.has(key[prefix.length])) return false;
  }
  return true;
}
