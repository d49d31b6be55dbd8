import { assertEquals } from "@std/assert";
import { ROOT, run } from "../../../tools/process.ts";

Deno.test("A client that waits for the next response holds neither the last one nor its events", async () => {
  const script = `${ROOT}tests/support/waiting_client.ts`;
  const { stdout, output } = await run("deno", ["run", "--no-check", "--v8-flags=--expose-gc", script]);
  assertEquals(stdout.trim(), '{"seen":["response","event"],"held":[]}', output);
});
