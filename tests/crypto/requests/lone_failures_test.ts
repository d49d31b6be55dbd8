/** Who is at fault: one thing that fails, or the server. */

import { assertEquals, assertFalse } from "@std/assert";
import { LoneFailures } from "../../../src/crypto/requests/requests.ts";

function failures(times: number, lone: LoneFailures, between: () => void): boolean[] {
  return Array.from({ length: times }, () => {
    between();
    return lone.failed("device");
  });
}

Deno.test("what the server fails over five times, and answers something else in between, is at fault", () => {
  const server = { answers: 0 };
  const lone = new LoneFailures(server);
  assertEquals(failures(6, lone, () => server.answers++), [false, false, false, false, true, true]);
});

Deno.test("while the server answers nothing, nothing is at fault, however long that lasts", () => {
  const server = { answers: 7 };
  const lone = new LoneFailures(server);
  assertFalse(failures(100, lone, () => {}).some(Boolean));
  assertEquals(failures(4, lone, () => server.answers++), [false, false, false, true]);
});

Deno.test("what has worked is not at fault until it has failed five times again; others are counted apart", () => {
  const server = { answers: 0 };
  const lone = new LoneFailures(server);
  failures(5, lone, () => server.answers++);
  lone.forget("device");
  assertEquals(failures(2, lone, () => server.answers++), [false, false]);
  server.answers++;
  assertFalse(lone.failed("another"));
});
