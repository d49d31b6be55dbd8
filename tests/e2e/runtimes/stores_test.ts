/** The suite for stores, on Node 24, Bun and in Chromium. */

import { assert, assertEquals } from "@std/assert";
import { inChromium } from "./chromium.ts";
import { runtimeTest } from "./support.ts";

/** What one runtime says of the suite's cases. */
interface Outcome {
  readonly passed: readonly string[];
  readonly failed: readonly string[];
}

/** Collects the cases, and runs one after the other. */
const SUITE = `
import { storeConformance } from "@greenroom/matrix/testing";
import { MemoryStore } from "@greenroom/matrix";

const tests = new Map();
const define = (name, run) => tests.set(name, run);
const outcome = async () => {
  const passed = [], failed = [];
  for (const [name, run] of tests) {
    await run().then(() => passed.push(name), (error) => failed.push(name + ": " + error.stack));
  }
  return { passed, failed };
};
const all = { durable: true, shared: true, locks: true, copies: true, define };
storeConformance("MemoryStore", () => new MemoryStore(), { define });
`;

const FILES = `${SUITE}
import { SqliteStore } from "@greenroom/matrix/store/sqlite";

const folder = process.env.STORES;
storeConformance("SqliteStore on a file", (place) => SqliteStore.open(folder + "/" + place), all);
storeConformance("SqliteStore in memory", () => SqliteStore.open(":memory:"), { copies: true, define });
console.log(JSON.stringify(await outcome()));
`;

const BROWSER = `${SUITE}
import { IndexedDbStore } from "@greenroom/matrix/store/indexeddb";

storeConformance("IndexedDbStore", (place) => IndexedDbStore.open(place), all);
globalThis.main = outcome;
`;

/** Counts each case as a test of its own. */
async function count({ passed, failed }: Outcome, t: Deno.TestContext): Promise<void> {
  assertEquals(failed, []);
  assert(passed.length > 35);
  for (const name of passed) await t.step(name, () => {});
}

for (const [name, path] of [["Node 24", "node/bin/node"], ["Bun", "bun/bin/bun.exe"]] as const) {
  runtimeTest(`Stores of ${name} pass the suite for stores`, async (folder, t) => {
    const data = await Deno.makeTempDir({ prefix: "greenroom-runtime-" });
    const program = `${folder}/app/stores.mjs`;
    await Deno.writeTextFile(program, FILES);
    const { stdout, stderr } = await new Deno.Command(`${folder}/tools/node_modules/${path}`, {
      args: [program],
      env: { STORES: data },
    }).output();
    const [said, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    if (said === undefined || said === "") throw new Error(`Cannot run the suite: ${errors}`);
    await count(JSON.parse(said), t);
    await Deno.remove(data, { recursive: true });
  });
}

runtimeTest("Stores of Chromium pass the suite for stores", async (folder, t) => {
  await count(await inChromium(folder, BROWSER) as Outcome, t);
});
