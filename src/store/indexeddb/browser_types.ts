/**
 * What is used of IndexedDB and Web Locks: Deno's types have neither.
 *
 * A file of its own because it is the browser's, and nothing of ours.
 *
 * @module
 */

export interface IdbRequest<Result> {
  readonly result: Result;
  readonly error: unknown;
  onsuccess: (() => void) | null;
  onerror: (() => void) | null;
}

export interface IdbOpening extends IdbRequest<IdbDatabase> {
  onupgradeneeded: (() => void) | null;
  onblocked: (() => void) | null;
}

export interface IdbTable {
  get(key: Uint8Array): IdbRequest<unknown>;
  getAll(query: unknown, count?: number): IdbRequest<unknown[]>;
  put(value: unknown, key: Uint8Array): IdbRequest<unknown>;
  delete(key: Uint8Array): IdbRequest<unknown>;
}

export interface IdbTransaction {
  readonly error: unknown;
  oncomplete: (() => void) | null;
  onabort: (() => void) | null;
  objectStore(name: string): IdbTable;
  abort(): void;
}

export interface IdbDatabase {
  onversionchange: (() => void) | null;
  createObjectStore(name: string): unknown;
  transaction(
    tables: string,
    mode: "readonly" | "readwrite",
    options?: { readonly durability: "strict" },
  ): IdbTransaction;
  close(): void;
}

/** The browser, as far as a store needs it. */
export interface Browser {
  readonly indexedDB?: { open(name: string, version: number): IdbOpening };
  readonly IDBKeyRange: {
    bound(lower: Uint8Array, upper: Uint8Array, lowerOpen: boolean, upperOpen: boolean): unknown;
  };
  readonly navigator: {
    readonly locks?: {
      request(
        name: string,
        options: { readonly ifAvailable: true },
        call: (lock: unknown) => Promise<void> | undefined,
      ): Promise<void>;
    };
  };
}
