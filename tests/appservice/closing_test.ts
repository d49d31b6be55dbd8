import { assert, assertRejects } from "@std/assert";
import { MemoryStore, type Store } from "@greenroom/matrix";
import { ClientEndedError } from "@greenroom/matrix/errors";
import { appserviceScene, message } from "./scene.ts";

/**
 * Has what is pending handled, and closes when a read of the store has begun, which lasts.
 *
 * @param held Which read.
 * @returns How many reads there were, and whether one went on when it was closed.
 */
async function closeAt(held: number): Promise<{ reads: number; isLate: boolean }> {
  const inner = new MemoryStore();
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let [isCounting, reads, reading] = [false, 0, 0];
  const read = async <T>(work: () => Promise<T>): Promise<T> => {
    reading++;
    if (isCounting && ++reads === held) {
      begun.resolve();
      await gate.promise;
    }
    return await work().finally(() => reading--);
  };
  const store: Store = {
    getMany: (keys) => read(async () => await inner.getMany(keys)),
    async *list(prefix, options) {
      yield* await read(() => Array.fromAsync(inner.list(prefix, options)));
    },
    commit: (mutations, checks) => inner.commit(mutations, checks),
    close: () => inner.close(),
  };
  await using scene = await appserviceScene({ store });
  const { roomId, serving, stage } = scene;
  await scene.send("t1", [message(roomId, "hello")]);
  await stage.settle();
  isCounting = true;
  const pending = serving?.handlePending().catch(() => {}).finally(begun.resolve);
  await begun.promise;
  let isLate: boolean | undefined;
  const closing = serving?.close().then(() => isLate = reading > 0);
  await stage.clock.tick(1_000);
  gate.resolve();
  await closing;
  await pending;
  return { reads, isLate: isLate === true };
}

Deno.test("close() resolves when nothing is read of the store any more, whatever handlePending() was at", async () => {
  const { reads } = await closeAt(Infinity);
  for (let held = 1; held <= reads; held++) assert(!(await closeAt(held)).isLate, `read ${held}`);
});

Deno.test("close() ends a start whose ping has no answer yet, and the request with it", async () => {
  await using scene = await appserviceScene({ isServing: false });
  const asked = Promise.withResolvers<AbortSignal>();
  const appservice = scene.instance({
    fetch: (input, init) => {
      if (!String(input).endsWith("/ping")) return scene.stage.homeserver.fetch(input, init);
      const { signal } = init ?? {};
      if (signal) asked.resolve(signal);
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    },
  });
  const started = appservice.start();
  const signal = await asked.promise;
  await appservice.close();
  await started;
  assert(signal.aborted);
  await assertRejects(() => appservice.start(), ClientEndedError);
});
