import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { StoreKey } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { Place } from "./support/greenroom.ts";

/** All records of the bot's store, but the lease of its device. */
async function records(place: Place): Promise<readonly unknown[]> {
  await using store = await SqliteStore.open(`${place.folder}/data/bot.db`);
  return await Array.fromAsync(store.list([]));
}

/** Sets records below the bot's device. */
async function put(place: Place, ...values: readonly (readonly [path: StoreKey, value: object])[]) {
  await using store = await SqliteStore.open(`${place.folder}/data/bot.db`);
  const schema = (await Array.fromAsync(store.list([]))).find(({ key }) => key.at(-1) === "schema");
  const device = schema?.key.slice(0, 2) ?? [];
  await store.commit(values.map(([path, value]) => ({ type: "set", key: [...device, ...path], value })));
}

Deno.test("upgrade-check says which version the bot uses, and that its store can be read, and changes nothing", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await put(
    place,
    [["session", "counter", "!room:localhost"], { count: 1 }],
    [["session", "bot.store", "key"], { value: 1 }],
    [["session", "bot.schedules", "0 8 * * *"], { next: 0, pattern: "0 8 * * *" }],
    [["session", "bot.timers", "+002026|x"], { timer: { kind: "remind", reminder: { name: "water" } } }],
    [["session", "bot.timers", "+002026|y"], { timer: { kind: "remind", reminder: { name: "" } } }],
    [["session", "bot.conversations", "id"], { record: { command: "hello" } }],
  );
  const before = await records(place);
  const { code, stdout, stderr } = await place.run(["upgrade-check"]);
  assertEquals([code, stderr], [0, ""], stdout);
  assertMatch(stdout, /The bot uses .*0\.1\.0/);
  assertMatch(stdout, /in version 1, which Greenroom \S+ reads and keeps/);
  assertStringIncludes(
    stdout,
    "keep: sessions counter; reminders water; schedules 0 8 * * *; commands that wait for an answer hello\n",
  );
  assertEquals(await records(place), before);
  const lines = (await place.run(["upgrade-check", "--json"])).stdout.trim().split("\n");
  const codes = lines.map((line) => JSON.parse(line).code);
  assertEquals(codes, ["version", "project", "schema", "names"]);
});

Deno.test("upgrade-check ends with 7 where the store is of a newer Greenroom, and says where there is no bot", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  await put(place, [["schema"], { format: 99 }]);
  const newer = await place.run(["upgrade-check"]);
  assertEquals([newer.code, newer.stdout.includes("use a newer Greenroom")], [7, true], newer.stdout);
  const elsewhere = await place.run(["upgrade-check"], { cwd: place.parent });
  assertEquals([elsewhere.code, elsewhere.stderr], [0, ""]);
  assertStringIncludes(elsewhere.stdout, "MATRIX_STORE is not set");
  assertStringIncludes(elsewhere.stdout, "Nothing in this folder says");
});

Deno.test("upgrade-check reads the version from what was installed, a lock, and what is asked for", async () => {
  await using place = await Place.make();
  const files = [
    ["package.json", { dependencies: { "@greenroom/matrix": "^0.0.7" } }, "what ^0.0.7 gives"],
    [
      "deno.jsonc",
      { imports: { "@greenroom/matrix": "jsr:@greenroom/matrix@^0.0.6" } },
      "what jsr:@greenroom/matrix@^0.0.6",
    ],
    [
      "deno.json",
      { imports: { "@greenroom/matrix": "jsr:@greenroom/matrix@^0.0.8" } },
      "what jsr:@greenroom/matrix@^0.0.8",
    ],
    ["deno.lock", { specifiers: { "jsr:@greenroom/matrix@^0.0.8": "0.0.9" } }, "0.0.9, as deno.lock"],
    ["node_modules/@greenroom/matrix/package.json", { version: "0.0.10" }, "0.0.10, as installed"],
  ] as const;
  await Deno.mkdir(`${place.parent}/node_modules/@greenroom/matrix`, { recursive: true });
  for (const [name, content, said] of files) {
    const comment = name.startsWith("deno.json") ? "// Deno takes comments.\n" : "";
    await Deno.writeTextFile(`${place.parent}/${name}`, comment + JSON.stringify(content));
    const { stdout } = await place.run(["upgrade-check"], { cwd: place.parent });
    assertStringIncludes(stdout, `The bot uses ${said}`);
  }
});
