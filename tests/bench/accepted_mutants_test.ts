import { assertEquals } from "@std/assert";
import { readAccepted, stale } from "../../bench/mutation/accepted.ts";
import { plant } from "../../bench/mutation/guards.ts";
import { ROOT } from "../../tools/process.ts";

Deno.test("Each change that bench/mutation/accepted.json explains can still be made", async () => {
  const accepted = await readAccepted();
  const paths = new Set([...accepted.keys()].map((key) => key.slice(0, key.indexOf(" "))));
  const planted = await Promise.all(
    [...paths].map(async (path) => plant(path, await Deno.readTextFile(ROOT + path), 1).mutants),
  );
  assertEquals(stale(accepted, planted.flat()), [], "take these out of bench/mutation/accepted.json");
});
