import { assertEquals } from "@std/assert";
import { plainOperations } from "../../src/api/api.ts";
import { operations } from "./suite.ts";

Deno.test("The suite of operations covers every operation of the client", () => {
  const covered = new Set<string>(operations.flatMap(({ covers }) => covers));
  assertEquals(plainOperations().names.filter((name) => !covered.has(name)), []);
});

Deno.test("The names in the suite of operations are unique", () => {
  const names = operations.map(({ name }) => name);
  assertEquals(names, [...new Set(names)]);
});
