/**
 * Opens a store on what a power cut has left, and says what it has.
 *
 * @module
 */

import { equals } from "@std/bytes/equals";
import type { Store } from "@greenroom/matrix";
import { DatabaseSync } from "node:sqlite";
import type { Files } from "./disk.ts";
import { changesOf, type Expected, lastRound, type Plan } from "./rounds.ts";
import { DATABASE, type DiskStore, openDiskStore } from "./store_kind.ts";

/** What was found. */
export type Verdict =
  | { readonly round: number; readonly problem?: undefined }
  /** It does not open, is damaged, has a commit by half, or one without those before it. */
  | { readonly problem: string };

/** What is judged, and against what. */
export interface Case {
  readonly kind: DiskStore;
  readonly plan: Plan;
  readonly expected: Expected;
  /** Where folders are made: best in memory. */
  readonly place: string;
}

/**
 * Judges what is on the disk: the store opens, has all changes of the rounds up to one and no
 * others, takes another round, and SQLite finds no damage.
 */
export async function judge(files: Files, { kind, plan, expected, place }: Case): Promise<Verdict> {
  const folder = Deno.makeTempDirSync({ dir: place }); // each wait would take longer than the call
  try {
    for (const [name, bytes] of files) Deno.writeFileSync(`${folder}/${name}`, bytes);
    const store = await openDiskStore(kind, folder);
    let round: number;
    try {
      round = await lastRound(store);
      await assertWhole(store, expected.after(round));
      await store.commit(changesOf(plan, round + 1));
      if (await lastRound(store) !== round + 1) throw new Error("what it has committed is not there");
    } finally {
      await store.close?.();
    }
    assertSound(`${folder}/${DATABASE}`);
    return { round };
  } catch (error) {
    return { problem: error instanceof Error ? `${error.name}: ${error.message}` : String(error) };
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

async function assertWhole(store: Store, expected: ReadonlyMap<string, Uint8Array>): Promise<void> {
  let count = 0;
  for await (const { key, value } of store.list([])) {
    const wanted = expected.get(key.join());
    if (wanted === undefined) {
      throw new Error(`there is ${key.join()}, which was removed or is not written yet`);
    }
    if (!(value instanceof Uint8Array) || !equals(value, wanted)) {
      throw new Error(`${key.join()} is of another round`);
    }
    count++;
  }
  if (count < expected.size) throw new Error(`there are ${count} of ${expected.size} records`);
}

function assertSound(path: string): void {
  using database = new DatabaseSync(path);
  const found = database.prepare("PRAGMA integrity_check").get()?.integrity_check;
  if (found !== "ok") throw new Error(`the database is damaged: ${found}`);
}
