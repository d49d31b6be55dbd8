/**
 * Commits, one round after the other, until it is killed, and says on standard output which rounds
 * are done.
 *
 * Arguments: the file of the store, and the first round.
 */

import { KvStore } from "@greenroom/matrix/store/kv";
import type { StoreMutation } from "@greenroom/matrix";
import { roundChanges } from "./commit_rounds.ts";

const [path, first] = Deno.args;
const store = await KvStore.open(path);
for (let round = Number(first);; round++) {
  const changes: StoreMutation[] = roundChanges(round);
  await store.commit(changes);
  Deno.stdout.writeSync(new TextEncoder().encode(`${round}\n`));
}
