import { assertEquals, assertInstanceOf } from "@std/assert";
import { type Client, MatrixRequestError, MemoryStore } from "@greenroom/matrix";
import { StoreError } from "@greenroom/matrix/errors";
import { rejectionOf } from "../../actors/kernel/support.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

const MINUTE = 60_000;
const REFUSALS = [[400, "M_UNKNOWN"], [400, "M_INVALID_PARAM"], [404, "M_NOT_FOUND"]] as const;

/** A way to a server that refuses each token, or everything. */
function refusing(
  here: ClientStage,
  [status, errcode]: readonly [number, string],
  which: "tokens" | "all" = "tokens",
): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const isRefused = url.pathname.endsWith("/sync") && (which === "all" || url.searchParams.has("since"));
    if (!isRefused) return await here.homeserver.fetch(input, init);
    return Response.json({ errcode, error: "Invalid stream token" }, { status });
  };
}

function causeOf(error: unknown): unknown {
  return error instanceof MatrixRequestError ? error : (error as Error).cause;
}

/** A store of a bot that has handled something, in a room with Alice. */
async function stage() {
  const here = clientStage();
  const store = new MemoryStore();
  const alice = here.client("alice");
  const room = await alice.createRoom({ preset: "public_chat" });
  await using bot = here.client("bot", { store });
  await bot.joinRoom(room);
  await bot.syncOnce();
  await alice.sendText(room, "before");
  await bot.syncOnce();
  return { here, store, alice, room, [Symbol.asyncDispose]: () => here[Symbol.asyncDispose]() };
}

/** What reaches handlers from now on: messages, state, members, invitations, gaps and refused tokens. */
function told(bot: Client): string[] {
  const all: string[] = [];
  bot.on("m.room.message", ({ content }) => void all.push(content.body));
  bot.on("m.room.name", ({ content }) => void all.push(`name ${content.name}`));
  bot.on("m.room.create", () => void all.push("create"));
  bot.on("JOIN", ({ state_key }) => void all.push(`${state_key} joins`));
  bot.on("LEAVE", ({ state_key }) => void all.push(`${state_key} leaves`));
  bot.on("INVITE", ({ room_id }) => void all.push(`invited to ${room_id}`));
  bot.on("GAP", ({ reason }) => void all.push(`gap ${reason}`));
  bot.on("SYNC_ERRORED", ({ error }) => {
    if (error instanceof StoreError) all.push("refused");
  });
  return all;
}

/** A way to a server that has forgotten the tokens of before, until it is asked without one. */
function restored(here: ClientStage, refusal: readonly [number, string] = REFUSALS[0]): typeof fetch {
  let isAnew = false;
  const refuse = refusing(here, refusal);
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const isSync = url.pathname.endsWith("/sync");
    const response = await (isAnew ? here.homeserver.fetch : refuse)(input, init);
    isAnew ||= isSync && !url.searchParams.has("since") && !url.search.includes("%22rooms%22%3A%5B%5D");
    return response;
  };
}

for (const refusal of REFUSALS) {
  Deno.test(`A start whose token the server refuses goes on with what is new: ${refusal}`, async () => {
    await using scene = await stage();
    const { here, store, alice, room } = scene;
    await alice.sendText(room, "meanwhile");
    await using bot = here.client("bot", { store, fetch: restored(here, refusal) });
    const all = told(bot);
    bot.start();
    for (let minute = 0; minute < 3; minute++) await here.clock.tick(MINUTE);
    await alice.sendText(room, "after");
    await here.settle();
    assertEquals(all, ["refused", "meanwhile", "after"]);
  });
}

Deno.test("A pass whose token the server refuses goes on with what is new at once, and the next one as usual", async () => {
  await using scene = await stage();
  const { here, store, alice, room } = scene;
  for (let number = 1; number <= 30; number++) await alice.sendText(room, `${number}`);
  await using bot = here.client("bot", { store, fetch: restored(here) });
  const all = told(bot);
  await bot.syncOnce();
  await alice.sendText(room, "after");
  await bot.syncOnce();
  const numbers = Array.from({ length: 30 }, (_, index) => `${index + 1}`);
  assertEquals(all, ["refused", ...numbers, "after"]);
});

Deno.test("A client that syncs anew hears of changed state, new members and rooms, and of nothing twice", async () => {
  await using scene = await stage();
  const { here, store, alice, room } = scene;
  const carol = here.client("carol");
  await alice.sendStateEvent(room, "m.room.name", { name: "Stage" });
  await carol.joinRoom(room);
  const invited = await alice.createRoom({ invitees: ["@bot:localhost"] });
  await using bot = here.client("bot", { store, fetch: restored(here) });
  const all = told(bot);
  await bot.syncOnce();
  assertEquals(all.toSorted(), [
    "@carol:localhost joins",
    `invited to ${invited}`,
    "name Stage",
    "refused",
  ]);
  await using next = here.client("bot", { store, fetch: restored(here) });
  const again = told(next);
  await next.syncOnce();
  assertEquals(again, ["refused"]);
});

Deno.test("Where the server has lost what was handled, nothing older is taken for new, and a GAP reports it", async () => {
  await using scene = await stage();
  const { here, store } = scene;
  const refuse = restored(here);
  await using bot = here.client("bot", {
    store,
    async fetch(input, init) {
      const response = await refuse(input, init);
      const text = await response.text();
      return new Response(text.replaceAll('"event_id":"$', '"event_id":"$other-'), response);
    },
  });
  const all = told(bot);
  await bot.syncOnce();
  assertEquals([all.includes("before"), all.includes("gap refused")], [false, true]);
});

Deno.test("A client that ends before it has handled what came anew handles it after a restart", async () => {
  await using scene = await stage();
  const { here, store, alice, room } = scene;
  await alice.sendText(room, "meanwhile");
  const fetch = restored(here);
  await using bot = here.client("bot", { store, fetch });
  const begun = Promise.withResolvers<void>();
  bot.on("m.room.message", async () => {
    begun.resolve();
    await new Promise(() => {});
  });
  bot.syncOnce({ passTimeout: MINUTE }).catch(() => {});
  await begun.promise;
  await here.clock.tick(2 * MINUTE);
  bot.close().catch(() => {});
  await here.clock.tick(10 * MINUTE);
  await using next = here.client("bot", { store, fetch: here.homeserver.fetch });
  const all = told(next);
  await next.syncOnce();
  await alice.sendText(room, "after");
  await next.syncOnce();
  assertEquals(all, ["meanwhile", "after"]);
});

Deno.test("A running client whose token is refused goes on, while what it has begun is handled once", async () => {
  for (const store of [undefined, new MemoryStore()]) {
    await using here = clientStage();
    let [isRefusing, isHeld] = [false, true];
    const refuse = refusing(here, REFUSALS[2]);
    const alice = here.client("alice");
    const bot = here.client("bot", {
      store,
      fetch: async (input, init) => {
        const response = await (isRefusing ? refuse : here.homeserver.fetch)(input, init);
        const { searchParams, pathname } = new URL(input instanceof Request ? input.url : input);
        if (pathname.endsWith("/sync") && !searchParams.has("since") && isRefusing) {
          isRefusing = searchParams.get("filter")?.includes('"rooms":[]') === true;
        }
        return response;
      },
    });
    const all: string[] = [];
    const going = Promise.withResolvers<void>();
    bot.on("m.room.message", async ({ content: { body } }) => {
      all.push(body);
      if (body === "slow" && isHeld) await going.promise;
    });
    bot.on("SYNC_ERRORED", ({ error }) => void all.push(error instanceof StoreError ? "refused" : "failed"));
    bot.start({ ignoreInitialSync: true });
    await bot.ready;
    const room = await alice.createRoom({ preset: "public_chat" });
    await bot.joinRoom(room);
    await here.settle();
    await alice.sendText(room, "fast");
    await here.settle();
    await alice.sendText(room, "slow");
    await here.settle();
    isRefusing = true;
    await alice.sendText(room, "unseen");
    for (let minute = 0; minute < 4; minute++) await here.clock.tick(MINUTE);
    isHeld = false;
    going.resolve();
    await alice.sendText(room, "after");
    await here.settle();
    assertEquals(all.filter((what) => what !== "failed"), ["fast", "slow", "unseen", "refused", "after"]);
    await bot.close();
    if (store === undefined) continue;
    await using next = here.client("bot", { store });
    const again = heard(next);
    await next.syncOnce();
    assertEquals(again, []);
  }
});

Deno.test("A token counts as refused only by the homeserver, and where nothing else is at fault", async () => {
  await using scene = await stage();
  const { here, store, alice, room } = scene;
  const faults: (() => Response)[] = [
    () => new Response("<h1>Not found</h1>", { status: 404, headers: { "content-type": "text/html" } }),
    () => Response.json({ errcode: "M_UNRECOGNIZED", error: "no such route" }, { status: 404 }),
  ];
  for (const fault of faults) {
    let isUp = false;
    await using bot = here.client("bot", {
      store,
      fetch: async (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        const isRefused = !isUp && url.pathname.endsWith("/sync") && url.searchParams.has("since");
        return isRefused ? fault() : await here.homeserver.fetch(input, init);
      },
    });
    const texts = heard(bot);
    bot.start();
    for (let minute = 0; minute < 10; minute++) await here.clock.tick(MINUTE);
    isUp = true;
    await alice.sendText(room, "up");
    for (let minute = 0; minute < 6; minute++) await here.clock.tick(MINUTE);
    assertEquals(texts, ["up"]);
    await bot.stop();
    await bot.close();
  }
});

Deno.test("A filter that the server refuses, or one worker of several, costs no token", async () => {
  await using scene = await stage();
  const { here, store } = scene;
  const refusal = () => Response.json({ errcode: "M_INVALID_PARAM", error: "no" }, { status: 400 });
  let syncs = 0;
  const faults: ((url: URL) => boolean)[] = [
    (url) => !url.search.includes("%22rooms%22%3A%5B%5D"), // all but what asks for nothing
    (url) => url.searchParams.has("since") && syncs++ < 3,
  ];
  for (const isRefused of faults) {
    await using bot = here.client("bot", {
      store,
      fetch: async (input, init) => {
        const url = new URL(input instanceof Request ? input.url : input);
        if (url.pathname.endsWith("/sync") && isRefused(url)) return refusal();
        return await here.homeserver.fetch(input, init);
      },
    });
    assertInstanceOf(causeOf(await rejectionOf(bot.syncOnce())), MatrixRequestError);
    await bot.close();
  }
});

Deno.test("A server that refuses everything for a while is waited for", async () => {
  for (const refusal of REFUSALS) {
    await using scene = await stage();
    const { here, store, alice, room } = scene;
    let isUp = false;
    const refuse = refusing(here, refusal, "all");
    const fetch: typeof globalThis.fetch = (input, init) =>
      (isUp ? here.homeserver.fetch : refuse)(input, init);
    await using bot = here.client("bot", { store, fetch });
    const texts = heard(bot);
    bot.start();
    for (let minute = 0; minute < 5; minute++) await here.clock.tick(MINUTE);
    isUp = true;
    await alice.sendText(room, "up");
    for (let minute = 0; minute < 6; minute++) await here.clock.tick(MINUTE);
    assertEquals(texts, ["up"]);
  }
});
