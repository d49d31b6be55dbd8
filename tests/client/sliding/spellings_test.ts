import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore, ValueError } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { EVERYBODY } from "../../support/everybody.ts";
import { isSlide, SPELLINGS } from "../../support/sliding.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";

const BOT = "@bot:localhost";
const UNSTABLE = "/_matrix/client/unstable/org.matrix.simplified_msc3575/sync";
const MERGED = "/_matrix/client/v4/sync";
const BOTH: { unstableFeatures: Record<string, boolean> } = {
  unstableFeatures: { ...SPELLINGS.synapse, ...SPELLINGS.merged },
};

/** A homeserver that has both, and says so or not. */
function between(here: ClientStage): {
  readonly fetch: typeof globalThis.fetch;
  readonly slides: string[];
  has: Record<string, boolean>;
} {
  const server = {
    has: BOTH.unstableFeatures,
    slides: [] as string[],
    fetch: async (...[input, init]: Parameters<typeof globalThis.fetch>): Promise<Response> => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      if (isSlide(url)) {
        server.slides.push(url.pathname);
        const flag = `org.matrix.simplified_msc3575${url.pathname === MERGED ? ".stable" : ""}`;
        if (server.has[flag] !== true) {
          return Response.json({ errcode: "M_UNRECOGNIZED", error: "Unrecognized" }, { status: 404 });
        }
      }
      const response = await here.homeserver.fetch(request);
      if (!url.pathname.endsWith("/versions")) return response;
      return Response.json({ ...await response.json(), unstable_features: server.has });
    },
  };
  return server;
}

Deno.test("A homeserver with the merged spelling is asked by it: messages in clear and encrypted, receipts, a kick", async () => {
  await using here = clientStage({ unstableFeatures: SPELLINGS.merged });
  const { fetch, slides } = Object.assign(between(here), { has: SPELLINGS.merged });
  const options = { encryption: EVERYBODY, store: new MemoryStore() };
  const alice = here.client("alice", { ...options, mxid: "@alice:localhost" });
  const store = new MemoryStore();
  const bot = here.client("bot", { ...options, store, mxid: BOT, sync: "sliding", fetch });
  const [texts, seen] = [heard(bot), [] as string[]];
  bot.on("m.receipt", ({ content }) => void seen.push(...Object.keys(content)));
  bot.on("m.typing", ({ content }) => void seen.push(...content.user_ids));
  bot.on("KICK", ({ state_key }) => void seen.push(`KICK ${state_key}`));
  await bot.syncOnce();
  const clear = await alice.createRoom({ invitees: [BOT] });
  const secret = await alice.createRoom({
    invitees: [BOT],
    initialState: [{ type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } }],
  });
  for (const room of [clear, secret]) await bot.joinRoom(room);
  await bot.syncOnce();
  await alice.syncOnce();
  const event = await alice.sendText(clear, "hello");
  await alice.sendText(secret, "a secret");
  await alice.sendReceipt(clear, event);
  await alice.setTyping(clear, { timeout: 30_000 });
  for (let pass = 0; pass < 2; pass++) await bot.syncOnce();
  assertEquals(texts.toSorted(), ["a secret", "hello"]);
  await alice.kickUser(clear, BOT);
  await bot.syncOnce();
  assertEquals(seen, [event, "@alice:localhost", `KICK ${BOT}`]);
  assertEquals(new Set(slides), new Set([MERGED]));
});

Deno.test("A store goes on when the homeserver learns the merged spelling, and when it forgets it: nothing is lost, nothing comes twice", async () => {
  await using here = clientStage(BOTH);
  const alice = here.client("alice");
  const joiner = here.client("bot");
  const [busy, quiet] = [
    await alice.createRoom({ invitees: [BOT] }),
    await alice.createRoom({ invitees: [BOT] }),
  ];
  for (const room of [busy, quiet]) await joiner.joinRoom(room);
  const server = between(here);
  const store = new MemoryStore();
  const heard: string[] = [];
  const pass = async (sync: "classic" | "sliding"): Promise<void> => {
    await using bot = here.client("bot", { mxid: BOT, store, sync, fetch: server.fetch });
    bot.on("m.room.message", ({ content }) => void heard.push(content.body));
    bot.on("com.example.cue", ({ content }) => void heard.push(`cue ${content.act}`));
    await bot.syncOnce();
  };
  const { synapse, merged } = SPELLINGS;
  const ways: [Record<string, boolean>, "classic" | "sliding", path: string][] = [
    [synapse, "sliding", UNSTABLE],
    [{ ...synapse, ...merged }, "sliding", MERGED],
    [{}, "classic", ""],
    [merged, "sliding", MERGED],
    [synapse, "sliding", UNSTABLE],
  ];
  for (const [act, [has, sync, path]] of ways.entries()) {
    server.has = has;
    const lines = Array.from({ length: 12 }, (_, line) => `${act} line ${line}`); // a gap
    for (const text of lines) await alice.sendText(busy, text);
    await alice.sendText(quiet, `${act} quiet`);
    await alice.sendToDevice("com.example.cue", { [BOT]: { "*": { act } } });
    await pass(sync);
    assertEquals(
      heard.filter((text) => text.startsWith(`${act} line`)),
      act === 0 ? lines.slice(-10) : lines,
    );
    assertEquals(heard.splice(0).length, act === 0 ? 12 : 14);
    assertEquals(server.slides.splice(0).at(-1) ?? "", path);
  }
});

Deno.test("A client that runs asks again what there is when the spelling that it uses has gone", async () => {
  await using here = clientStage(BOTH);
  const alice = here.client("alice");
  const server = Object.assign(between(here), { has: SPELLINGS.synapse });
  const bot: Client = here.client("bot", {
    mxid: BOT,
    store: new MemoryStore(),
    sync: "sliding",
    fetch: server.fetch,
  });
  const texts = heard(bot);
  const room = await alice.createRoom({ invitees: [BOT] });
  await bot.joinRoom(room);
  bot.start();
  await alice.sendText(room, "before");
  await here.until(() => texts.length === 1);
  server.has = SPELLINGS.merged;
  await alice.sendText(room, "by the request under way");
  await here.until(() => texts.length === 2);
  await alice.sendText(room, "behind");
  for (let second = 0; second < 60 && texts.length < 3; second++) await here.clock.tick(1_000);
  assertEquals(texts, ["before", "by the request under way", "behind"]);
  assert(server.slides.includes(UNSTABLE) && server.slides.at(-1) === MERGED);
});

Deno.test("With auto a client asks by sliding sync where the homeserver has it, and else by the classic one: its store goes on", async () => {
  await using here = clientStage(BOTH);
  const alice = here.client("alice");
  const server = between(here);
  const store = new MemoryStore();
  const texts: string[] = [];
  const room = await alice.createRoom({ invitees: [BOT] });
  await here.client("bot").joinRoom(room);
  const pass = async (has: Record<string, boolean>): Promise<string[]> => {
    server.has = has;
    await using bot = here.client("bot", { mxid: BOT, store, sync: "auto", fetch: server.fetch });
    bot.on("m.room.message", ({ content }) => void texts.push(content.body));
    await bot.syncOnce();
    return server.slides.splice(0);
  };
  const { synapse, merged } = SPELLINGS;
  for (const [index, has] of [{}, synapse, merged, {}, {}, synapse].entries()) {
    await alice.sendText(room, `line ${index}`);
    const slides = await pass(has);
    assertEquals([...new Set(slides)], has === synapse ? [UNSTABLE] : has === merged ? [MERGED] : []);
    assertEquals(texts.splice(0), [`line ${index}`]);
  }
});

for (const isStored of [true, false]) {
  const where = isStored ? "a store" : "memory";
  Deno.test(`State that the merged spelling says was deleted is not there any more, and no event: in ${where}`, async () => {
    await using here = clientStage({ unstableFeatures: SPELLINGS.merged });
    const alice = here.client("alice");
    const room = await alice.createRoom({ name: "Stage", topic: "Plays", invitees: [BOT] });
    const server = Object.assign(between(here), { has: SPELLINGS.merged });
    let stubs: unknown[] = [];
    const fetch: typeof globalThis.fetch = async (...request) => {
      const response = await server.fetch(...request);
      if (!isSlide(new URL(new Request(...request).url)) || stubs.length === 0) return response;
      const answer = await response.json();
      const { required_state: state = [], ...others } = answer.rooms[room] ?? {};
      answer.rooms[room] = { ...others, required_state: [...state, ...stubs] };
      stubs = [];
      return Response.json(answer);
    };
    const warnings: string[] = [];
    const warned = (text: string) => void warnings.push(text);
    const bot = here.client("bot", {
      mxid: BOT,
      ...(isStored && { store: new MemoryStore() }),
      sync: "sliding",
      fetch,
      log: { debug() {}, info() {}, warn: warned, error: warned },
    });
    await bot.joinRoom(room);
    await bot.syncOnce();
    const topic = async () => (await bot.stateStore.getState(room, "m.room.topic"))?.content.topic;
    assertEquals(await topic(), "Plays");
    const types: string[] = [];
    bot.on("m.room.topic", ({ type }) => void types.push(type));
    bot.on("m.room.name", ({ type }) => void types.push(type));
    const name = await alice.sendStateEvent(room, "m.room.name", { name: "Backstage" });
    stubs = [{ type: "m.room.topic", state_key: "" }];
    await bot.syncOnce();
    assertEquals([await topic(), await bot.stateStore.getState(room, "m.room.topic")], [
      undefined,
      undefined,
    ]);
    assertEquals((await bot.stateStore.getState(room, "m.room.name"))?.content.name, "Backstage");
    stubs = [{ type: "m.room.topic", state_key: "" }, { type: "m.room.avatar", state_key: "" }];
    await alice.redact(room, name);
    await bot.syncOnce();
    assertEquals(await bot.stateStore.getState(room, "m.room.topic"), undefined);
    assertEquals((await bot.stateStore.getState(room, "m.room.name"))?.content, {});
    assertEquals(types, ["m.room.name"]);
    assertEquals(warnings.filter((text) => text.startsWith("Left out")), []);
  });
}

Deno.test("Sliding sync without an extension that the client needs is refused with its name", async () => {
  const unstableFeatures = { ...SPELLINGS.merged, "org.matrix.msc4543.stable": false };
  await using here = clientStage({ unstableFeatures });
  const without = "has sliding sync without the extension e2ee (org.matrix.msc4543);";
  await assertRejects(() => here.client("bot", { sync: "sliding" }).syncOnce(), ValueError, without);
});

Deno.test("With auto a client whose first question is refused asks again what there is, and goes on by the classic sync", async () => {
  await using here = clientStage(BOTH);
  const alice = here.client("alice");
  const room = await alice.createRoom({ invitees: [BOT] });
  await here.client("bot").joinRoom(room);
  await alice.sendText(room, "hello");
  const server = between(here);
  const fetch: typeof globalThis.fetch = async (...request) => {
    if (isSlide(new URL(new Request(...request).url))) server.has = {}; // between /versions and the question
    return await server.fetch(...request);
  };
  const bot = here.client("bot", { mxid: BOT, store: new MemoryStore(), sync: "auto", fetch });
  const texts = heard(bot);
  await bot.syncOnce();
  assertEquals([texts, server.slides], [["hello"], [MERGED]]);
});

Deno.test("With auto /versions is asked once, and filters are refused wherever it syncs", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { mxid: BOT, sync: "auto" });
  await assertRejects(() => bot.syncOnce({ filterData: {} }), ValueError, "which has no filters");
  const server = Object.assign(between(here), { has: {} });
  let versions = 0;
  const fetch: typeof globalThis.fetch = (...request) => {
    versions += new URL(new Request(...request).url).pathname.endsWith("/versions") ? 1 : 0;
    return server.fetch(...request);
  };
  const other = here.client("bot", { mxid: BOT, sync: "auto", fetch });
  for (let pass = 0; pass < 3; pass++) await other.syncOnce();
  assertEquals(versions, 1);
});

for (const sync of ["auto", "classic"] as const) {
  for (const isFirst of [true, false]) {
    const when = isFirst ? "the first time" : "after a connection was lost";
    Deno.test(`When sliding sync goes away before all rooms have been shown ${when}, the rest comes by the classic one: ${sync}`, async () => {
      await using here = clientStage(BOTH);
      const alice = here.client("alice");
      const joiner = here.client("bot");
      const rooms: RoomID[] = [];
      for (let index = 0; index < 23; index++) {
        const room = await alice.createRoom({ invitees: [BOT] });
        await joiner.joinRoom(room);
        if (isFirst) await alice.sendText(room, `in ${index}`);
        rooms.push(room);
      }
      const server = between(here);
      const store = new MemoryStore();
      const texts: string[] = [];
      const pass = async (sync: "sliding" | "auto" | "classic", slides = Infinity): Promise<void> => {
        const fetch: typeof globalThis.fetch = async (...request) => {
          const url = new URL(new Request(...request).url);
          if (isSlide(url) && slides-- <= 0) return new Response(null, { status: 502 });
          return await server.fetch(...request);
        };
        await using bot = here.client("bot", { mxid: BOT, store, sync, fetch });
        bot.on("m.room.message", ({ content }) => void texts.push(content.body));
        bot.on("com.example.cue", ({ content }) => void texts.push(`cue ${content.act}`));
        await bot.syncOnce().catch((error) => assert(slides < 0, String(error)));
      };
      if (!isFirst) {
        await pass("classic");
        for (const [index, room] of rooms.entries()) await alice.sendText(room, `in ${index}`);
      }
      await alice.sendToDevice("com.example.cue", { [BOT]: { "*": { act: 1 } } });
      await pass("sliding", 1);
      assertEquals(texts.length, 2);
      server.has = {};
      await alice.sendText(rooms[22] ?? "!none", "after");
      await alice.sendToDevice("com.example.cue", { [BOT]: { "*": { act: 2 } } });
      for (let time = 0; time < 2; time++) await pass(sync);
      const expected = [...rooms.map((_, index) => `in ${index}`), "after", "cue 1", "cue 2"];
      assertEquals(texts.toSorted(), expected.toSorted());
    });
  }
}
