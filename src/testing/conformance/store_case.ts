/**
 * A case of the store conformance suite.
 *
 * @module
 */

import { platform } from "../../base/platform/mod.ts";
import type { Store, StoreEntry, StoreKey, StoreMutation } from "../../../mod.ts";

/** What a case asks of a store beside the interface. */
type StoreTrait = "copies" | "durable" | "locks" | "shared";

/** What can be wrong with a place. */
export type StoreProblem = "full" | "readOnly" | "corrupted" | "foreign" | "newer";

/** Something is wrong with a place. */
export interface SpoiledStore {
  /** The class of the error with which the store says so. */
  readonly error: abstract new (...args: never[]) => Error;
  /** Opens the store of the place as it is now. By default, as that of any other place. */
  readonly open?: () => Store | Promise<Store>;
  /**
   * Takes the cause away; a store that is open then goes on if it was only full. By default,
   * nothing takes it away.
   */
  readonly mend?: () => void | Promise<void>;
}

/** Where a case takes place. */
export interface StoreScene {
  /** Makes something be wrong with the place, in which no store is open. */
  spoil(problem: StoreProblem): Promise<SpoiledStore & { readonly open: () => Promise<Store> }>;
  /** What the place holds, to be compared; `undefined` if it can't be read. */
  content(): Promise<unknown>;
}

/** Something that every store does, and how to see it. */
export interface StoreCase {
  /** A sentence that the store's name begins. */
  readonly name: string;
  /** Only for stores with this trait, or of which a place can be spoiled so. */
  readonly needs?: StoreTrait | StoreProblem;
  /**
   * Fails if the store does something else.
   *
   * @param open Opens the case's own store, empty at first.
   * @param scene What can be done to the store's place.
   */
  run(open: () => Promise<Store>, scene: StoreScene): Promise<void>;
}

/** A case that takes place in one store, open once. */
export function withStore(
  name: string,
  run: (store: Store) => Promise<void>,
  needs?: StoreCase["needs"],
): StoreCase {
  return { name, needs, run: async (open) => await run(await open()) };
}

/** Makes a mutation that puts a value somewhere. */
export function set(key: StoreKey, value: unknown): StoreMutation {
  return { type: "set", key, value };
}

/** Makes a mutation that removes a value. */
export function remove(key: StoreKey): StoreMutation {
  return { type: "delete", key };
}

export async function read(store: Store, key: StoreKey): Promise<StoreEntry | undefined> {
  return (await store.getMany([key]))[0];
}

/** Reads one value; `undefined` if there is none. */
export async function readValue(store: Store, key: StoreKey): Promise<unknown> {
  return (await read(store, key))?.value;
}

/** Reads the versionstamp that a check of the key must name. */
export async function stampOf(store: Store, key: StoreKey): Promise<string | null> {
  return (await read(store, key))?.versionstamp ?? null;
}

/** Reads all that lies below a prefix. */
export async function listed(store: Store, prefix: StoreKey): Promise<StoreEntry[]> {
  return await Array.fromAsync(store.list(prefix));
}

/** Bytes that are the same in every run, and no two pieces of which are. */
export function someBytes(length: number, seed = 1): Uint8Array {
  const bytes = new Uint8Array(length);
  let state = seed;
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[index] = state >>> 24;
  }
  return bytes;
}

/**
 * Lets other work of the program go on: a store may read without leaving the thread, and wait for
 * the disk beside it.
 */
export async function otherWork(): Promise<void> {
  await new Promise<void>((resolve) => platform.nextTask(resolve));
}
