import { assert, assertEquals, assertFalse, assertInstanceOf } from "@std/assert";
import { MemoryStore, UnknownTokenError } from "@greenroom/matrix";
import { ActorError } from "@greenroom/matrix/errors";
import { rejectionOf } from "../actors/kernel/support.ts";
import { clientStage, heard } from "./support/stage.ts";

Deno.test("A bot is invited, joins, answers, and receives what happens around it", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const bot = here.client("bot", { mxid: "@bot:localhost" });
  const seen: string[] = [];
  const told = ["INVITE", "USER_INVITED", "JOIN", "LEAVE", "KICK", "BAN", "UNBAN", "PROFILE_CHANGE"] as const;
  for (const type of told) {
    bot.on(type, ({ state_key }) => seen.push(`${type} ${state_key}`));
  }
  bot.on("INVITE", ({ room_id }) => bot.joinRoom(room_id));
  bot.on(
    "m.room.message",
    ({ sender, room_id, content }) =>
      sender === bot.mxid ? undefined : bot.sendNotice(room_id, `You said ${content.body}`),
  );
  bot.start();
  const room = await alice.createRoom({ invitees: ["@bot:localhost"] });
  await here.settle();
  await alice.sendText(room, "hello");
  await here.settle();
  assertEquals(here.homeserver.room(room).messages.map(({ content }) => content.body), [
    "hello",
    "You said hello",
  ]);
  here.client("carol");
  await alice.inviteUser(room, "@carol:localhost");
  await here.client("carol").joinRoom(room);
  await here.client("carol").setDisplayname("Carol C");
  await alice.kickUser(room, "@carol:localhost");
  await alice.banUser(room, "@carol:localhost");
  await alice.unbanUser(room, "@carol:localhost");
  await alice.leaveRoom(room);
  await here.settle();
  assertEquals(seen, [
    "INVITE @bot:localhost",
    "JOIN @bot:localhost",
    "USER_INVITED @carol:localhost", // and no INVITE: that is for the bot to follow
    "JOIN @carol:localhost",
    "PROFILE_CHANGE @carol:localhost",
    "KICK @carol:localhost",
    "BAN @carol:localhost",
    "UNBAN @carol:localhost",
    "LEAVE @alice:localhost",
  ]);
});

Deno.test("Handlers see the state that their response led to", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const room = await alice.createRoom({ name: "before" });
  const names: unknown[] = [];
  alice.on("m.room.name", async ({ content, room_id }) => {
    names.push([content.name, (await alice.stateStore.getState(room_id, "m.room.name"))?.content.name]);
  });
  await alice.sendStateEvent(room, "m.room.name", { name: "after" });
  await alice.syncOnce();
  assertEquals(names, [["before", "after"], ["after", "after"]]);
  assert(await alice.stateStore.hasFullMemberList(room));
  assertEquals(await alice.stateStore.getPowerLevel(room, "@alice:localhost"), Infinity);
});

/** By whether a server knows `use_state_after`, the versions that it says, and what it does not hear. */
const stateAfter = {
  "by its name": [["v1.16"], undefined],
  "by its name of before": [["v1.15"], undefined],
  "not at all": [["v1.15"], "org.matrix.msc4222.use_state_after"],
} as const;

for (const [known, [versions, unheard]] of Object.entries(stateAfter)) {
  Deno.test(`The state after the timeline is asked for, and leads to the same as that before it: a server knows it ${known}`, async () => {
    await using here = clientStage({ versions, unstableFeatures: { "org.matrix.msc4222": true } });
    const fetch: typeof globalThis.fetch = (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      if (unheard !== undefined) url.searchParams.delete(unheard);
      return here.homeserver.fetch(url, init);
    };
    const [alice, bob] = [here.client("alice", { fetch }), here.client("bob")];
    const room = await alice.createRoom({ name: "x", preset: "public_chat" });
    const seen: string[] = [];
    const sections = new Set<string>();
    alice.on("SYNC_SUCCESSFUL", ({ data }) => {
      const { [room]: { state, state_after } = {} } = data.rooms?.join ?? {};
      if (state !== undefined) sections.add("state");
      if (state_after !== undefined) sections.add("state_after");
    });
    alice.on("JOIN", ({ state_key }) => seen.push(`JOIN ${state_key}`));
    alice.on("m.room.topic", ({ content }) => seen.push(`topic ${content.topic}`));
    alice.start();
    await here.settle();
    await bob.joinRoom(room);
    await alice.sendStateEvent(room, "m.room.topic", { topic: "y" });
    await here.settle();
    const { requests } = here.homeserver;
    assert(requests.filter("GET", "/sync").every(({ query }) => query.get("use_state_after") === "true"));
    assertEquals(requests.filter("GET", "/versions"), []);
    assertEquals([...sections], [unheard === undefined ? "state_after" : "state"]);
    assertEquals(seen, ["JOIN @alice:localhost", "JOIN @bob:localhost", "topic y"]);
    assert(await alice.stateStore.isJoined(room, "@bob:localhost"));
    assertEquals((await alice.stateStore.getState(room, "m.room.topic"))?.content, { topic: "y" });
  });
}

Deno.test("A filter is uploaded once, also after a restart; one that the server forgot is uploaded again", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const settings = { filterData: { room: { timeline: { limit: 3 } } }, lazyLoadMembers: true };
  const { requests } = here.homeserver;
  const uploads = () => requests.filter("POST", "/filter").length;
  const used: (string | null)[] = [];
  const life = async () => {
    await using alice = here.client("alice", { store });
    const before = requests.filter("GET", "/sync").length;
    const syncs = () => requests.filter("GET", "/sync").slice(before);
    alice.start(settings);
    await here.until(() => syncs().length >= 2);
    await here.settle();
    used.push(...syncs().map(({ query }) => query.get("filter")));
  };
  await life();
  await life();
  assertEquals([uploads(), used[1], used[3], used.length], [1, "0", "0", 4]);
  for (const first of [used[0], used[2]]) {
    assertEquals(JSON.parse(first ?? "").room, {
      timeline: { limit: 3 },
      state: { lazy_load_members: true },
    });
  }
  using _fault = here.homeserver.faults.add({
    kind: "status",
    status: 404,
    body: { errcode: "M_NOT_FOUND", error: "No such filter" },
    match: { path: "/sync" },
    skip: 1,
    times: 1,
  });
  await life();
  assertEquals(uploads(), 2);
});

Deno.test("A gap is filled from the server's history, in order and without duplicates", async () => {
  await using here = clientStage();
  const [alice, bot] = [here.client("alice"), here.client("bot")];
  const room = await alice.createRoom({ preset: "public_chat" });
  await bot.joinRoom(room);
  await bot.syncOnce();
  const texts = heard(bot);
  const gaps: unknown[] = [];
  bot.on("GAP", (gap) => gaps.push([gap.room_id, gap.reason, gap.read]));
  const said = (from: number) => Array.from({ length: 40 }, (_, index) => String(from + index));
  for (const text of said(0)) await alice.sendText(room, text);
  await bot.syncOnce();
  assertEquals(texts.splice(0), said(0));
  assertEquals(gaps, []);
  for (const text of said(40)) await alice.sendText(room, text);
  await bot.syncOnce({ fillGaps: 20 });
  assertEquals(texts.splice(0), said(40).slice(-30));
  assertEquals(gaps, [[room, "limit", 20]]);
  for (const text of said(80)) await alice.sendText(room, text);
  await bot.syncOnce({ fillGaps: false });
  assertEquals([texts, gaps.slice(1)], [said(80).slice(-10), [[room, "off", 0]]]);
});

Deno.test("A revoked token ends everything: start() says why, done names the part", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const stopped: unknown[] = [];
  alice.on("SYNC_STOPPED", ({ error }) => stopped.push(error));
  const start = rejectionOf(alice.start());
  await here.settle();
  here.homeserver.revokeTokens("@alice:localhost");
  await here.settle();
  const error = await start;
  assertInstanceOf(error, UnknownTokenError);
  assertFalse(error.body.soft_logout);
  assertEquals(stopped, [error]);
  const done = await rejectionOf(alice.done);
  assertInstanceOf(done, ActorError);
  assertEquals([done.actor, done.cause], ["syncer", error]);
});

Deno.test("An expired token is refreshed, and the sync goes on", async () => {
  await using here = clientStage();
  here.client("alice");
  const alice = here.client("nobody", { accessToken: undefined });
  await alice.login(
    { identifier: "@alice:localhost", password: "password of alice", withRefreshToken: true },
  );
  const room = await alice.createRoom();
  const texts = heard(alice);
  const errors: unknown[] = [];
  alice.on("SYNC_ERRORED", ({ error }) => errors.push(error));
  alice.start();
  await here.settle();
  here.homeserver.expireTokens("@alice:localhost");
  await here.settle();
  await alice.sendText(room, "still here");
  await here.settle();
  assertEquals([texts, errors], [["still here"], []]);
});

Deno.test("presence is sent with each sync", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  await alice.syncOnce();
  alice.presence = "offline";
  await alice.syncOnce();
  const asked = here.homeserver.requests.filter("GET", "/sync").map(({ query }) => query.get("set_presence"));
  assertEquals(asked, ["online", "offline"]);
});

Deno.test("A poll that hangs is given up 30 s after the server should have answered, and asked again", async () => {
  await using here = clientStage();
  const alice = here.client("alice");
  const room = await alice.createRoom();
  await alice.syncOnce();
  const texts = heard(alice);
  const errors: unknown[] = [];
  alice.on("SYNC_ERRORED", ({ error }) => errors.push(error.name));
  alice.start();
  await here.settle();
  await alice.sendText(room, "are you here?");
  using fault = here.homeserver.faults.add({ kind: "hold-after", match: { path: "/sync" }, times: 1 });
  await here.until(() => texts.splice(0).length > 0);
  await here.settle();
  await alice.sendText(room, "are you there?");
  await here.clock.tick(59_999);
  assertEquals([errors, texts], [[], []]);
  await here.clock.tick(1);
  assertEquals(errors, ["RequestTimeoutError"]);
  await here.clock.tick(5_000);
  await here.until(() => texts.length > 0);
  assertEquals([texts, fault.hits], [["are you there?"], 1]);
});
