/**
 * So many encrypted bots in a process, as `bench/fleet.ts` has them: prints what each takes.
 *
 * @module
 */

import { MemoryStore } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { fleet } from "../fleet.ts";

const ENCRYPTED = true;

const folder = await Deno.makeTempDir({ prefix: "greenroom-scale-" });
await fleet(2, new MemoryStore(), ENCRYPTED); // loads the engine
const store = await SqliteStore.open(`${folder}/bots.db`);
const taken = await fleet(Number(Deno.args[0]), store, ENCRYPTED);
await store.close();
await Deno.remove(folder, { recursive: true });
console.log(JSON.stringify({
  "start, CPU ms each": taken["started, CPU ms each"],
  "heap, kB each": taken["kB of heap each"],
  "answer, CPU µs each": taken["answered, CPU µs each"],
}));
