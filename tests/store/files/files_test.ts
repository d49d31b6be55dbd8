import { assert, assertEquals, assertRejects } from "@std/assert";
import { StoreError } from "../../../src/errors/store_error.ts";
import { DenoKvStore } from "../../../src/store/deno_kv/deno_kv.ts";
import { lockBeside } from "../../../src/store/files/files.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite.ts";

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

Deno.test("There is no lock where there is no file, or its path is unknown", async () => {
  await using memory = await DenoKvStore.open(":memory:");
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
