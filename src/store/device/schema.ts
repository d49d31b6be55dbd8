/**
 * The version of a device's records: checked before anything is written, and upgraded once; and the record
 * that marks a store as sealed.
 *
 * @module
 */

import { asksFor } from "../../errors/hints.ts";
import { StoreError, StoreFormatError, StoreKeyError } from "../../errors/store_error.ts";
import { objectOf } from "../../types/json.ts";
import type { Store, StoreEntry, StoreKey, StoreMutation } from "../base/mod.ts";
import { isLocal, StoreKeys } from "./keys.ts";

/**
 * The key of the record, in the sealed store. No account's keys begin so: theirs begin with a user
 * ID.
 */
export const sealKey: StoreKey = ["greenroom:sealed"];

/** Returns whether a key is {@link sealKey}. */
export function isSealKey(key: StoreKey): boolean {
  return key.length === sealKey.length && key[0] === sealKey[0];
}

/**
 * Checks that a store is not a sealed one without its `SealedStore`: writing into it would damage
 * it.
 *
 * @param store A store, or a sealed one.
 * @throws {StoreKeyError} If it is sealed and not opened as a `SealedStore`.
 */
export async function assertNotSealed(store: Store): Promise<void> {
  const [seal] = await store.getMany([sealKey]);
  assertNoSeal(seal);
}

/**
 * The same for the record that was read already.
 *
 * @param seal The record at {@link sealKey}.
 * @throws {StoreKeyError} If there is one.
 */
export function assertNoSeal(seal: StoreEntry | undefined): void {
  if (seal === undefined) return;
  const message = "Cannot use the store: it is sealed; open it with SealedStore.open() and its key";
  throw asksFor(new StoreKeyError(message), "the key of the store");
}

/** Changes records from one version to the next, by their content alone. */
export type SchemaStep = (records: SchemaDraft) => void | Promise<void>;

/**
 * The steps from version 1, which is that of Greenroom 0.1.0, to the next, and so on. A published step never
 * changes: the next version has a step of its own.
 */
const SCHEMA_STEPS: readonly SchemaStep[] = [];

/** The version that this Greenroom writes. */
export const SCHEMA_VERSION: number = versionAfter(SCHEMA_STEPS);

function versionAfter(steps: readonly SchemaStep[]): number {
  return 1 + steps.length;
}

/** The upgrade of a device's records. */
interface SchemaUpgrade {
  /** The changes, the new version among them. */
  readonly mutations: readonly StoreMutation[];
  /**
   * Whether the changes must be committed before the records are used; else they can go with any
   * commit.
   */
  readonly isNeeded: boolean;
}

/**
 * Reads the version of a device's records. Nothing is written.
 *
 * @param kv The store of the device.
 * @param prefix The beginning of the device's keys.
 * @param newest The newest version that can be read.
 * @returns The version; undefined if there is no record of it.
 * @throws {StoreFormatError} If the version is unknown.
 * @throws {StoreError} If an import of the device is unfinished.
 * @throws {StoreKeyError} If the store is sealed and not opened as a `SealedStore`.
 */
export async function readSchema(
  kv: Store,
  prefix: StoreKey,
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
  const version = versionOf(schema, device);
  if (version > newest) {
    throw new StoreFormatError(
      `Cannot open the store of ${device}: its schema is version ${version}, and this Greenroom supports up to ${newest}; use a newer Greenroom`,
    );
  }
  return version;
}

/**
 * Computes the upgrade of a device's records. Nothing is written: the caller commits it, with the
 * lease's checks.
 *
 * @param kv The store of the device.
 * @param prefix The beginning of the device's keys.
 * @param steps The steps from each version to the next.
 * @throws What {@link readSchema} throws.
 */
export async function schemaUpgrade(
  kv: Store,
  prefix: StoreKey,
  steps: readonly SchemaStep[] = SCHEMA_STEPS,
): Promise<SchemaUpgrade> {
  const newest = versionAfter(steps);
  const version = await readSchema(kv, prefix, newest);
  if (version === newest) return { mutations: [], isNeeded: false };
  const stamp: StoreMutation = {
    type: "set",
    key: new StoreKeys(prefix).schema(),
    value: { format: newest },
  };
  if (version === undefined) {
    if (await hasRecords(kv, prefix)) throw unpublished(prefix.join(" "));
    return { mutations: [stamp], isNeeded: false };
  }
  const draft = new SchemaDraft(kv, prefix);
  for (const step of steps.slice(version - 1)) await step(draft);
  return { mutations: [...draft.mutations, stamp], isNeeded: true };
}

function versionOf({ value }: StoreEntry, device: string): number {
  const { format, version } = objectOf(value);
  if (typeof format === "number" && Number.isInteger(format) && format > 0) return format;
  if (version !== undefined) throw unpublished(device);
  throw new StoreFormatError(
    `Cannot open the store of ${device}: its schema has no version; restore a copy of it`,
  );
}

/** Versions before 0.1.0 counted differently: their records are of other forms, or have no version. */
function unpublished(device: string): StoreFormatError {
  return new StoreFormatError(
    `Cannot open the store of ${device}: a Greenroom before 0.1.0 has written it; delete it, and log in anew`,
  );
}

/** Returns whether a store has a record of a device, beside those that are about its use in this store. */
export async function hasRecords(kv: Store, prefix: StoreKey): Promise<boolean> {
  for await (const { key } of kv.list(prefix)) {
    if (!isLocal(key.slice(prefix.length))) return true;
  }
  return false;
}

/** A record as a step of an upgrade sees it. */
interface DraftRecord {
  /** The key, relative to the device's prefix. */
  readonly key: StoreKey;
  /** Plain data. Set a new value instead of changing it. */
  readonly value: unknown;
}

/**
 * The records during an upgrade: nothing is written before all steps are done. Keys are relative to
 * the device's prefix.
 */
class SchemaDraft {
  readonly #kv: Store;
  readonly #prefix: StoreKey;
  /** The changes by key; a record without a value is removed. */
  readonly #changes = new Map<string, { readonly key: StoreKey; readonly value?: unknown }>();

  /**
   * @param kv The store of the device.
   * @param prefix The beginning of the device's keys.
   */
  constructor(kv: Store, prefix: StoreKey) {
    this.#kv = kv;
    this.#prefix = prefix;
  }

  /** The changes, for one commit. */
  get mutations(): StoreMutation[] {
    return [...this.#changes.values()].map((change): StoreMutation => {
      const key = [...this.#prefix, ...change.key];
      return "value" in change ? { type: "set", key, value: change.value } : { type: "delete", key };
    });
  }

  /**
   * The records below a key, without the one at it, as they were when the reading began; in no
   * particular order.
   */
  async *list(below: StoreKey): AsyncGenerator<DraftRecord> {
    const changes = new Map(this.#changes); // a copy: a record that the reader changes is not listed again
    for await (const entry of this.#kv.list([...this.#prefix, ...below])) {
      const key = entry.key.slice(this.#prefix.length);
      if (!changes.has(JSON.stringify(key))) yield { key, value: entry.value };
    }
    for (const change of changes.values()) {
      if ("value" in change && isBelow(change.key, below)) yield { key: change.key, value: change.value };
    }
  }

  set(key: StoreKey, value: unknown): void {
    this.#changes.set(JSON.stringify(key), { key, value });
  }

  /** Removes a record. */
  delete(key: StoreKey): void {
    this.#changes.set(JSON.stringify(key), { key });
  }
}

function isBelow(key: StoreKey, prefix: StoreKey): boolean {
  return key.length > prefix.length && prefix.every((part, index) => part === key[index]);
}
