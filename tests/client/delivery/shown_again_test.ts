import { assert, assertEquals } from "@std/assert";
import { type Client, defineSession, MemoryStore } from "@greenroom/matrix";
import type { InternalEvents, RoomID } from "@greenroom/matrix/types";
import type { HomeserverQuirks } from "@greenroom/matrix/testing";
import { ENCRYPTED } from "../support/encrypted_room.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { type ClientStage, clientStage, heard } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { complaintsIn } from "../../actors/kernel/support.ts";

const QUIRKS: readonly HomeserverQuirks[] = [
  {},
  { ignoreTo: true },
  { ignoreTo: true, pageSize: 1 },
  { showAgain: 5 },
];

/** So many texts, from a number on. */
function lines(count: number, from = 0): string[] {
  return Array.from({ length: count }, (_, index) => `line ${from + index}`);
}

async function say(alice: Client, room: RoomID, texts: readonly string[]): Promise<void> {
  for (const text of texts) await alice.sendText(room, text);
}

/** Alice, and a room of hers that the bot was invited to. */
async function roomWith(here: ClientStage, encrypted = false): Promise<{ alice: Client; room: RoomID }> {
  const alice = here.client("alice", { encryption: encrypted && EVERYBODY });
  if (encrypted) {
    alice.start();
    await here.settle();
  }
  here.client("bot");
  const room = await alice.createRoom({
    invitees: ["@bot:localhost"],
    initialState: encrypted ? ENCRYPTED : [],
  });
  return { alice, room };
}

for (const quirks of QUIRKS) {
  const server = `on a server with ${JSON.stringify(quirks)}`;

  for (const encrypted of [false, true]) {
    const kind = encrypted ? "encrypted" : "plain";

    Deno.test(`60 ${kind} messages that come after a graceful stop are handled once, ${server}`, async () => {
      await using here = clientStage({ quirks });
      const store = new MemoryStore();
      const first = here.client("bot", { store, encryption: encrypted && EVERYBODY });
      const before = heard(first);
      first.start();
      await here.settle();
      const { alice, room } = await roomWith(here, encrypted);
      await first.joinRoom(room);
      await here.settle();
      await say(alice, room, lines(20));
      await here.settle();
      await first.close();
      await say(alice, room, lines(60, 20));
      const second = here.client("bot", { store, encryption: encrypted && EVERYBODY });
      const after = heard(second);
      second.start();
      await here.until(() => after.includes("line 79"));
      await say(alice, room, lines(1, 80));
      await here.settle();
      assertEquals([before, after], [lines(20), lines(61, 20)]);
      assertEquals(complaintsIn(here.log), []);
    });
  }

  Deno.test(`60 messages that come between two syncOnce() are handled once, ${server}`, async () => {
    await using here = clientStage({ quirks });
    const { alice, room } = await roomWith(here);
    const bot = here.client("bot");
    await bot.joinRoom(room);
    const texts = heard(bot);
    for (let round = 0; round < 3; round++) {
      await say(alice, room, lines(60, 60 * round));
      await bot.syncOnce();
    }
    assertEquals(texts, [...lines(10, 50), ...lines(120, 60)]); // the first sync tells the latest
  });

  Deno.test(`A session counts exactly, across crashes and restarts, ${server}`, async () => {
    await using here = clientStage({ quirks });
    const tally = defineSession({ name: "tally", per: "room", initial: () => ({ count: 0 }) });
    let count = 0;
    const bot = new RestartingBot(here, {
      setUp: (client) =>
        client.on("m.room.message", (_, ctx) => void (count = ++ctx.session.count), { session: tally }),
    });
    await bot.settle();
    const { alice, room } = await roomWith(here);
    await bot.client.joinRoom(room);
    await bot.settle();
    let said = 0;
    for (let life = 0; life < 4; life++) {
      await say(alice, room, lines(25, said));
      said += 25;
      await bot.until(() => count === said);
      if (life % 2 === 0) await bot.client.close();
      const away = lines(30, said);
      if (life % 2 === 0) await say(alice, room, away);
      said += life % 2 === 0 ? away.length : 0;
      await bot.restart();
      await bot.until(() => count === said);
      await bot.settle();
    }
    assertEquals([said, count], [160, 160]);
  });
}

Deno.test("Events of the very first sync are not handled again after a restart", async () => {
  await using here = clientStage({ quirks: { showAgain: 20 } });
  const store = new MemoryStore();
  const { alice, room } = await roomWith(here);
  await here.client("bot").joinRoom(room);
  await say(alice, room, lines(10));
  const all: string[][] = [];
  for (let life = 0; life < 3; life++) {
    const bot = here.client("bot", { store });
    all.push(heard(bot));
    await bot.syncOnce();
    await bot.close();
    await say(alice, room, [`after ${life}`]);
  }
  assertEquals(all, [lines(10), ["after 0"], ["after 1"]]);
});

Deno.test("A bot that drops its backlog does not get it from a server that goes on with it", async () => {
  await using here = clientStage({ quirks: { ignoreTo: true } });
  const store = new MemoryStore();
  const { alice, room } = await roomWith(here);
  await here.client("bot").joinRoom(room);
  await say(alice, room, lines(50));
  const first = here.client("bot", { store });
  await first.syncOnce({ ignoreInitialSync: true });
  await first.close();
  await say(alice, room, lines(50, 50));
  const bot = here.client("bot", { store });
  const texts = heard(bot);
  await bot.syncOnce();
  assertEquals(texts, lines(50, 50));
});

Deno.test("A position that was moved back delivers again what came after it", async () => {
  await using here = clientStage();
  const bot = here.client("bot", { store: new MemoryStore() });
  const { alice, room } = await roomWith(here);
  await bot.joinRoom(room);
  await bot.syncOnce();
  const texts = heard(bot);
  const token = await bot.syncStore.getNextBatch();
  await say(alice, room, lines(20));
  await bot.syncOnce();
  await bot.syncStore.setNextBatch(token);
  await bot.syncOnce();
  assertEquals(texts, [...lines(20), ...lines(20)]);
});

Deno.test("Many bots that were away handle all of it", async () => {
  await using here = clientStage();
  const { alice, room } = await roomWith(here);
  const bots: [Client, string[]][] = [];
  for (let index = 0; index < 20; index++) {
    const bot = here.client(`bot${index}`);
    await alice.inviteUser(room, `@bot${index}:localhost`);
    await bot.joinRoom(room);
    await bot.syncOnce();
    bots.push([bot, heard(bot)]);
  }
  await say(alice, room, lines(200));
  for (const [bot] of bots) bot.start();
  await here.until(() => bots.every(([, texts]) => texts.length >= 200));
  for (const [, texts] of bots) assertEquals(texts, lines(200));
});

/** A bot in a room, and the gaps that are reported to it. */
async function inRoom(here: ClientStage) {
  const { alice, room } = await roomWith(here);
  const bot = here.client("bot");
  await bot.joinRoom(room);
  await bot.syncOnce();
  const gaps: InternalEvents["GAP"][] = [];
  bot.on("GAP", (gap) => gaps.push(gap));
  return { alice, bot, room, gaps, texts: heard(bot) };
}

Deno.test("What a bound leaves out is reported as a gap, with which it can be read", async () => {
  await using here = clientStage();
  const { alice, bot, room, gaps, texts } = await inRoom(here);
  await say(alice, room, lines(100));
  await bot.syncOnce({ fillGaps: 30 });
  assertEquals(texts, lines(40, 60));
  const [gap] = gaps;
  assert(gap !== undefined);
  assertEquals([gaps.length, gap.room_id, gap.read, gap.reason], [1, room, 30, "limit"]);
  const left: unknown[] = [];
  for await (
    const event of bot.iterateMessages(gap.room_id, "b", { fromToken: gap.from, toToken: gap.to })
  ) left.push(event.content.body);
  assertEquals(left.toReversed(), lines(60));
  const warnings = complaintsIn(here.log);
  assertEquals(warnings, [["warn", "Left out events of a room: see GAP", {
    roomId: room,
    reason: "limit",
    read: 30,
  }]]);
});

Deno.test("History that a server refuses is reported as a gap with the reason", async () => {
  await using here = clientStage();
  const { alice, bot, room, gaps, texts } = await inRoom(here);
  await say(alice, room, lines(30));
  using _fault = here.homeserver.faults.add({
    kind: "status",
    status: 403,
    body: { errcode: "M_FORBIDDEN", error: "No" },
    match: { path: "/messages" },
  });
  await bot.syncOnce();
  assertEquals(texts, lines(10, 20));
  assertEquals(gaps.map(({ reason, read, error }) => [reason, read, error?.name]), [
    ["refused", 0, "ForbiddenError"],
  ]);
});

Deno.test("With filling off, a gap is reported and nothing is read", async () => {
  await using here = clientStage();
  const { alice, bot, room, gaps, texts } = await inRoom(here);
  await say(alice, room, lines(30));
  await bot.syncOnce({ fillGaps: false });
  assertEquals([texts, gaps.map(({ reason }) => reason)], [lines(10, 20), ["off"]]);
  assertEquals(here.homeserver.requests.filter("GET", "/messages"), []);
});

for (const [kind, chunk] of [["no events", []], ["no usable ones", [{ x: 1 }]]] as const) {
  Deno.test(`A server whose pages never end, and have ${kind}, is asked ten times, and ten for redactions, and what is missing is reported`, async () => {
    await using here = clientStage();
    const { alice, room } = await roomWith(here);
    let pages = 0;
    const bot = here.client("bot", {
      fetch: (input, init) => {
        const isPage = new Request(input, init).url.includes("/messages");
        return isPage
          ? Promise.resolve(Response.json({ start: "s", end: `page ${++pages}`, chunk }))
          : here.homeserver.fetch(input, init);
      },
    });
    await bot.joinRoom(room);
    await bot.syncOnce();
    await say(alice, room, lines(30));
    const gaps: unknown[] = [];
    bot.on("GAP", ({ reason, read }) => gaps.push([reason, read]));
    const texts = heard(bot);
    await bot.syncOnce();
    assertEquals([pages, gaps, texts], [20, [["limit", 0]], lines(10, 20)]);
  });
}

Deno.test("An event that comes twice in one response is handled once, in the very first response too", async () => {
  await using here = clientStage();
  const { alice, room } = await roomWith(here);
  const bot = here.client("bot", {
    fetch: async (input, init) => {
      const response = await here.homeserver.fetch(input, init);
      if (!new Request(input, init).url.includes("/sync") || !response.ok) return response;
      const body = await response.json();
      const events = body.rooms?.join?.[room]?.timeline.events ?? [];
      events.push(...events);
      return Response.json(body);
    },
  });
  const texts = heard(bot);
  await bot.joinRoom(room);
  await say(alice, room, lines(1));
  await bot.syncOnce();
  assertEquals(texts, lines(1));
  await say(alice, room, lines(2, 1));
  await bot.syncOnce();
  assertEquals(texts, lines(3));
});
