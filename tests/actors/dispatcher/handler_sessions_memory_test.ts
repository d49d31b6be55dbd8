import { assertEquals } from "@std/assert";
import type { Store } from "@greenroom/matrix";
import { settle } from "../kernel/support.ts";
import { sessionStage } from "../support/sessions.ts";

/** The sessions that a store is asked for from now on, by their rooms. */
function readsOf(kv: Store): string[] {
  const reads: string[] = [];
  const getMany = kv.getMany.bind(kv);
  kv.getMany = (keys) => {
    for (const key of keys) if (key[0] === "session") reads.push(String(key[2]));
    return getMany(keys);
  };
  return reads;
}

Deno.test("A session that was evicted from memory is read again, as it was last committed", async () => {
  await using here = await sessionStage();
  const reads = readsOf(here.kv);
  for (let index = 0; index < 1_001; index++) await here.count(`!${index}`);
  assertEquals(reads.length, 1_001);
  assertEquals(await here.count("!1000"), 2); // remembered
  assertEquals(await here.count("!1"), 2); // and this one too, as it came before the last thousand
  assertEquals(reads.length, 1_001);
  assertEquals(await here.count("!0"), 2); // this one was forgotten
  assertEquals(reads.slice(1_001), ["!0"]);
  assertEquals(await here.count("!1"), 3); // it was used since, so that another was forgotten
  assertEquals(reads.length, 1_002);
});

Deno.test("A session with a running commit or handler is not evicted", async () => {
  await using here = await sessionStage();
  const reads = readsOf(here.kv);
  const gate = Promise.withResolvers<void>();
  const slow = here.run(({ session }) => gate.promise.then(() => void session.count++), { room: "!slow" });
  for (let index = 0; index < 1_500; index++) await here.run(() => {}, { room: `!${index}` });
  const next = here.count("!slow");
  gate.resolve();
  await slow;
  assertEquals(await next, 2);
  here.kv.gate = Promise.withResolvers();
  const commits = [here.count("!committing")];
  await settle();
  const readers: Promise<void>[] = [];
  for (let index = 0; index < 1_500; index++) readers.push(here.run(() => {}, { room: `!${2_000 + index}` }));
  await settle();
  commits.push(here.count("!committing"));
  here.kv.gate.resolve();
  await Promise.all(readers);
  assertEquals(await Promise.all(commits), [1, 2]);
  assertEquals(reads.filter((room) => room === "!slow" || room === "!committing").length, 2);
});
