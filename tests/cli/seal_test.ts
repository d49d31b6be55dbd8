import { assert, assertEquals, assertNotEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { MemoryStore, SealedStore, type Store, type StoreKey } from "@greenroom/matrix";
import { StoreInUseError, StoreKeyError } from "@greenroom/matrix/errors";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { moveAll } from "../../src/cli/project/mod.ts";
import { Lease, readSchema, sealKey, StoreKeys } from "../../src/store/device/mod.ts";
import { Output, Place, startGreenroom } from "./support/greenroom.ts";

const device: StoreKey = ["@bot:localhost", "D"];
const keys = new StoreKeys(device);

/** A store with a device of some records, and one of the account. */
async function filled(): Promise<Store> {
  const store = new MemoryStore();
  await store.commit([
    { type: "set", key: keys.schema(), value: { format: 1 } },
    { type: "set", key: ["greeting"], value: "hello" },
  ]);
  for (let n = 0; n < 250; n++) {
    await store.commit([{ type: "set", key: [...device, "room", `${n}`], value: n }]);
  }
  return store;
}

/** Acts after each commit to a store. */
function watched(store: Store, act: () => Promise<void>): Store {
  return {
    getMany: (keys) => store.getMany(keys),
    list: (prefix, options) => store.list(prefix, options),
    async commit(mutations, checks) {
      const isDone = await store.commit(mutations, checks);
      await act();
      return isDone;
    },
    close: () => store.close(),
  };
}

const signal = new AbortController().signal;

async function listed(store: Store): Promise<StoreKey[]> {
  return await Array.fromAsync(store.list([]), ({ key }) => key);
}

Deno.test("While a store moves nobody can take a device of it, nor open it once it has moved", async () => {
  const [from, to] = [await filled(), new MemoryStore()];
  let looks = 0;
  const look = async () => {
    looks++;
    await assertRejects(() => Lease.acquire(from, device, { held: "refuse" }), StoreInUseError);
  };
  const freed = async () => {
    const [lease, seal] = await from.getMany([keys.lease(), sealKey]);
    const isFree = (lease?.value as { until: number }).until === 0;
    if (isFree) assertNotEquals(seal, undefined, "a process that waits gets the device, and writes");
  };
  await moveAll(watched(from, freed), watched(to, look), { settle: look, signal });
  assert(looks > 2);
  await Lease.acquire(from, device, { held: "refuse" }); // as the process does that has waited
  await assertRejects(() => readSchema(from, device), StoreKeyError);
  assertEquals((await listed(to)).length, 252);
});

Deno.test("A move that fails or is ended leaves the old store as it was", async () => {
  const [from, ending] = [await filled(), new AbortController()];
  const settle = () => Promise.reject(new TypeError("no .env"));
  await assertRejects(() => moveAll(from, new MemoryStore(), { settle, signal }), TypeError, "no .env");
  const to = watched(new MemoryStore(), () => Promise.resolve(ending.abort(new TypeError("ended"))));
  await assertRejects(() => moveAll(from, to, { settle, signal: ending.signal }), TypeError, "ended");
  await readSchema(from, device);
  await Lease.acquire(from, device, { held: "refuse" });
});

Deno.test("store seal says which file it can't use, and changes nothing", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const before = await place.read(".env");
  const nowhere = await place.run(["store", "seal", "seal.key"], { env: { MATRIX_STORE: "data/typo.db" } });
  assertEquals([nowhere.code, nowhere.stderr.includes("there is none")], [6, true], nowhere.stderr);
  assertEquals(await place.read("data/typo.db"), undefined);
  for (const [path, code] of [["data/bot.sealed.db", 2], ["nodir/seal.key", 1]] as const) {
    const { code: status, stderr } = await place.run(["store", "seal", path]);
    assertEquals([status, stderr.includes(`Cannot write the key into ${path}`)], [code, true], stderr);
  }
  await Deno.writeTextFile(`${place.folder}/open.key`, `${new Uint8Array(32).toBase64()}\n`, { mode: 0o644 });
  const open = await place.run(["store", "seal", "open.key"]);
  assertEquals([open.code, open.stderr.includes("chmod")], [1, true], open.stderr);
  assertEquals([await place.read(".env"), await place.read("data/bot.sealed.db")], [before, undefined]);
  assertEquals((await place.run(["doctor"])).code, 0);
});

/** Makes a symbolic link, for which tests have no permission. */
async function link(target: string, path: string): Promise<void> {
  const program = `Deno.symlinkSync(${JSON.stringify(target)}, ${JSON.stringify(path)})`;
  const { success } = await new Deno.Command(Deno.execPath(), { args: ["eval", program] }).output();
  assertEquals(success ? "linked" : "refused", "linked");
}

Deno.test("store seal removes the store behind a link", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await Deno.mkdir(`${place.parent}/disk`);
  await Deno.rename(`${place.folder}/data/bot.db`, `${place.parent}/disk/real.db`);
  await link(`${place.parent}/disk/real.db`, `${place.folder}/data/bot.db`);
  const { code, stderr } = await place.run(["store", "seal", "../store.key"]);
  assertEquals(code, 0, stderr);
  assertEquals(await place.read("data/bot.db"), undefined);
  assertEquals(await place.read("../disk/real.db"), undefined);
  await place.assertSound();
  await Deno.chmod(`${place.folder}/../store.key`, 0o644);
  assertStringIncludes((await place.run(["doctor", "--json"])).stdout, '"key-file-open"');
});

Deno.test("store seal ends what a kill has cut off once the store had moved, with the same key", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const key = crypto.getRandomValues(new Uint8Array(32));
  await Deno.writeTextFile(`${place.folder}/../store.key`, `${key.toBase64()}\n`, { mode: 0o600 });
  {
    await using from = await SqliteStore.open(`${place.folder}/data/bot.db`);
    await using to = await SealedStore.open(
      await SqliteStore.open(`${place.folder}/data/bot.sealed.db`),
      key,
    );
    await moveAll(from, to, { settle: () => Promise.resolve(), signal }); // .env is not written any more
  }
  const other = await place.run(["store", "seal", "../other.key"]);
  assertEquals([other.code, other.stderr.includes("../other.key")], [1, true], other.stderr);
  assertEquals(await place.read("../other.key"), undefined);
  const { code, stderr } = await place.run(["store", "seal", "../store.key"]);
  assertEquals(code, 0, stderr);
  assertEquals(await place.read("data/bot.db"), undefined);
  await place.assertSound();
});

Deno.test("Ctrl-C in store seal leaves no file, so that the next try succeeds", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const names = () => [...Deno.readDirSync(`${place.folder}/data`)].map(({ name }) => name);
  const before = await place.read(".env");
  {
    using database = new DatabaseSync(`${place.folder}/data/bot.db`);
    using watcher = Deno.watchFs(place.folder);
    database.exec("BEGIN IMMEDIATE"); // seal waits for it, with the key made
    const child = startGreenroom(["store", "seal", "seal.key"], { cwd: place.folder });
    const [stdout, stderr] = [new Output(child.stdout), new Output(child.stderr)];
    while (await place.read("seal.key") === undefined) await watcher[Symbol.asyncIterator]().next();
    child.kill("SIGINT");
    database.exec("ROLLBACK");
    await Promise.all([child.stdin.close(), stdout.all]);
    assertStringIncludes(await stderr.all, "Cancelled");
    assertEquals((await child.status).code, 130);
  }
  assertEquals([await place.read("seal.key"), await place.read(".env")], [undefined, before]);
  assertEquals(names().filter((name) => name.includes("sealed")), []);
  const again = await place.run(["store", "seal", "seal.key"]);
  assertEquals(again.code, 0, again.stderr);
});
