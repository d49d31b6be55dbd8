import { assert, assertEquals, assertRejects } from "@std/assert";
import { type ClientOptions, MemoryStore, ValueError } from "@greenroom/matrix";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { EVERYBODY } from "../../support/everybody.ts";
import { isSlide, slideOf, SLIDING } from "../../support/sliding.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

const WAYS = ["classic", "sliding"] as const;

/** A fetch that notes the paths of requests, and may answer in place of the homeserver. */
function watched(
  here: ClientStage,
  answer: (url: URL, body: string) => Response | undefined = () => undefined,
): { readonly fetch: typeof globalThis.fetch; readonly paths: string[] } {
  const paths: string[] = [];
  return {
    paths,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      paths.push(url.pathname);
      const body = request.body === null ? "" : await request.clone().text();
      return answer(url, body) ?? await here.homeserver.fetch(request);
    },
  };
}

function unknownPosition(): Response {
  return Response.json({ errcode: "M_UNKNOWN_POS", error: "Unknown position" }, { status: 400 });
}

for (const sync of WAYS) {
  Deno.test(`A bot is invited, joins, answers and is kicked: ${sync} sync`, async () => {
    await using here = clientStage(SLIDING);
    const alice = here.client("alice");
    const { fetch, paths } = watched(here);
    const bot = here.client("bot", { mxid: "@bot:localhost", sync, fetch });
    const seen: string[] = [];
    for (const type of ["INVITE", "USER_INVITED", "JOIN", "LEAVE", "KICK", "PROFILE_CHANGE"] as const) {
      bot.on(type, ({ state_key }) => seen.push(`${type} ${state_key}`));
    }
    bot.on("INVITE", ({ room_id }) => bot.joinRoom(room_id));
    bot.on(
      "m.room.message",
      ({ sender, room_id, content }) =>
        sender === bot.mxid ? undefined : bot.sendNotice(room_id, `You said ${content.body}`),
    );
    bot.start();
    const room = await alice.createRoom({ name: "Stage", invitees: ["@bot:localhost"] });
    await here.settle();
    await alice.sendText(room, "hello");
    await here.settle();
    here.client("carol");
    await alice.inviteUser(room, "@carol:localhost");
    await here.client("carol").joinRoom(room);
    await here.client("carol").setDisplayname("Carol C");
    await here.settle();
    assertEquals((await bot.stateStore.getState(room, "m.room.name"))?.content.name, "Stage");
    await alice.kickUser(room, "@bot:localhost");
    await here.settle();
    assertEquals(await bot.stateStore.getJoinedRooms(), []);
    assertEquals(here.homeserver.room(room).messages.map(({ content }) => content.body), [
      "hello",
      "You said hello",
    ]);
    assertEquals(seen, [
      "INVITE @bot:localhost",
      "JOIN @bot:localhost",
      "USER_INVITED @carol:localhost",
      "JOIN @carol:localhost",
      "PROFILE_CHANGE @carol:localhost",
      "KICK @bot:localhost",
    ]);
    assertEquals(paths.includes("/_matrix/client/v3/sync"), sync === "classic");
  });

  Deno.test(`A gap is read, and ephemeral events and account data come: ${sync} sync`, async () => {
    await using here = clientStage(SLIDING);
    const alice = here.client("alice");
    const bot = here.client("bot", { mxid: "@bot:localhost", sync, store: new MemoryStore() });
    const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
    await bot.joinRoom(room);
    await bot.syncOnce();
    const received = heard(bot);
    const others: unknown[] = [];
    bot.on("m.typing", ({ content }) => void others.push(content.user_ids));
    bot.on("com.example.cue", ({ content }) => void others.push(content.act));
    const expected = Array.from({ length: 30 }, (_, index) => `line ${index}`);
    for (const text of expected) await alice.sendText(room, text);
    await alice.setTyping(room, { timeout: 30_000 });
    await bot.setAccountData("com.example.cue", { act: 2 });
    await bot.syncOnce();
    assertEquals(received, expected);
    assertEquals(others.toSorted(), [2, ["@alice:localhost"]]);
  });

  Deno.test(`Encrypted messages arrive, and one-time keys are counted: ${sync} sync`, async () => {
    await using here = clientStage(SLIDING);
    const options: Partial<ClientOptions> = { encryption: EVERYBODY, store: new MemoryStore() };
    const alice = here.client("alice", { ...options, mxid: "@alice:localhost" });
    let counts = 0;
    const bot = here.client("bot", { ...options, store: new MemoryStore(), mxid: "@bot:localhost", sync });
    bot.on("DEVICE_OTK_COUNT", ({ signed_curve25519 }) => void (counts = signed_curve25519));
    await bot.syncOnce();
    const room = await alice.createRoom({
      invitees: ["@bot:localhost"],
      initialState: [{ type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } }],
    });
    await bot.joinRoom(room);
    await bot.syncOnce();
    await alice.syncOnce();
    const received = heard(bot);
    await alice.sendText(room, "a secret");
    await bot.syncOnce();
    await bot.syncOnce();
    assertEquals(received, ["a secret"]);
    assert(counts > 0);
  });
}

for (const [from, to] of [["classic", "sliding"], ["sliding", "classic"]] as const) {
  Deno.test(`A store that ${from} sync has written goes on with ${to} sync: nothing is lost, nothing comes twice`, async () => {
    await using here = clientStage(SLIDING);
    const alice = here.client("alice");
    here.client("bot");
    const store = new MemoryStore();
    const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
    const quiet = await alice.createRoom({ invitees: ["@bot:localhost"] });
    const received: string[] = [];
    let joins = 0;
    const pass = async (sync: "classic" | "sliding"): Promise<void> => {
      await using bot = here.client("bot", { mxid: "@bot:localhost", store, sync });
      bot.on("m.room.message", ({ content }) => void received.push(content.body));
      bot.on("com.example.cue", ({ content }) => void received.push(`cue ${content.act}`));
      bot.on("JOIN", ({ state_key }) => void (joins += state_key === "@bot:localhost" ? 1 : 0));
      if (received.length === 0) { for (const id of [room, quiet]) await bot.joinRoom(id); }
      await bot.syncOnce();
    };
    const cue = (act: number) =>
      alice.sendToDevice("com.example.cue", { "@bot:localhost": { "*": { act } } });
    await alice.sendText(room, "one");
    await alice.sendText(quiet, "quiet");
    await cue(1);
    await pass(from);
    const before = received.splice(0);
    assertEquals(before.toSorted(), ["cue 1", "one", "quiet"]);
    const entered = joins;
    const expected = Array.from({ length: 25 }, (_, index) => `line ${index}`);
    for (const text of expected) await alice.sendText(room, text);
    await cue(2);
    received.push("-");
    await pass(to);
    assertEquals(received.toSorted(), ["-", "cue 2", ...expected].toSorted());
    assertEquals(received.filter((text) => text.startsWith("line")), expected);
    await alice.sendText(quiet, "three");
    await pass(from);
    await pass(to);
    assertEquals(received.filter((text) => text === "three"), ["three"]);
    assertEquals(received.filter((text) => text.startsWith("cue")), ["cue 2"]);
    assertEquals(joins, entered);
  });
}

Deno.test("A connection that the server has forgotten begins anew: nothing is lost, nothing comes twice", async () => {
  await using here = clientStage(SLIDING);
  const alice = here.client("alice");
  let isForgotten = false;
  const { fetch } = watched(here, (url, body) => {
    if (!isForgotten || !isSlide(url) || slideOf(url, JSON.parse(body)).pos === null) return undefined;
    isForgotten = false;
    return unknownPosition();
  });
  const bot = here.client("bot", {
    mxid: "@bot:localhost",
    sync: "sliding",
    store: new MemoryStore(),
    fetch,
  });
  const [room, left] = [
    await alice.createRoom({ invitees: ["@bot:localhost"] }),
    await alice.createRoom({ invitees: ["@bot:localhost"] }),
  ];
  await bot.joinRoom(room);
  await bot.joinRoom(left);
  const received = heard(bot);
  bot.on("com.example.cue", ({ content }) => void received.push(`cue ${content.act}`));
  await alice.sendText(room, "one");
  await alice.sendToDevice("com.example.cue", { "@bot:localhost": { "*": { act: 1 } } });
  await bot.syncOnce();
  assertEquals(received.toSorted(), ["cue 1", "one"]);
  const expected = Array.from({ length: 25 }, (_, index) => `line ${index}`);
  for (const text of expected) await alice.sendText(room, text);
  await bot.leaveRoom(left);
  isForgotten = true;
  await bot.syncOnce();
  assertEquals(received.slice(2), expected);
  assertEquals(await bot.stateStore.getJoinedRooms(), [room]);
  await alice.sendText(room, "last");
  await bot.syncOnce();
  assertEquals(received.at(-1), "last");
});

Deno.test("A process that is killed before handlers have settled gets their events again by sliding sync", async () => {
  await using here = clientStage(SLIDING);
  const alice = here.client("alice");
  const store = new MemoryStore();
  const options = { mxid: "@bot:localhost", sync: "sliding", store } as const;
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  {
    await using bot = here.client("bot", options);
    await bot.joinRoom(room);
    await bot.syncOnce();
  }
  await alice.sendText(room, "cut off");
  {
    const bot = here.client("bot", { ...options, closeTimeout: 0 });
    let isCalled = false;
    bot.on("m.room.message", async () => {
      isCalled = true;
      await new Promise(() => {});
    });
    bot.start().catch(() => {});
    await here.until(() => isCalled);
    await bot.close();
  }
  await alice.sendText(room, "after");
  await using bot = here.client("bot", options);
  const received = heard(bot);
  await bot.syncOnce();
  assertEquals(received, ["cut off", "after"]);
});

Deno.test("More messages to the device than one answer has come by sliding sync, and classic sync loses none of them", async () => {
  await using here = clientStage(SLIDING);
  const alice = here.client("alice");
  const store = new MemoryStore();
  const acts: number[] = [];
  let left = Infinity;
  const { fetch } = watched(here, (url) => {
    return isSlide(url) && left-- <= 0 ? new Response(null, { status: 502 }) : undefined;
  });
  const pass = async (sync: "classic" | "sliding"): Promise<void> => {
    await using bot = here.client("bot", { mxid: "@bot:localhost", sync, store, fetch });
    bot.on("com.example.cue", ({ content }) => void acts.push(content.act as number));
    await bot.syncOnce();
  };
  await pass("sliding");
  for (let act = 0; act < 150; act++) {
    await alice.sendToDevice("com.example.cue", { "@bot:localhost": { "*": { act } } });
  }
  left = 1;
  await pass("sliding").catch(() => {});
  assertEquals(acts.length, 100);
  left = Infinity;
  await pass("classic");
  await pass("classic");
  assertEquals(acts, Array.from({ length: 150 }, (_, act) => act));
});

Deno.test("A homeserver without sliding sync, and filters, are refused with what to do", async () => {
  await using here = clientStage({ unstableFeatures: {} });
  const bot = here.client("bot", { sync: "sliding" });
  await assertRejects(() => bot.start(), Error);
  const other = here.client("other", { sync: "sliding" });
  await assertRejects(() => other.syncOnce({ filterData: {} }), ValueError, "no filters");
  await assertRejects(() => other.syncOnce(), ValueError, 'make the option sync "auto", or leave it out');
});

for (const sync of WAYS) {
  Deno.test(`The first answer comes again as a whole if the process was killed before it was handled: ${sync} sync`, async () => {
    await using here = clientStage(SLIDING);
    const alice = here.client("alice");
    const options = { mxid: "@bot:localhost", sync, store: new MemoryStore() } as const;
    const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
    await alice.sendText(room, "one");
    const killed = here.client("bot", { ...options, closeTimeout: 0 });
    await killed.joinRoom(room);
    let isCalled = false;
    killed.on("m.room.message", async () => {
      isCalled = true;
      await new Promise(() => {});
    });
    killed.start().catch(() => {});
    await here.until(() => isCalled);
    await killed.close();
    await alice.sendText(room, "two");
    await using bot = here.client("bot", options);
    const received = heard(bot);
    await bot.syncOnce();
    await bot.syncOnce();
    await alice.sendText(room, "three");
    await bot.syncOnce();
    assertEquals(received, ["one", "two", "three"]);
  });
}
