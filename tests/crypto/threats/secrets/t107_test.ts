/**
 * A reader of a store's file or of a copy of a device, and a writer who damages one.
 *
 * Attacker: anybody with the disk, a backup of it, or the database server. What must hold: a sealed
 * store contains nothing of keys and messages; whatever is damaged, swapped or opened with a wrong
 * key, the error shows nothing of the record, of the key, or of the database's token. The class of
 * mistake: an error of a parser or a server becomes a `cause`, and quotes what it read.
 */

import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import {
  type Client,
  exportDevice,
  importDevice,
  inspectDevice,
  MemoryStore,
  SealedStore,
  type Store,
} from "@greenroom/matrix";
import type { DeviceID, UserID } from "@greenroom/matrix/types";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { KvConnection } from "../../../../src/store/deno_kv/remote_database.ts";
import { systemClock } from "../../../../src/base/clock.ts";
import { clientStage } from "../../../client/support/stage.ts";
import { conversation } from "../conversation.ts";
import { Planted, seen } from "../planted.ts";

/** Everything in a folder, as text in hexadecimal numbers and as it is. */
async function filesIn(folder: string): Promise<string> {
  const texts: string[] = [];
  for await (const { name, isFile } of Deno.readDir(folder)) {
    if (!isFile) continue;
    const bytes = await Deno.readFile(`${folder}/${name}`);
    texts.push(bytes.toHex(), new TextDecoder("latin1").decode(bytes));
  }
  return texts.join("\n");
}

async function failure(work: () => Promise<unknown>): Promise<string> {
  return seen(await assertRejects(work));
}

function deviceOf({ mxid, deviceId }: Client): { mxid: UserID; deviceId: DeviceID } {
  assert(mxid !== "" && deviceId !== undefined);
  return { mxid, deviceId };
}

for (const isSealed of [true, false]) {
  Deno.test(`T107: in the files of a store that is ${isSealed ? "" : "not "}sealed ${isSealed ? "no" : "every"} secret is found`, async () => {
    const folder = await Deno.makeTempDir();
    try {
      const key = crypto.getRandomValues(new Uint8Array(32));
      await using stage = clientStage();
      const { alice, bob, stores, keys, words } = await conversation(stage);
      await Promise.all([alice.close(), bob.close()]);
      keys.add("the seal's key", key);
      const file = await SqliteStore.open(`${folder}/bob.db`);
      const store = isSealed ? await SealedStore.open(file, key) : file;
      await importDevice(store, exportDevice(stores[1], deviceOf(bob)));
      await store.close();
      const found = await filesIn(folder);
      const leaks = keys.leaksIn(found);
      if (isSealed) assertEquals([leaks, words.leaksIn(found)], [[], []]);
      else assert(leaks.length > 3, `only ${leaks}`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

Deno.test("T107: a copy of a device that has a key holds no secret, nor does what is said of one that fails", async () => {
  await using stage = clientStage();
  const { alice, bob, stores: [store], keys, words } = await conversation(stage);
  const device = deviceOf(alice);
  await Promise.all([alice.close(), bob.close()]);
  const key = crypto.getRandomValues(new Uint8Array(32));
  keys.add("the copy's key", key);
  const copied = async (options: { key?: Uint8Array }) =>
    await new Response(exportDevice(store, { ...device, ...options })).bytes();
  const sealed = await copied({ key });
  const open = await copied({});
  assertEquals(keys.leaksIn(sealed.toHex()), []);
  assertEquals(words.leaksIn(new TextDecoder("latin1").decode(sealed)), []);
  assertNotEquals(keys.leaksIn(open.toHex()), [], "without a key it is in clear");

  const told = [seen(await inspectDevice(store, device))];
  const damaged = (copy: Uint8Array<ArrayBuffer>, at: number) => copy.with(at, (copy[at] ?? 0) ^ 1);
  const places = Array.from({ length: 40 }, (_, index) => Math.floor(index * open.length / 40));
  for (const copy of [...places.map((at) => damaged(open, at)), open.subarray(0, open.length >> 1)]) {
    told.push(
      await failure(() => importDevice(new MemoryStore(), new Response(copy).body ?? new ReadableStream())),
    );
  }
  for (const wrong of [undefined, crypto.getRandomValues(new Uint8Array(32))]) {
    const body = new Response(sealed).body ?? new ReadableStream();
    told.push(await failure(() => importDevice(new MemoryStore(), body, { key: wrong })));
  }
  told.push(await failure(() => copied({ key: key.subarray(1) })));
  assertEquals(keys.leaksIn(told.join("\n")), []);
  assertEquals(words.leaksIn(told.join("\n")), []);
});

const planted = new Planted();
const PIN = "pin-84652";
planted.add("what is short", PIN);
const value = { token: planted.token("what is kept"), pin: PIN };
const RECORD = ["@a:b", "D", "kept"];

/** Reads a record of each kind of store after its bytes were cut, as text and as what a serializer made. */
async function readDamaged(
  open: (path: string) => Promise<Store>,
  damage: (path: string) => Promise<void>,
) {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/store.db`;
  try {
    for (const kept of [value, { ...value, at: new Date(0) }]) {
      const store = await open(path);
      await store.commit([{ type: "set", key: RECORD, value: kept }]);
      await store.close();
    }
    await damage(path);
    const store = await open(path);
    const told = [
      await failure(() => store.getMany([RECORD])),
      await failure(() => Array.fromAsync(store.list(RECORD.slice(0, 2)))),
    ];
    await store.close();
    return told;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("T107: a damaged record is reported without its contents", async () => {
  const told = await readDamaged((path) => SqliteStore.open(path), (path) => {
    using database = new DatabaseSync(path);
    const set = database.prepare("UPDATE kv SET value = ? WHERE length(value) > 30");
    set.run(new TextEncoder().encode(PIN)); // a string whose quotes have gone
    return Promise.resolve();
  });
  const key = new Uint8Array(32).fill(7);
  const inner = new MemoryStore();
  const sealed = await SealedStore.open(inner, key);
  await sealed.commit([{ type: "set", key: RECORD, value }, { type: "set", key: [...RECORD, "2"], value }]);
  const [entry] = await inner.getMany([[...RECORD, "2"]]);
  await inner.commit([{ type: "set", key: RECORD, value: entry?.value }]);
  told.push(await failure(() => sealed.getMany([RECORD])));
  told.push(await failure(() => SealedStore.open(inner, new Uint8Array(32).fill(8))), seen(sealed));
  planted.add("the seal's key", Uint8Array.from({ length: 32 }, (_, index) => index * 7));
  assertEquals(planted.leaksIn(told.join("\n")), []);
});

Deno.test("T107: what is said of a database server that refuses has not its token, though the server repeats it", async () => {
  const accessToken = planted.token("the database's token");
  const told: string[] = [];
  for (const status of [400, 401, 403, 503]) {
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => new Response(`No: ${request.headers.get("authorization")} is read only`, { status }),
    );
    const { port } = server.addr;
    const connection = { accessToken, patience: 0, clock: systemClock };
    told.push(await failure(() => KvConnection.open(`http://127.0.0.1:${port}`, connection)));
  }
  let asked = 0;
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const endpoints = [{ url: request.url, consistency: "strong" }];
    if (asked++ === 0) return Response.json({ version: 3, databaseId: "x", endpoints, token: accessToken });
    return new Response(`No: ${request.headers.get("authorization")}`, { status: 403 });
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  const connection = await KvConnection.open(url, { accessToken, patience: 0, clock: systemClock });
  told.push(seen(connection), await failure(() => connection.post("atomic_write", new Uint8Array(4))));
  assertEquals(planted.leaksIn(told.join("\n")), []);
});

Deno.test("T107: stores show nothing of what they keep, or of their keys", async () => {
  const path = await Deno.makeTempDir();
  const stores: Store[] = [
    new MemoryStore(),
    await SqliteStore.open(`${path}/a.db`),
    await KvStore.open(`${path}/b.db`),
    await SealedStore.open(new MemoryStore(), new TextEncoder().encode(value.token.slice(0, 32))),
  ];
  try {
    for (const store of stores) {
      await store.commit([{ type: "set", key: RECORD, value }]);
      assertEquals(planted.leaksIn(seen(store)), [], store.constructor.name);
    }
  } finally {
    for (const store of stores) await store.close();
    await Deno.remove(path, { recursive: true });
  }
});
