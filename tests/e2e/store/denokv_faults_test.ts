import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { StoreError } from "@greenroom/matrix/errors";
import { KvStore } from "@greenroom/matrix/store/kv";
import { TestClock } from "@greenroom/matrix/testing";
import { Denokv } from "../../../tools/denokv.ts";
import { denokvTest } from "../support/denokv.ts";
import { cut, type WriteRule } from "../support/denokv_proxy.ts";
import { failing, lost, scene, set, valueOf } from "../support/denokv_scene.ts";

denokvTest(
  "A commit whose answer was lost has been made, once, whatever others have written since",
  async (server) => {
    await using all = await scene(server);
    const { proxy, store, other } = all;
    for (const value of ["first", "second", "without a check"]) {
      const [entry] = await store.getMany([["a"]]);
      const check = { key: ["a"], versionstamp: entry?.versionstamp ?? null };
      const checks = value === "without a check" ? [] : [check];
      proxy.next(async (forward) => {
        await (await forward()).body?.cancel();
        assert(await other.commit([set(["a"], `${value}, then another`)]));
        return cut();
      }, failing);
      const before = proxy.writes;
      assert(await store.commit([set(["a"], value), set([value], 1)], checks));
      assertEquals(proxy.writes, before + 3);
      assertEquals(await valueOf(store, ["a"]), `${value}, then another`);
      assertEquals(await valueOf(other, [value]), 1);
      assertFalse(await store.commit([set(["a"], "stale")], [check]));
    }
  },
);

denokvTest(
  "A commit that did not reach the server is made later, and one that arrives late is not made",
  async (server) => {
    await using all = await scene(server);
    const { proxy, store } = all;
    for (const round of [1, 2]) {
      let arrive: (() => Promise<Response>) | undefined;
      proxy.next((forward) => {
        arrive = forward;
        return Promise.resolve(cut());
      });
      assert(await store.commit([set(["a"], "early"), set(["round"], round)]));
      assert(await store.commit([set(["a"], "late")]));
      await (await arrive?.())?.body?.cancel();
      assertEquals(await valueOf(store, ["a"]), "late");
      assertEquals(await valueOf(store, ["round"]), round);
      assert(await store.commit([set(["a"], "later")]));
    }
  },
);

denokvTest("A commit that takes several is whole, whichever answers are lost", async (server) => {
  await using all = await scene(server);
  const { proxy, store, other } = all;
  const large = (fill: number) => new Uint8Array(300_000).fill(fill);
  const changes = (round: number) => [
    ...Array.from({ length: 1_500 }, (_, index) => set(["many", String(index)], round)),
    set(["large"], large(round)),
  ];
  assert(await store.commit(changes(0)));
  for (let at = 0, made = Infinity; at < made; at++) {
    const round = at + 1;
    const before = proxy.writes;
    const pass: WriteRule = (forward) => forward();
    proxy.next(...Array.from({ length: at }, () => pass), at % 3 === 2 ? failing : lost);
    assert(await store.commit(changes(round)));
    made = proxy.writes - before - 1;
    const values = await Array.fromAsync(other.list(["many"]), ({ value }) => value);
    assertEquals([values.length, ...new Set(values)], [1_500, round]);
    assertEquals(await valueOf(other, ["large"]), large(round));
  }
});

denokvTest("A store goes on when its server was killed and has come back", async (server) => {
  const { port, accessToken, folder } = server;
  const options = { port, accessToken, folder };
  await using store = await KvStore.open(server.url, { accessToken });
  let committed = 0;
  let going = true;
  const committing = (async () => {
    for (; going; committed++) {
      assert(await store.commit([set(["count"], committed), set(["round", String(committed)], 1)]));
    }
  })();
  let current = server;
  for (let times = 0; times < 3; times++) {
    const reached = committed + 20;
    while (committed < reached) await store.getMany([["count"]]);
    await current.kill();
    current = await Denokv.start(options);
  }
  going = false;
  await committing;
  assertEquals((await Array.fromAsync(store.list(["round"]))).length, committed);
  assertEquals(await valueOf(store, ["count"]), committed - 1);
  await current.kill();
});

denokvTest("A commit to a server that stands still is made once, when the server goes on", async (server) => {
  const clock = new TestClock();
  const { url, accessToken } = server;
  await using store = await KvStore.open(url, { accessToken, clock });
  for (const round of [1, 2]) {
    server.signal("SIGSTOP");
    const commit = store.commit([set(["a"], "early"), set(["round"], round)]);
    const reading = store.getMany([["a"]]);
    await clock.tick(20_000); // the first try is given up
    await clock.tick(100);
    server.signal("SIGCONT");
    assert(await commit);
    await reading;
    assert(await store.commit([set(["a"], "late")]));
    assertEquals(await valueOf(store, ["a"]), "late");
    assertEquals(await valueOf(store, ["round"]), round);
  }
});

denokvTest("What is read is never half of a commit that takes several", async (server) => {
  await using all = await scene(server);
  const { proxy, store, other } = all;
  const pass: WriteRule = (forward) => forward();
  const changes = (round: number) =>
    Array.from({ length: 1_500 }, (_, index) => set(["many", String(index)], round));
  assert(await store.commit(changes(0)));
  const seen: unknown[] = [];
  for (let at = 0; at < 7; at++) {
    const round = at + 1;
    const [reached, going] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    proxy.next(...Array.from({ length: at }, () => pass), async (forward) => {
      reached.resolve();
      await going.promise;
      return await forward();
    });
    const commit = store.commit(changes(round));
    await Promise.race([reached.promise, commit]);
    const values = new Set(await Array.fromAsync(other.list(["many"]), ({ value }) => value));
    going.resolve();
    assert(await commit);
    assertEquals(values.size, 1);
    seen.push(...values);
    assertEquals(await valueOf(other, ["many", "7"]), round);
  }
  assertEquals(seen.slice(0, 3), [0, 1, 2]); // it does not count yet
  assertEquals(seen.at(-1), 7);
});

denokvTest("A store asks its server as seldom as it can", async (server) => {
  await using all = await scene(server);
  const { proxy, store } = all;
  const asked = async (action: () => Promise<unknown>): Promise<number> => {
    const before = proxy.requests;
    await action();
    return proxy.requests - before;
  };
  const many = Array.from({ length: 900 }, (_, index) => set(["many", String(index)], index));
  for (let round = 0; round < 2; round++) {
    assertEquals(await asked(() => store.commit(many)), 1);
    assertEquals(await asked(() => store.commit([set(["large"], new Uint8Array(500_000).fill(round))])), 1);
  }
  assertEquals(await asked(() => store.getMany(many.slice(0, 9).map(({ key }) => key))), 1);
  assertEquals(await asked(() => store.getMany([["large"]])), 2); // where its parts are, and the parts
  assertEquals(await asked(() => Array.fromAsync(store.list(["many"]))), 2);
  assertEquals(await asked(() => Array.fromAsync(store.list(["none"]))), 1);
});

denokvTest("A store tries until its patience ends", async (server) => {
  const clock = new TestClock();
  const { url, accessToken } = server;
  await using store = await KvStore.open(url, { accessToken, clock, patience: 5_000 });
  await server.kill();
  const start = clock.now();
  const reading = assertRejects(() => store.getMany([["a"]]), StoreError, "the server does not answer");
  let ended = false;
  reading.finally(() => ended = true);
  while (!ended) {
    await fetch(url).catch(() => {}); // as long as a try takes
    await clock.tick(50);
  }
  await reading;
  const took = clock.now() - start;
  assert(took > 3_000 && took <= 15_000, `${took} ms`);
});
