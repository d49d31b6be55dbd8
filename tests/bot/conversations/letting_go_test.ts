import { assertEquals } from "@std/assert";
import { ROOT, run } from "../../../tools/process.ts";

Deno.test("A conversation that waits holds nothing of the function that asked", async () => {
  const script = `${ROOT}tests/support/asking_bot.ts`;
  const { stdout, output } = await run("deno", ["run", "--no-check", "--v8-flags=--expose-gc", script]);
  assertEquals(stdout.trim(), '{"seen":["asks","goes on after the end"],"held":[]}', output);
});
