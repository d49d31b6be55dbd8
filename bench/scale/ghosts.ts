/**
 * An application service with so many users that have acted: prints what each takes, and then what a
 * transaction of one message takes.
 *
 * @module
 */

import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import { act, madeAppservice, transact } from "../appservice/in_process.ts";
import { memoryInUse, processorTime } from "../support/process.ts";

const TRANSACTIONS = 2_000;

const ghosts = Number(Deno.args[0]);
const folder = await Deno.makeTempDir({ prefix: "greenroom-scale-" });

/** Has users act, and sends transactions. */
async function measure(users: number, transactions: number): Promise<Record<string, number>> {
  await using store = await SqliteStore.open(`${folder}/${users}.db`);
  await using appservice = madeAppservice(store);
  const acting = processorTime();
  await act(appservice, users);
  const acted = processorTime() - acting;
  const memory = memoryInUse().heap;
  const transacting = processorTime();
  await transact(appservice, { transactions, perTransaction: 1 });
  const transacted = processorTime() - transacting;
  return {
    "first send, CPU µs each": acted * 1_000 / users,
    "heap, MB": memory / 1_000_000,
    "transaction, CPU µs": transacted * 1_000 / transactions,
  };
}

await measure(200, 500); // what runs for the first time costs more
console.log(JSON.stringify(await measure(ghosts, TRANSACTIONS)));
await Deno.remove(folder, { recursive: true });
