/**
 * The schema that the records of a device follow: looked at before anything is written, and
 * upgraded once.
 *
 * @module
 */

import { StoreError, StoreFormatError } from "../../errors/store_error.ts";
import { isJsonObject } from "../../types/json.ts";
import { isLocal, StoreKeys } from "./keys.ts";
import type { KvEntry, KvKey, KvMutation, KvStore } from "../kv_store.ts";
import { assertNoSeal, sealKey } from "../sealed/assert_not_sealed.ts";

/** Changes records from one version to the next, by what they hold and nothing else. */
export type SchemaStep = (records: SchemaDraft) => void | Promise<void>;

/** From version 0, which wrote no version down, on. */
export const SCHEMA_STEPS: readonly SchemaStep[] = [dateLeftRooms];

/**
 * Rooms that were left say when, so that their state can be removed some time later: these were
 * left long ago.
 */
async function dateLeftRooms(records: SchemaDraft): Promise<void> {
  for await (const { key, value } of records.list(["room"])) {
    if (isJsonObject(value) && (value.membership === "leave" || value.membership === "ban")) {
      records.set(key, { ...value, leftAt: 0 });
    }
  }
}

/** The version that this Greenroom writes. */
export const SCHEMA_VERSION: number = SCHEMA_STEPS.length;

/** What brings a device's records up to date. */
export interface SchemaUpgrade {
  /** The changes, the new version among them. */
  readonly mutations: readonly KvMutation[];
  /**
   * Whether the records must not be used before these changes are made; else they can go along with
   * any commit.
   */
  readonly isNeeded: boolean;
}

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
 * Makes out what brings a device's records up to date. Nothing is written: the caller commits it,
 * on condition that it still holds the device.
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
  if (version === undefined && !await hasRecords(kv, prefix)) return { mutations: [stamp], isNeeded: false };
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

/** Whether a store has a record of a device, beside those that are about its use in this store. */
export async function hasRecords(kv: KvStore, prefix: KvKey): Promise<boolean> {
  for await (const { key } of kv.list(prefix)) {
    if (!isLocal(key.slice(prefix.length))) return true;
  }
  return false;
}

/** A record as a step of an upgrade sees it. */
export interface DraftRecord {
  /** The key, relative to the device's prefix. */
  readonly key: KvKey;
  /** Plain data, not to be changed: set another in its place. */
  readonly value: unknown;
}

/** What the steps of an upgrade read and change. Keys are relative to the device's prefix. */
export class SchemaDraft {
  readonly #kv: KvStore;
  readonly #prefix: KvKey;
  /** By key, what was changed; a record without a value is gone. */
  readonly #changes = new Map<string, { readonly key: KvKey; readonly value?: unknown }>();

  /**
   * @param kv Where the device is kept.
   * @param prefix What the keys of the device begin with.
   */
  constructor(kv: KvStore, prefix: KvKey) {
    this.#kv = kv;
    this.#prefix = prefix;
  }

  /** What was changed, to be committed at once. */
  get mutations(): KvMutation[] {
    return [...this.#changes.values()].map((change): KvMutation => {
      const key = [...this.#prefix, ...change.key];
      return "value" in change ? { type: "set", key, value: change.value } : { type: "delete", key };
    });
  }

  /**
   * The records below a key, not at it, as they were when the reading began; in no particular
   * order.
   */
  async *list(below: KvKey): AsyncGenerator<DraftRecord> {
    const changes = new Map(this.#changes); // what the reader does to a record must not bring it again
    for await (const entry of this.#kv.list([...this.#prefix, ...below])) {
      const key = entry.key.slice(this.#prefix.length);
      if (!changes.has(JSON.stringify(key))) yield { key, value: entry.value };
    }
    for (const change of changes.values()) {
      if ("value" in change && isBelow(change.key, below)) yield { key: change.key, value: change.value };
    }
  }

  /** Puts a value in the place of whatever is there. */
  set(key: KvKey, value: unknown): void {
    this.#changes.set(JSON.stringify(key), { key, value });
  }

  /** Removes a record. */
  delete(key: KvKey): void {
    this.#changes.set(JSON.stringify(key), { key });
  }
}

function isBelow(key: KvKey, prefix: KvKey): boolean {
  return key.length > prefix.length && prefix.every((part, index) => part === key[index]);
}
