import { assertEquals } from "@std/assert";
import { ChangeLog } from "../../../src/crypto/records/mod.ts";

Deno.test("a log of changes returns what has changed since a version", () => {
  const log = new ChangeLog<string>();
  assertEquals(log.since(log.version), new Set());
  log.note("a");
  const version = log.version;
  log.note("b");
  log.note("c");
  log.note("b");
  assertEquals(log.since(version), new Set(["b", "c"]));
  assertEquals(log.since(log.version), new Set());
});

Deno.test("a log of changes says that it does not know what is too long ago", () => {
  const log = new ChangeLog<number>(10);
  for (let item = 0; item < 100; item++) log.note(item);
  assertEquals(log.since(log.version - 10), new Set([90, 91, 92, 93, 94, 95, 96, 97, 98, 99]));
  assertEquals(log.since(log.version - 21), undefined);
  assertEquals(log.since(0), undefined);
});

Deno.test("a log of changes returns undefined once any change may have been lost", () => {
  const log = new ChangeLog<string>();
  const version = log.version;
  log.noteAll();
  assertEquals([log.since(version), log.since(log.version)], [undefined, new Set()]);
  log.note("a");
  assertEquals([log.since(version), log.since(log.version - 1)], [undefined, new Set(["a"])]);
});
