import { StoreFormatError, StoreReadOnlyError } from "@greenroom/matrix/errors";
import { KvStore } from "@greenroom/matrix/store/kv";
import { formatKey } from "../../../src/store/deno_kv/database.ts";
import { databaseOf } from "../../../src/store/deno_kv/open.ts";
import { storeConformance } from "../../../src/testing/conformance/conformance.ts";
import { Denokv } from "../../../tools/denokv.ts";
import { withoutDenokv } from "../support/denokv.ts";

const servers = new Map<string, Denokv>();

async function serverOf(place: string): Promise<Denokv> {
  const server = servers.get(place) ?? await Denokv.start();
  servers.set(place, server);
  return server;
}

async function open(place: string): Promise<KvStore> {
  const { url, accessToken } = await serverOf(place);
  return await KvStore.open(url, { accessToken });
}

/** Serves the database of a place again, otherwise than before. */
async function restart(place: string, { readOnly }: { readOnly: boolean }): Promise<void> {
  const before = await serverOf(place);
  const { port, accessToken, folder } = before;
  await before.kill();
  servers.set(place, await Denokv.start({ port, accessToken, folder, readOnly }));
}

async function put(place: string, key: Deno.KvKey, text: string | undefined): Promise<void> {
  const { url, accessToken } = await serverOf(place);
  const database = databaseOf(url, { accessToken });
  await database.commit([], [{
    key,
    record: text === undefined ? undefined : new TextEncoder().encode(text),
  }]);
  database.close();
}

const FOREIGN = ["greenroom", "users", "me"];

storeConformance("KvStore on a server", open, {
  durable: true,
  shared: true,
  copies: true,
  spoil: {
    readOnly: async (place) => {
      await restart(place, { readOnly: true });
      return { error: StoreReadOnlyError, mend: () => restart(place, { readOnly: false }) };
    },
    newer: async (place) => {
      await put(place, formatKey, "2");
      return { error: StoreFormatError, mend: () => put(place, formatKey, "1") };
    },
    foreign: async (place) => {
      await put(place, FOREIGN, "hello");
      return { error: StoreFormatError, mend: () => put(place, FOREIGN, undefined) };
    },
  },
  cleanUp: async (place) => {
    const server = servers.get(place);
    await server?.kill();
    if (server !== undefined) await Deno.remove(server.folder, { recursive: true });
  },
  define: (name, fn) => Deno.test({ name, ignore: withoutDenokv, fn }),
});
