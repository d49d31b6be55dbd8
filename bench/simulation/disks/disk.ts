/**
 * What a device keeps, sealed or not, and copies of it.
 *
 * @module
 */

import { MemoryStore, SealedStore, type Store, type StoreEntry, type StoreMutation } from "@greenroom/matrix";

/** A copy of what a disk had at some time. */
export interface DiskCopy {
  /** What was on the disk. */
  readonly entries: readonly StoreEntry[];
  /** The rooms and IDs of sessions whose keys were there. */
  readonly sessions: ReadonlySet<string>;
}

/** A disk. */
export class Disk {
  readonly #inner = new MemoryStore();
  #store: Store = this.#inner;
  /** What it is sealed with. */
  #seal: Uint8Array | undefined;
  /** The process that has taken it; undefined: nobody can say. */
  #owner: string | undefined;

  /** What reads and writes it. */
  get store(): Store {
    return this.#store;
  }

  /**
   * Opens a disk.
   *
   * @param seal What it is sealed with; undefined: it is not.
   * @param entries What is on it.
   */
  static async open(seal?: Uint8Array, entries: readonly StoreEntry[] = []): Promise<Disk> {
    const disk = new Disk();
    await disk.#inner.commit(entries.map(({ key, value }) => ({ type: "set", key, value }) as const));
    disk.#seal = seal;
    if (seal !== undefined) disk.#store = await SealedStore.open(disk.#inner, seal);
    return disk;
  }

  /**
   * Notes what a process has written: only the one that has taken the disk writes, and who waits for it asks.
   */
  written(process: string, mutations: readonly StoreMutation[], violate: (what: string) => void): void {
    const taken = mutations.find(({ key }) => key.at(-1) === "owner");
    if (taken?.type === "set") this.#owner = (taken.value as { readonly owner: string }).owner;
    else if (mutations.every(({ key }) => key.at(-1) === "wanted")) return;
    else if (this.#owner !== undefined && this.#owner !== process) {
      violate(`${process} wrote to a disk that ${this.#owner} had taken`);
    }
  }

  /** Copies it. */
  async copy(): Promise<DiskCopy> {
    const entries = await Array.fromAsync(this.#inner.list([]));
    return { entries: structuredClone(entries), sessions: await this.sessions() };
  }

  /** Another disk, with a copy of what is on this one. */
  async duplicate(): Promise<Disk> {
    const { entries } = await this.copy();
    return await Disk.open(this.#seal, entries);
  }

  /** Puts a copy in place of what is there. */
  async putBack({ entries }: DiskCopy): Promise<void> {
    this.#owner = undefined;
    const present = await Array.fromAsync(this.#inner.list([]));
    await this.#inner.commit([
      ...present.map(({ key }) => ({ type: "delete", key }) as const),
      ...structuredClone(entries).map(({ key, value }) => ({ type: "set", key, value }) as const),
    ]);
  }

  /** The rooms and IDs of sessions whose keys are there. */
  async sessions(): Promise<ReadonlySet<string>> {
    const sessions = new Set<string>();
    for await (const { key: [, , kind, part, ...id] } of this.#store.list([])) {
      if (kind === "crypto" && part === "inbound") sessions.add(id.join(" "));
    }
    return sessions;
  }
}
