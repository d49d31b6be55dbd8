/**
 * What a message costs a store: how many commits, and how many bytes. Counted, not timed.
 *
 * @module
 */

import { Client, defineSession, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { KvStore } from "@greenroom/matrix/store/kv";
import { Homeserver } from "@greenroom/matrix/testing";
import { Denokv, hasDenokv, isDenokvBuilt } from "../../tools/denokv.ts";
import type { Store } from "../../src/store/base/mod.ts";
import { hasKeys } from "./encrypted_start.ts";
import { number, row } from "../support/markdown.ts";
import { CountingStore, type Written } from "./counting_store.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

/** Long enough for no sign of life to be due while it is counted, in milliseconds. */
const LEASE_MS = 600_000;
/** What is done once must be over before it is counted. */
const WARM_UP = 10;
const TEXT = "The room is green – 今日は! ".repeat(9).slice(0, 152);
const MEGOLM = { algorithm: "m.megolm.v1.aes-sha2" };

/** A bot and a user who talks to it. */
interface Stage extends AsyncDisposable {
  readonly bot: Client;
  readonly alice: Client;
  readonly roomId: RoomID;
  /** Resolves when the bot has handled one more message. */
  next(): Promise<void>;
}

async function stage(store: Store, { encryption }: { readonly encryption: boolean }): Promise<Stage> {
  const homeserver = new Homeserver();
  const connect = (name: string, store?: Store) =>
    new Client({
      baseUrl: homeserver.baseUrl,
      fetch: homeserver.fetch,
      accessToken: homeserver.createUser(name).accessToken,
      encryption: encryption && EVERYBODY,
      store,
      lease: { duration: LEASE_MS },
    });
  const [alice, bot] = [connect("alice"), connect("bot", store)];
  let handled = Promise.withResolvers<void>();
  const session = defineSession({ name: "tally", per: "room", initial: () => ({ heard: 0 }) });
  bot.on("m.room.message", (_, context) => {
    context.session.heard++;
    handled.resolve();
  }, { session });
  for (const client of [alice, bot]) client.start();
  if (encryption) await hasKeys(alice, "@bot:localhost");
  const roomId = await alice.createRoom({
    invitees: ["@bot:localhost"],
    initialState: encryption ? [{ type: "m.room.encryption", state_key: "", content: MEGOLM }] : [],
  });
  await bot.joinRoom(roomId);
  return {
    bot,
    alice,
    roomId,
    async next() {
      await handled.promise;
      handled = Promise.withResolvers();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([bot.close(), alice.close()]);
      await homeserver[Symbol.asyncDispose]();
    },
  };
}

/** What a message costs that comes, and one that is sent and comes back. */
async function count(
  inner: Store,
  options: { readonly encryption: boolean; readonly messages: number },
): Promise<{ received: Written; sent: Written }> {
  const store = new CountingStore(inner);
  await using here = await stage(store, options);
  const talk = async (client: Client, messages: number): Promise<Written> => {
    store.take();
    for (let index = 0; index < messages; index++) {
      await client.sendText(here.roomId, TEXT);
      await here.next();
    }
    return store.take();
  };
  for (const client of [here.alice, here.bot]) await talk(client, WARM_UP);
  return {
    received: await talk(here.alice, options.messages),
    sent: await talk(here.bot, options.messages),
  };
}

/** Counts with each store, and tables it. A denokv that isn't built is left out of a quick run. */
export async function storeTable({ quick }: { readonly quick: boolean }): Promise<string> {
  const messages = quick ? 10 : 200;
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const stores: (readonly [string, (name: string) => Store | Promise<Store>])[] = [
    ["memory", () => new MemoryStore()],
    ["Deno KV, a file", (name) => KvStore.open(`${folder}/${name}.kv`)],
  ];
  if (await (quick ? isDenokvBuilt() : hasDenokv())) {
    const denokv = stack.use(await Denokv.start());
    const { url, accessToken } = denokv;
    stores.push(["Deno KV, denokv", () => KvStore.open(url, { accessToken })]);
  }
  const rows: string[] = [];
  for (const [name, open] of stores) {
    for (const encryption of [false, true]) {
      const kind = encryption ? "encrypted" : "plain";
      const store = await open(kind);
      const { received, sent } = await count(store, { encryption, messages });
      const each = ({ commits, changes, bytes }: Written) =>
        [commits, changes, bytes].map((value) => number(value / messages));
      rows.push(row([name, kind, ...each(received), ...each(sent)]));
    }
  }
  const columns = ["commits", "records", "bytes"];
  const head = [
    "store",
    "rooms",
    ...columns.map((column) => `${column}, received`),
    ...columns.map((column) => `${column}, sent`),
  ];
  return [row(head), `|---|---|${"---:|".repeat(6)}`, ...rows].join("\n");
}
