import { assert, assertThrows } from "@std/assert";
import { MemoryStore, SealedStore } from "@greenroom/matrix";
import { KvStore } from "@greenroom/matrix/store/kv";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { ValueError } from "@greenroom/matrix/errors";
import { complaintsOf } from "../types/compiler.ts";

// As JavaScript lets pass.
// deno-lint-ignore no-explicit-any
type Any = any;

Deno.test("A store that is made with `new` says how to open it", () => {
  const made: readonly [Any, readonly unknown[], string][] = [
    [SqliteStore, [], "SqliteStore.open(path)"],
    [SqliteStore, ["bot.db"], "SqliteStore.open(path)"],
    [KvStore, [], "KvStore.open(path)"],
    [KvStore, ["bot.db"], "KvStore.open(path)"],
    [SealedStore, [new MemoryStore(), new Uint8Array(32)], "SealedStore.open(inner, key)"],
  ];
  for (const [Store, given, open] of made) {
    assertThrows(() => new Store(...given), ValueError, `it has to be opened; write await ${open}`);
  }
});

Deno.test("The compiler refuses to make a store with `new`", async () => {
  const said = await complaintsOf(`
    import { SqliteStore } from "@greenroom/matrix/store/sqlite";
    new SqliteStore("bot.db");
  `);
  assert(said.includes("Constructor of class 'SqliteStore' is private"), said);
});
