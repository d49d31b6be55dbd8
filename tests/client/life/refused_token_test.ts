import { assertEquals, assertInstanceOf, assertStringIncludes } from "@std/assert";
import { type Client, MatrixRequestError, MemoryStore, StoreError } from "@greenroom/matrix";
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

/** A store of a bot that has synced, in a room with Alice. */
async function stage() {
  const here = clientStage();
  const store = new MemoryStore();
  const alice = here.client("alice");
  const room = await alice.createRoom({ preset: "public_chat" });
  await using bot = here.client("bot", { store });
  await bot.joinRoom(room);
  await bot.syncOnce();
  return { here, store, alice, room, [Symbol.asyncDispose]: () => here[Symbol.asyncDispose]() };
}

function causeOf(error: unknown): unknown {
  return error instanceof StoreError || error instanceof MatrixRequestError ? error : (error as Error).cause;
}

async function ended(here: ClientStage, bot: Client): Promise<unknown> {
  const failure = rejectionOf(bot.start());
  for (let minute = 0; minute < 3; minute++) await here.clock.tick(MINUTE);
  return causeOf(await failure);
}

for (const refusal of REFUSALS) {
  Deno.test(`A start ends whose token the server refuses, and says how to go on, which works: ${refusal}`, async () => {
    await using scene = await stage();
    const { here, store, alice, room } = scene;
    await using bot = here.client("bot", { store, fetch: refusing(here, refusal) });
    const error = await ended(here, bot);
    assertInstanceOf(error, StoreError);
    assertStringIncludes(error.message, "putNextBatch(undefined)");
    await bot.close();
    await using next = here.client("bot", { store });
    await next.syncStore.putNextBatch(undefined);
    await alice.sendText(room, "meanwhile");
    const texts = heard(next);
    next.start({ ignoreInitialSync: true });
    await next.ready;
    await alice.sendText(room, "after");
    await here.settle();
    assertEquals(texts, ["after"]);
  });
}

Deno.test("A pass whose token the server refuses says so at once", async () => {
  await using scene = await stage();
  const { here, store } = scene;
  await using bot = here.client("bot", { store, fetch: refusing(here, REFUSALS[0]) });
  assertInstanceOf(causeOf(await rejectionOf(bot.syncOnce())), StoreError);
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
