import { assertEquals } from "@std/assert";
import { type Client, MemoryStore, type Store } from "@greenroom/matrix";
import { SqliteStore } from "@greenroom/matrix/store/sqlite";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { POLICY_RULE_TYPES, PolicyLists } from "@greenroom/matrix/bot";
import { type ClientStage, clientStage } from "../support/stage.ts";

const RULE = { entity: "@eve:localhost", recommendation: "m.ban" };
const CHILD = { via: ["localhost"] };

/** Alice's room with a policy rule, a space child and a name of hers, and a bot in it. */
async function scene(here: ClientStage, roomVersion: string) {
  const alice = here.client("alice");
  here.client("bot");
  const room = await alice.createRoom({ roomVersion, invitees: ["@bot:localhost"] });
  const ids: EventID[] = [
    await alice.sendStateEvent(room, "m.policy.rule.user", RULE, { stateKey: "rule" }),
    await alice.sendStateEvent(room, "m.space.child", CHILD, { stateKey: "!child:localhost" }),
    await alice.sendStateEvent(room, "m.room.member", { membership: "join", displayname: "Rude word" }, {
      stateKey: "@alice:localhost",
    }),
    await alice.sendStateEvent(room, "m.room.topic", { topic: "Rude word" }),
  ];
  return { alice, room, ids };
}

/** The contents of that state, and the rules of a policy list that is read from it. */
async function stateOf(client: Client, room: RoomID): Promise<unknown[]> {
  const { stateStore } = client;
  const contents = [];
  for (
    const [type, key] of [
      ["m.policy.rule.user", "rule"],
      ["m.space.child", "!child:localhost"],
      ["m.room.member", "@alice:localhost"],
      ["m.room.topic", ""],
    ] as const
  ) contents.push((await stateStore.getState(room, type, key))?.content);
  const lists = new PolicyLists();
  for (const type of POLICY_RULE_TYPES) {
    for (const event of await stateStore.listState(room, type)) {
      lists.apply(room, event as Parameters<PolicyLists["apply"]>[1]);
    }
  }
  return [...contents, lists.size];
}

const BEFORE = [RULE, CHILD, { membership: "join", displayname: "Rude word" }, { topic: "Rude word" }, 1];
const AFTER: unknown[] = [{}, {}, { membership: "join" }, {}, 0];

const STORES: [string, () => Promise<Store | undefined>][] = [
  ["without a store", () => Promise.resolve(undefined)],
  ["in memory", () => Promise.resolve(new MemoryStore())],
  ["on SQLite", () => SqliteStore.open(":memory:")],
];

for (const roomVersion of ["9", "10", "11", "12"]) {
  for (const [where, open] of STORES) {
    Deno.test(`What is redacted is gone from the state that is kept, in a room of version ${roomVersion}, ${where}`, async () => {
      await using here = clientStage();
      const { alice, room, ids } = await scene(here, roomVersion);
      const store = await open();
      let bot = here.client("bot", { ...(store && { store }) });
      await bot.joinRoom(room);
      await bot.syncOnce();
      assertEquals(await stateOf(bot, room), BEFORE);
      if (store !== undefined) {
        await bot.close();
        bot = here.client("bot", { store });
      }
      for (const id of ids) await alice.redact(room, id);
      await alice.sendText(room, "and on");
      await bot.syncOnce();
      assertEquals(await stateOf(bot, room), AFTER);
      await bot.close();
      if (store === undefined) return;
      const next = here.client("bot", { store });
      assertEquals(await stateOf(next, room), AFTER);
      await next.close();
      if (store instanceof SqliteStore) await store.close();
    });
  }
}

Deno.test("A redaction in a gap counts, and one of what was replaced since does not", async () => {
  await using here = clientStage();
  const { alice, room, ids } = await scene(here, "12");
  const bot = here.client("bot", { store: new MemoryStore() });
  await bot.joinRoom(room);
  await bot.syncOnce();
  await alice.sendStateEvent(room, "m.room.topic", { topic: "Kind words" });
  for (const id of ids) await alice.redact(room, id);
  for (let line = 0; line < 30; line++) await alice.sendText(room, `${line}`);
  await bot.syncOnce();
  assertEquals(await stateOf(bot, room), AFTER.with(3, { topic: "Kind words" }));
});

/** Ways in which a client comes across state that it has, beside syncs. */
const MEETINGS: Record<string, (bot: Client, room: RoomID) => Promise<unknown>> = {
  "a piece that it reads": (bot, room) => bot.getStateEvent(room, "m.room.topic"),
  "a piece that it reads as an event": (bot, room) =>
    bot.getStateEvent(room, "m.room.topic", { format: "event" }),
  "all state, that it reads": (bot, room) => bot.getState(room),
};

for (const [what, meet] of Object.entries(MEETINGS)) {
  for (const [where, open] of STORES) {
    Deno.test(`A redaction also changes ${what}, and its sender stays known, ${where}`, async () => {
      await using here = clientStage();
      const { alice, room, ids } = await scene(here, "11");
      const store = await open();
      const bot = here.client("bot", { ...(store && { store }) });
      await bot.joinRoom(room);
      await bot.syncOnce();
      await meet(bot, room);
      const kept = await bot.stateStore.getState(room, "m.room.topic");
      assertEquals([kept?.content, kept?.sender], [{ topic: "Rude word" }, "@alice:localhost"]);
      for (const id of ids) await alice.redact(room, id);
      await bot.syncOnce();
      assertEquals((await bot.stateStore.getState(room, "m.room.topic"))?.content, {});
      await bot.close();
      if (store instanceof SqliteStore) await store.close();
    });
  }
}

Deno.test("A redaction changes what the client itself has sent, whether a sync or the answer comes first", async () => {
  for (const isSyncFirst of [true, false]) {
    await using here = clientStage();
    here.client("bot");
    const answering = Promise.withResolvers<void>();
    const fetch = async (...given: Parameters<typeof globalThis.fetch>): Promise<Response> => {
      const request = new Request(...given);
      const isState = request.method === "PUT" && request.url.includes("/state/m.room.topic");
      const response = await here.homeserver.fetch(request);
      if (isState && isSyncFirst) await answering.promise;
      return response;
    };
    const bot = here.client("bot", { fetch, store: new MemoryStore() });
    const room = await bot.createRoom({ roomVersion: "11" });
    await bot.syncOnce();
    const sending = bot.sendStateEvent(room, "m.room.topic", { topic: "Rude word" });
    await here.settle();
    if (isSyncFirst) await bot.syncOnce();
    answering.resolve();
    const id = await sending;
    assertEquals((await bot.stateStore.getState(room, "m.room.topic"))?.content, { topic: "Rude word" });
    await bot.redact(room, id);
    await bot.syncOnce();
    assertEquals((await bot.stateStore.getState(room, "m.room.topic"))?.content, {});
  }
});

for (
  const [what, options] of [
    ["that is longer than what is read of one", { fillGaps: 3 }],
    ["in a backlog that is dropped", { ignoreFirstSync: true }],
  ] as const
) {
  Deno.test(`A redaction counts in a gap ${what}`, async () => {
    await using here = clientStage();
    const { alice, room, ids } = await scene(here, "11");
    const store = new MemoryStore();
    await using first = here.client("bot", { store });
    await first.joinRoom(room);
    await first.syncOnce();
    await first.close();
    for (const id of ids) await alice.redact(room, id);
    for (let line = 0; line < 130; line++) await alice.sendText(room, `${line}`);
    const bot = here.client("bot", { store });
    let redactions = 0;
    bot.on("m.room.redaction", () => void redactions++);
    bot.start(options);
    await bot.ready;
    await here.settle();
    assertEquals([await stateOf(bot, room), redactions], [AFTER, 0]);
  });
}

Deno.test("With fillGaps: false, state that was redacted in a gap stays until it is read, which a GAP says", async () => {
  await using here = clientStage();
  const { alice, room, ids } = await scene(here, "12");
  const bot = here.client("bot", { store: new MemoryStore() });
  await bot.joinRoom(room);
  await bot.syncOnce({ fillGaps: false });
  const gaps: string[] = [];
  bot.on("GAP", ({ reason }) => void gaps.push(reason));
  for (const id of ids) await alice.redact(room, id);
  for (let line = 0; line < 30; line++) await alice.sendText(room, `${line}`);
  await bot.syncOnce({ fillGaps: false });
  assertEquals([await stateOf(bot, room), gaps], [BEFORE, ["off"]]);
  await bot.getState(room);
  assertEquals(await stateOf(bot, room), AFTER);
});
