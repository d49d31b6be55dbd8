import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { StoreInUseError, ValueError } from "@greenroom/matrix/errors";
import type { StoreMutation } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { TestClock } from "@greenroom/matrix/testing";
import { change } from "../support/spoiled_sqlite.ts";

const put = (part: string, value: unknown): StoreMutation => ({ type: "set", key: [part], value });

/** Runs a test with the path of a file that is not there yet. */
function onFile(name: string, run: (path: string) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await run(`${folder}/store.db`);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

onFile(
  "SqliteStore waits for another process that has locked the file, and holds up nothing else",
  async (path) => {
    const clock = new TestClock();
    await using store = await SqliteStore.open(path, { clock });
    using other = new DatabaseSync(path);
    other.exec("BEGIN EXCLUSIVE");
    const begun = performance.now();
    const settled: string[] = [];
    const changed = { count: 1 };
    const first = store.commit([put("a", changed)]).then(() => settled.push("first"));
    const second = store.commit([put("a", 2)], [{ key: ["b"], versionstamp: null }]).then((held) =>
      settled.push(`second ${held}`)
    );
    changed.count = 7; // as a caller may
    assert(performance.now() - begun < 1_000, "the thread stood still");
    for (let second = 0; second < 8; second++) await clock.tick(1_000);
    assertEquals(settled, []);
    other.exec("COMMIT");
    const [entry] = await store.getMany([["a"]]);
    assertEquals(entry, undefined);
    for (let time = 0; time < 4; time++) await clock.tick(250);
    await Promise.all([first, second]);
    assertEquals(settled, ["first", "second true"]);
    const version = () => other.prepare("PRAGMA data_version").get()?.data_version;
    const before = version();
    const third = store.commit([put("a", 2)]);
    assert(version() !== before, "what comes when nothing waits any more is committed at once");
    await third;
    other.exec("BEGIN IMMEDIATE");
    const refused = assertRejects(() => store.commit([put("a", 3)]), StoreInUseError);
    for (let second = 0; second < 31; second++) await clock.tick(1_000);
    await refused;
    const late = assertRejects(() => store.commit([put("a", { count: 4 })]), ValueError, "it is closed");
    await store.close(); // which waits for nobody
    await late;
    other.exec("COMMIT");
  },
);

onFile("SqliteStore is opened when another process has let go of the file", async (path) => {
  await (await SqliteStore.open(path)).close();
  change(path, "PRAGMA journal_mode = DELETE");
  using other = new DatabaseSync(path);
  other.exec("BEGIN EXCLUSIVE");
  const clock = new TestClock();
  const opening = SqliteStore.open(path, { clock });
  for (let second = 0; second < 8; second++) await clock.tick(1_000);
  other.exec("COMMIT");
  await clock.tick(1_000);
  await using store = await opening;
  assert(await store.commit([put("a", 1)]));
});
