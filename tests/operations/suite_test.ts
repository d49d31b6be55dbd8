import { assertEquals } from "@std/assert";
import { clientAPI, namesOf } from "../../src/api/api.ts";
import { HTTPAPI } from "../../src/api/http/http_api.ts";
import { Session } from "../../src/api/http/session.ts";
import { operations } from "./suite.ts";

Deno.test("The suite of operations covers every operation of the client", () => {
  const all = namesOf(clientAPI(new Session(new HTTPAPI({ baseUrl: "https://matrix.example.org" }))));
  const covered = new Set<string>(operations.flatMap(({ covers }) => covers));
  assertEquals(all.filter((name) => !covered.has(name)), []);
});

Deno.test("The names in the suite of operations are unique", () => {
  const names = operations.map(({ name }) => name);
  assertEquals(names, [...new Set(names)]);
});
