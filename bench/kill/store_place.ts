/**
 * Where the bots keep what they know: a file, or a server that can be killed too.
 *
 * @module
 */

import type { Store } from "@greenroom/matrix";
import { delay } from "@std/async/delay";
import { Denokv } from "../../tools/denokv.ts";

/** The stores that are tried: Deno KV's file, SQLite's, and Deno KV on a server of its own. */
export type StoreKind = "kv" | "sqlite" | "denokv";

/** All of them. */
export const STORE_KINDS: readonly StoreKind[] = ["kv", "sqlite", "denokv"];

/** The store's part of a process's orders. */
export interface StoreOrders {
  readonly kind: StoreKind;
  /** The file, or the address. */
  readonly path: string;
  /** What the server wants to see. */
  readonly accessToken?: string;
  /** For how long a server that is away is waited for, in milliseconds. */
  readonly patience?: number;
}

/** Opens a store in a process that was told of it. */
export async function openStore({ kind, path, accessToken, patience }: StoreOrders): Promise<Store> {
  if (kind === "sqlite") {
    const { SqliteStore } = await import("@greenroom/matrix/store/sqlite");
    return await SqliteStore.open(path);
  }
  const { KvStore } = await import("@greenroom/matrix/store/kv");
  return await KvStore.open(path, { accessToken, patience });
}

/** The place of a store, for as long as a run takes. */
export class StorePlace implements AsyncDisposable {
  readonly kind: StoreKind;
  readonly #path: string;
  #server: Denokv | undefined;

  private constructor(kind: StoreKind, path: string, server: Denokv | undefined) {
    this.kind = kind;
    this.#path = path;
    this.#server = server;
  }

  /** Makes it, below a folder. */
  static async make(kind: StoreKind, folder: string): Promise<StorePlace> {
    if (kind !== "denokv") return new StorePlace(kind, `${folder}/bot.db`, undefined);
    const own = `${folder}/denokv`;
    await Deno.mkdir(own);
    const server = await Denokv.start({ folder: own });
    return new StorePlace(kind, server.url, server);
  }

  /** The store's part of a process's orders. */
  orders(patience?: number): StoreOrders {
    return { kind: this.kind, path: this.#path, accessToken: this.#server?.accessToken, patience };
  }

  /**
   * Kills the server with SIGKILL, and starts it again after so many milliseconds, on the same file
   * and port.
   */
  async crash(away: number): Promise<void> {
    const server = this.#server;
    if (server === undefined) throw new Error(`Cannot kill the server: ${this.kind} has none`);
    await server.kill();
    await delay(away);
    const { folder, port, accessToken } = server;
    this.#server = await Denokv.start({ folder, port, accessToken });
  }

  /** Its creator removes the folder. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server?.stop();
  }
}
