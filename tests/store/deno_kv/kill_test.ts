import { assert, assertEquals } from "@std/assert";
import { KvStore } from "@greenroom/matrix/store/kv";
import { wholeRounds } from "../support/commit_rounds.ts";
import { recordCounts } from "../support/watched_kv.ts";

const CHILD = new URL("../support/commit_loop.ts", import.meta.url).pathname;

/**
 * Starts a child, kills it once it has done some rounds, and gives the last one that it said was
 * done.
 */
async function killAfter(path: string, first: number, rounds: number): Promise<number> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-check",
      "--quiet",
      "--unstable-kv",
      "--allow-read",
      "--allow-write",
      CHILD,
      path,
      String(first),
    ],
    stdout: "piped",
  }).spawn();
  let said = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    if (said.split("\n").length > rounds) {
      child.kill("SIGKILL");
      break;
    }
  }
  await child.status;
  const done = said.split("\n").slice(0, -1); // without a line that was cut off
  return Number(done.at(-1));
}

Deno.test("KvStore has all that commit() has resolved for, and nothing by half, after kill -9", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const path = `${folder}/store.db`;
    let round = -1;
    // The fifth round, and each fifth from there on, takes several commits: some children are
    // killed within it.
    for (const rounds of [1, 3, 4, 9, 10, 14]) {
      const done = await killAfter(path, round + 1, rounds);
      await using store = await KvStore.open(path);
      const now = await wholeRounds(store);
      assert(now >= done, `${now} of ${done} rounds`);
      round = now;
    }
    assert(round >= 40);
    using kv = await Deno.openKv(path);
    const counts = await recordCounts(kv);
    assertEquals([counts.part, counts.parts, counts.staged], [3, 1, undefined]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
