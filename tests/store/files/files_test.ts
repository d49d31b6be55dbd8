import { assert, assertEquals, assertRejects } from "@std/assert";
import { StoreError } from "@greenroom/matrix/errors";
import { KvStore } from "@greenroom/matrix/store/kv";
import { createPrivateFile, lockBeside, warningOfOthers } from "../../../src/store/files/files.ts";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

const DEVICE = ["@bot:example.org", "DEVICE"];

Deno.test("A lock is a file in a folder beside the database, which stays, and does not name its owner", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/bot.db`;
    const lock = await lockBeside(path, DEVICE);
    await lock?.leave("an ID");
    lock?.release();
    lock?.release();
    const names = Array.from(Deno.readDirSync(`${path}-locks`), ({ name }) => name);
    assert(names.length === 1 && names.every((name) => /^[0-9a-f]{32}$/.test(name)), `${names}`);
    assertEquals(Array.from(Deno.readDirSync(folder), ({ name }) => name), ["bot.db-locks"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("A lock is one holder's until it is released", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/bot.db`;
    const lock = await lockBeside(path, DEVICE);
    assertEquals(await lockBeside(path, DEVICE), undefined);
    lock?.release();
    const next = await lockBeside(path, DEVICE);
    assert(next !== undefined);
    next.release();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("A lock warns of each file of the database that other users may use, and of none that they may not", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/bot.db`;
    const ends = ["", "-wal", "-shm", "-journal", "-locks"];
    await Deno.mkdir(`${path}-locks`);
    for (const end of ends) if (end !== "-locks") await Deno.writeTextFile(path + end, "");
    for (const wide of [...ends, undefined]) {
      for (const end of ends) {
        await Deno.chmod(path + end, (end === "-locks" ? 0o700 : 0o600) | Number(end === wide));
      }
      const lock = await lockBeside(path, DEVICE);
      lock?.release();
      const warning = wide === undefined ? undefined : warningOfOthers([path + wide]);
      assertEquals(lock?.warning, warning);
      assertEquals(warning?.endsWith(`run chmod go= ${path}${wide}`), wide === undefined ? undefined : true);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Has Deno answer otherwise what it permits. */
function answering(queries: Pick<Deno.Permissions, "query" | "querySync">): Disposable {
  const names = ["query", "querySync"] as const;
  for (const name of names) {
    Object.defineProperty(Deno.permissions, name, { value: queries[name], configurable: true });
  }
  return {
    [Symbol.dispose]() {
      // The prototype's are there again.
      for (const name of names) Reflect.deleteProperty(Deno.permissions, name);
    },
  };
}

Deno.test("Where Deno would ask the user first, no file is made, looked at or locked", async () => {
  const folder = await Deno.makeTempDir();
  const prompt = { state: "prompt", partial: false } as Deno.PermissionStatus;
  try {
    await Deno.writeTextFile(`${folder}/open`, "");
    await Deno.chmod(`${folder}/open`, 0o644);
    using _queries = answering({ query: () => Promise.resolve(prompt), querySync: () => prompt });
    createPrivateFile(`${folder}/new`);
    assertEquals(warningOfOthers([`${folder}/open`]), undefined);
    await assertRejects(() => lockBeside(`${folder}/bot.db`, DEVICE), StoreError, "Deno may not use");
    assertEquals(Array.from(Deno.readDirSync(folder), ({ name }) => name), ["open"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("There is no lock where there is no file, or its path is unknown", async () => {
  await using memory = await KvStore.open(":memory:");
  await assertRejects(() => memory.lock(DEVICE), StoreError, "the database is no file");
  await using other = await SqliteStore.open(":memory:");
  await assertRejects(() => other.lock(DEVICE), StoreError, "the database is no file");
});

Deno.test("There is no lock where something else has its name", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/bot.db-locks`, "mine");
    const error = await assertRejects(
      () => lockBeside(`${folder}/bot.db`, DEVICE),
      StoreError,
      "no locks in",
    );
    assert(error.cause instanceof Error);
    assertEquals(await Deno.readTextFile(`${folder}/bot.db-locks`), "mine");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test({
  name: "There is no lock where Deno may not write, and the user is not prompted",
  permissions: { read: true, write: false },
  async fn() {
    await assertRejects(
      () => lockBeside("bot.db", DEVICE),
      StoreError,
      "start it with --allow-write=bot.db-locks",
    );
  },
});
