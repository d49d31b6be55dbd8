/**
 * Two stores of one denokv, one of them behind a network that fails.
 *
 * @module
 */

import { KvStore } from "@greenroom/matrix/store/kv";
import type { StoreKey, StoreMutation } from "@greenroom/matrix";
import type { Denokv } from "../../../tools/denokv.ts";
import { cut, DenokvProxy, type WriteRule } from "./denokv_proxy.ts";

/** Makes a mutation that puts a value somewhere. */
export const set = (key: StoreKey, value: unknown): StoreMutation => ({ type: "set", key, value });

/** Reads one value; `undefined` if there is none. */
export async function valueOf(store: KvStore, key: StoreKey): Promise<unknown> {
  return (await store.getMany([key]))[0]?.value;
}

/** Two stores of one database: one behind a network that fails, one that is not. */
export async function scene(server: Denokv) {
  const { accessToken } = server;
  const proxy = new DenokvProxy(server.url);
  const store = await KvStore.open(proxy.url, { accessToken });
  const other = await KvStore.open(server.url, { accessToken });
  return {
    proxy,
    store,
    other,
    async [Symbol.asyncDispose]() {
      await store.close();
      await other.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

/** The request arrives, and its answer breaks off. */
export const lost: WriteRule = async (forward) => {
  await (await forward()).body?.cancel();
  return cut();
};

/** The request does not arrive. */
export const failing: WriteRule = () =>
  Promise.resolve(new Response("The server is temporarily unavailable", { status: 503 }));
