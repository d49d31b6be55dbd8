import { assert, assertEquals, assertFalse, assertRejects, assertStringIncludes } from "@std/assert";
import { StoreError } from "@greenroom/matrix/errors";
import { ValueError } from "@greenroom/matrix";
import { KvStore } from "@greenroom/matrix/store/kv";
import { Denokv } from "../../../tools/denokv.ts";
import { denokvTest } from "../support/denokv.ts";
import type { WriteRule } from "../support/denokv_proxy.ts";
import { failing, scene, set, valueOf } from "../support/denokv_scene.ts";

denokvTest("A store says when its server is away, and can be closed then", async (server) => {
  const { accessToken, url } = server;
  const store = await KvStore.open(url, { accessToken, patience: 0 });
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
  await assertRejects(() => KvStore.open(url, { accessToken }), StoreError, "the server does not answer");
});

denokvTest(
  "A store says that the server refuses its access token, and does not tell the token",
  async (server) => {
    const { port, accessToken, folder, url } = server;
    const wrong = "not-the-access-token";
    const error = await assertRejects(() => KvStore.open(url, { accessToken: wrong }), StoreError, "401");
    assertFalse(Deno.inspect(error).includes(wrong));
    assertStringIncludes(error.message, "look at the access token");
    await using store = await KvStore.open(url, { accessToken });
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
    await assertRejects(() => KvStore.open(server.url), ValueError, "there is no access token");
    Deno.env.set(name, server.accessToken);
    await using store = await KvStore.open(server.url);
    assert(await store.commit([set(["a"], 1)]));
  } finally {
    if (before === undefined) Deno.env.delete(name);
    else Deno.env.set(name, before);
  }
});

denokvTest("What a server keeps is what Deno's own client reads", async (server) => {
  await using store = await KvStore.open(server.url, { accessToken: server.accessToken });
  await store.commit([set(["", "ä\0\uD800", "😀"], 1), set(["large"], new Uint8Array(200_000))]);
  const before = Deno.env.get("DENO_KV_ACCESS_TOKEN");
  Deno.env.set("DENO_KV_ACCESS_TOKEN", server.accessToken);
  try {
    const kv = await Deno.openKv(server.url);
    const remote = await KvStore.over(kv);
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
      () => KvStore.open(url, { accessToken: "token" }),
      StoreError,
      "is not KV Connect",
    );
  }
});
