import { assert, assertEquals, assertFalse, assertRejects, assertStringIncludes } from "@std/assert";
import { StoreError } from "../../../src/errors/store_error.ts";
import { ValueError } from "../../../src/errors/value_error.ts";
import { DenoKvStore } from "../../../src/store/deno_kv.ts";
import type { KvKey, KvMutation } from "../../../src/store/kv_store.ts";
import { TestClock } from "../../../src/testing/test_clock.ts";
import { Denokv } from "../../../tools/denokv.ts";
import { denokvTest } from "../support/denokv.ts";
import { cut, DenokvProxy, type WriteRule } from "../support/denokv_proxy.ts";

const set = (key: KvKey, value: unknown): KvMutation => ({ type: "set", key, value });

async function valueOf(store: DenoKvStore, key: KvKey): Promise<unknown> {
  return (await store.getMany([key]))[0]?.value;
}

/** Two stores of one database: one behind a network that fails, one that is not. */
async function scene(server: Denokv) {
  const { accessToken } = server;
  const proxy = new DenokvProxy(server.url);
  const store = await DenoKvStore.open(proxy.url, { accessToken });
  const other = await DenoKvStore.open(server.url, { accessToken });
  return {
    proxy,
    store,
    other,
    async [Symbol.asyncDispose]() {
      await store.close();
      await other.close();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

const lost: WriteRule = async (forward) => {
  await (await forward()).body?.cancel();
  return cut();
};

const failing: WriteRule = () =>
  Promise.resolve(new Response("The server is temporarily unavailable", { status: 503 }));

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
  await using store = await DenoKvStore.open(server.url, { accessToken });
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
  await using store = await DenoKvStore.open(url, { accessToken, clock });
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
  await using store = await DenoKvStore.open(url, { accessToken, clock, patience: 5_000 });
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

denokvTest("A store says when its server is away, and can be closed then", async (server) => {
  const { accessToken, url } = server;
  const store = await DenoKvStore.open(url, { accessToken, patience: 0 });
  assert(await store.commit([set(["a"], 1)]));
  await server.kill();
  const error = await assertRejects(
    () => store.commit([set(["a"], 2)]),
    StoreError,
    "the server does not answer",
  );
  assertEquals(error.code, "STORE_ERROR");
  await assertRejects(() => store.getMany([["a"]]), StoreError, "the server does not answer");
  await store.close();
  await assertRejects(() => DenoKvStore.open(url, { accessToken }), StoreError, "the server does not answer");
});

denokvTest(
  "A store says that the server refuses its access token, and does not tell the token",
  async (server) => {
    const { port, accessToken, folder, url } = server;
    const wrong = "not-the-access-token";
    const error = await assertRejects(() => DenoKvStore.open(url, { accessToken: wrong }), StoreError, "401");
    assertFalse(Deno.inspect(error).includes(wrong));
    assertStringIncludes(error.message, "look at the access token");
    await using store = await DenoKvStore.open(url, { accessToken });
    assert(await store.commit([set(["a"], 1)]));
    await server.kill();
    await using _other = await Denokv.start({ port, folder, accessToken: "another-access-token" });
    const late = await assertRejects(() => store.commit([set(["a"], 1)]), StoreError, "401");
    assertFalse(Deno.inspect(late).includes(accessToken));
  },
);

denokvTest(
  "A store has a new token given to it when the one that the server gave it has ended",
  async (server) => {
    await using all = await scene(server);
    const { proxy, store } = all;
    const ended: WriteRule = () => Promise.resolve(new Response("Invalid access token.", { status: 401 }));
    const before = proxy.exchanges;
    proxy.next(ended, ended, failing);
    proxy.nextExchanges(failing);
    assert(await store.commit([set(["a"], 1)]));
    assertEquals(await valueOf(store, ["a"]), 1);
    assertEquals(proxy.exchanges, before + 2);
    proxy.next(ended, ended);
    await assertRejects(() => store.commit([set(["a"], 2)]), StoreError, "401 Invalid access token.");
    assertEquals(await valueOf(store, ["a"]), 1);
    assert(await store.commit([set(["a"], 3)]));
  },
);

denokvTest("A store takes the access token from the environment if it is not given one", async (server) => {
  const name = "DENO_KV_ACCESS_TOKEN";
  const before = Deno.env.get(name);
  Deno.env.delete(name);
  try {
    await assertRejects(() => DenoKvStore.open(server.url), ValueError, "there is no access token");
    Deno.env.set(name, server.accessToken);
    await using store = await DenoKvStore.open(server.url);
    assert(await store.commit([set(["a"], 1)]));
  } finally {
    if (before === undefined) Deno.env.delete(name);
    else Deno.env.set(name, before);
  }
});

denokvTest("What a server keeps is what Deno's own client reads", async (server) => {
  await using store = await DenoKvStore.open(server.url, { accessToken: server.accessToken });
  await store.commit([set(["", "ä\0\uD800", "😀"], 1), set(["large"], new Uint8Array(200_000))]);
  const before = Deno.env.get("DENO_KV_ACCESS_TOKEN");
  Deno.env.set("DENO_KV_ACCESS_TOKEN", server.accessToken);
  try {
    const kv = await Deno.openKv(server.url);
    const remote = await DenoKvStore.over(kv);
    assertEquals(await Array.fromAsync(remote.list([])), await Array.fromAsync(store.list([])));
    await remote.commit([set(["another"], 7)]);
    assertEquals(await valueOf(store, ["another"]), 7);
    await remote.close();
  } finally {
    if (before === undefined) Deno.env.delete("DENO_KV_ACCESS_TOKEN");
    else Deno.env.set("DENO_KV_ACCESS_TOKEN", before);
  }
});

denokvTest("Anything that does not speak KV Connect is refused", async () => {
  const answers = [
    "hello",
    "{}",
    JSON.stringify({ version: 9 }),
    JSON.stringify({ version: 3, endpoints: [] }),
  ];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(answers.shift()),
  );
  const url = `http://127.0.0.1:${server.addr.port}`;
  while (answers.length > 0) {
    await assertRejects(
      () => DenoKvStore.open(url, { accessToken: "token" }),
      StoreError,
      "is not KV Connect",
    );
  }
});
