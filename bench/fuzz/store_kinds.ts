/**
 * The stores that a client is tried with.
 *
 * @module
 */

import { MemoryStore, SealedStore, type Store } from "@greenroom/matrix";
import { openStore as openFile, StorePlace } from "../kill/store_place.ts";

/** In memory, in files, in a file whose records are sealed, and on a server. */
export type FuzzStore = "memory" | "kv" | "sqlite" | "sealed" | "denokv";

/** All of them. */
export const FUZZ_STORES: readonly FuzzStore[] = ["memory", "kv", "sqlite", "sealed", "denokv"];

const SEAL_KEY = new Uint8Array(32).fill(7);

/** A store that a client can be closed with, and opened again. */
export class FuzzPlace implements AsyncDisposable {
  readonly #kind: FuzzStore;
  readonly #memory = new MemoryStore();
  readonly #folder: string;
  readonly #place: StorePlace | undefined;

  private constructor(kind: FuzzStore, folder: string, place: StorePlace | undefined) {
    this.#kind = kind;
    this.#folder = folder;
    this.#place = place;
  }

  /** Makes it; it is empty. */
  static async make(kind: FuzzStore): Promise<FuzzPlace> {
    if (kind === "memory") return new FuzzPlace(kind, "", undefined);
    const folder = await Deno.makeTempDir({ prefix: "greenroom-fuzz-" });
    return new FuzzPlace(kind, folder, await StorePlace.make(kind === "sealed" ? "sqlite" : kind, folder));
  }

  /** Opens it. */
  async open(): Promise<Store> {
    if (this.#place === undefined) return this.#memory;
    const store = await openFile(this.#place.orders());
    return this.#kind === "sealed" ? await SealedStore.open(store, SEAL_KEY) : store;
  }

  /** How many bytes it takes on the disk; 0 of one that has no file. */
  async size(): Promise<number> {
    if (this.#place === undefined) return 0;
    return await sizeOf(this.#folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#place?.[Symbol.asyncDispose]();
    if (this.#place !== undefined) await Deno.remove(this.#folder, { recursive: true });
  }
}

async function sizeOf(folder: string): Promise<number> {
  let size = 0;
  for await (const entry of Deno.readDir(folder)) {
    const path = `${folder}/${entry.name}`;
    size += entry.isDirectory ? await sizeOf(path) : (await Deno.stat(path)).size;
  }
  return size;
}
