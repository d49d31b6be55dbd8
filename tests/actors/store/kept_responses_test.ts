import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import type { SyncToken } from "@greenroom/matrix/types";
import { spawnStore } from "../../../src/actors/store/mod.ts";

const [A, B, C, D] = ["a", "b", "c", "d"] as [SyncToken, SyncToken, SyncToken, SyncToken];

function opened(kv: MemoryStore) {
  const store = spawnStore({ kv });
  return store.open([]).then(() => store);
}

const change = (nextBatch: SyncToken) => ({ nextBatch, repeated: false, rooms: [] });

Deno.test("A response that is kept is there for the next process until it has been handled", async () => {
  const kv = new MemoryStore();
  const first = await opened(kv);
  await first.keepResponse({ nextBatch: A, text: "to a" });
  await first.keepResponse({ since: A, nextBatch: B, text: "to b" });
  await first.keepResponse({ since: B, nextBatch: C, text: "to c" });
  for (const token of [A, B, C]) await first.commitSync(change(token));
  await first.handled(A);
  await first.flush();
  const second = await opened(kv);
  assertEquals(await second.keptResponse({ since: undefined }), undefined);
  assertEquals(await second.keptResponse({ since: A }), "to b");
  assertEquals(await second.keptResponse({ since: B }), "to c");
  assertEquals(await second.keptResponse({ since: C }), undefined);
  for (const token of [B, C]) await second.commitSync(change(token));
  await second.handled(C);
  await second.flush();
  assertEquals((await Array.fromAsync(kv.list(["kept"]))).length, 0);
});

Deno.test("A token that is answered twice has the latest answer, and a number is given once", async () => {
  const kv = new MemoryStore();
  const store = await opened(kv);
  await store.keepResponse({ nextBatch: A, text: "to a" });
  await store.commitSync(change(A));
  await store.handled(A); // its removal waits for the next commit
  await store.keepResponse({ since: A, nextBatch: B, text: "to b" });
  await store.keepResponse({ since: A, nextBatch: C, text: "to c" });
  await store.flush();
  const next = await opened(kv);
  assertEquals(await next.keptResponse({ since: A }), "to c");
});

Deno.test("A response that is kept once more takes the place of what was kept of it", async () => {
  const kv = new MemoryStore();
  const store = await opened(kv);
  await store.keepResponse({ nextBatch: A, text: "to a" });
  await store.keepResponse({ since: A, nextBatch: B, text: "to b" });
  await store.keepResponse({ nextBatch: A, text: "to a, with its gaps" });
  assertEquals((await Array.fromAsync(kv.list(["kept"]))).length, 2);
  const next = await opened(kv);
  assertEquals(await next.keptResponse({ since: undefined }), "to a, with its gaps");
  assertEquals(await next.keptResponse({ since: A }), "to b");
});

Deno.test("Moving the position forgets what was kept", async () => {
  const kv = new MemoryStore();
  const store = await opened(kv);
  await store.keepResponse({ nextBatch: A, text: "to a" });
  await store.move(undefined);
  assertEquals(await store.keptResponse({ since: undefined }), undefined);
  assertEquals((await Array.fromAsync(kv.list(["kept"]))).length, 0);
});

Deno.test("What was received before a sync anew comes first, if the process is killed before its answer", async () => {
  const kv = new MemoryStore();
  const store = await opened(kv);
  await store.keepResponse({ nextBatch: A, text: "to a" });
  await store.commitSync(change(A));
  await store.handled(A);
  await store.keepResponse({ since: A, nextBatch: B, text: "to b" });
  await store.commitSync(change(B));
  await store.syncAnew();
  const next = await opened(kv);
  const { handled, nextBatch, anew } = await next.position();
  assertEquals([handled, nextBatch, anew], [A, B, undefined]);
});

Deno.test("A delivery that has settled is remembered as long as its response is kept, however many come before it", async () => {
  const kv = new MemoryStore();
  const first = await opened(kv);
  let since: SyncToken | undefined;
  for (const nextBatch of [A, B, C, D]) {
    await first.keepResponse({ ...(since && { since }), nextBatch, text: "" });
    await first.commitSync(change(nextBatch));
    since = nextBatch;
  }
  await first.noteSettled(["of d"]);
  await first.flush();
  const second = await opened(kv);
  assertEquals(await second.keptResponse({ since: undefined }), "");
  assertEquals(await second.settled(), ["of d"]);
  for (const token of [A, B, C]) {
    await second.commitSync({ ...change(token), repeated: true });
    await second.handled(token);
  }
  await second.flush();
  assertEquals(await (await opened(kv)).settled(), ["of d"]);
  await second.commitSync({ ...change(D), repeated: true });
  await second.handled(D);
  await second.commitSync(change("e" as SyncToken));
  await second.handled("e" as SyncToken);
  await second.commitSync(change("f" as SyncToken));
  await second.handled("f" as SyncToken);
  await second.flush();
  assertEquals(await (await opened(kv)).settled(), []);
});
