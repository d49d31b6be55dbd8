/**
 * The process that is recorded: it commits rounds as its standard input says, and notes in the
 * folder when each begins and is done.
 *
 * Arguments: the store's kind, its folder, and the plan. Each line of the input is an action and a
 * count; it answers each with a line.
 */

import type { Store } from "@greenroom/matrix";
import { MARKS } from "./recording.ts";
import { changesOf, lastRound, type Plan } from "./rounds.ts";
import { type DiskStore, openDiskStore } from "./store_kind.ts";

const [kind, folder = "", plan] = Deno.args as [DiskStore, string, Plan];
const marks = Deno.openSync(`${folder}/${MARKS}`, { append: true, create: true });
const say = (to: Deno.FsFile | typeof Deno.stdout, text: string) =>
  to.writeSync(new TextEncoder().encode(`${text}\n`));

let store: Store | undefined;

/** Only opens the store where it is used: so two processes can have it by turns. */
async function opened(): Promise<Store> {
  return store ??= await openDiskStore(kind, folder);
}

async function commit(round: number): Promise<void> {
  const store = await opened();
  say(marks, `begin ${round}`);
  await store.commit(changesOf(plan, round));
  say(marks, `done ${round}`);
}

const actions: Record<string, (count: number) => Promise<void>> = {
  /** One after the other. */
  async commit(count) {
    const first = await lastRound(await opened()) + 1;
    for (let index = 0; index < count; index++) await commit(first + index);
  },
  /** At once. */
  async together(count) {
    const first = await lastRound(await opened()) + 1;
    await Promise.all(Array.from({ length: count }, (_, index) => commit(first + index)));
  },
  async close() {
    await store?.close?.();
    store = undefined;
  },
  /** Is killed during a commit. */
  async die() {
    const round = await lastRound(await opened()) + 1;
    commit(round).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 0));
    Deno.kill(Deno.pid, "SIGKILL");
  },
};

let input = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  input += text;
  const lines = input.split("\n");
  input = lines.pop() ?? "";
  for (const line of lines) {
    const [action = "", count] = line.split(" ");
    await actions[action]?.(Number(count));
    say(Deno.stdout, line);
  }
}
