import { assert, assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { atEachCrashPoint } from "../support/crash_points.ts";
import type { FaultPlan, OperationLog } from "../support/crash.ts";
import { RestartingBot } from "../support/restarting_bot.ts";
import { SLIDING } from "../../support/sliding.ts";
import { clientStage } from "../support/stage.ts";

type Way = "classic" | "sliding";

/** More than the first answer shows. */
const ROOMS = 23;
/** In this time clients end whose handlers do not, in milliseconds. */
const CLOSED = 60_000;
const BOT = "@bot:localhost";

/** A day of a bot whose processes sync in turns by some ways, with a fault. */
async function day(ways: readonly Way[], plan: FaultPlan): Promise<OperationLog> {
  await using here = clientStage(SLIDING);
  const alice = here.client("alice");
  const other = here.client("bot");
  const rooms: RoomID[] = [];
  for (let index = 0; index < ROOMS; index++) {
    const room = await alice.createRoom({ invitees: [BOT] });
    await other.joinRoom(room);
    await alice.sendText(room, "hello");
    rooms.push(room);
  }
  const seen: string[] = [];
  let begun = 0;
  let log: OperationLog | undefined;
  const setUp = (bot: Client, process: { readonly log: OperationLog }): void => {
    log ??= process.log;
    bot.on("m.room.message", async ({ room_id, sender, content }) => {
      if (sender !== BOT) await bot.sendNotice(room_id, `re ${content.body}`);
    });
    bot.on("INVITE", async ({ room_id }) => void await bot.joinRoom(room_id));
    bot.on("KICK", ({ room_id }) => void seen.push(`kicked from ${rooms.indexOf(room_id as RoomID)}`));
    bot.on("BAN", ({ state_key }) => void seen.push(`${state_key} banned`));
    bot.on("m.room.topic", ({ content }) => void seen.push(`topic ${content.topic}`));
    bot.on("com.example.cue", ({ content }) => void seen.push(`cue ${content.act}`));
  };
  const client = {
    get sync(): Way | undefined {
      return ways[begun++ % ways.length];
    },
  };
  const bot = new RestartingBot(here, { plans: [plan], setUp, client });
  const answers = (room: RoomID): string[] =>
    here.homeserver.room(room).messages.filter(({ sender }) => sender === BOT).map(({ content }) =>
      String(content.body)
    );
  await bot.until(() => rooms.every((room) => answers(room).length > 0));
  await bot.settle();
  const [first, kicked, named, busy] = rooms as [RoomID, RoomID, RoomID, RoomID];
  await alice.kickUser(kicked, BOT);
  await alice.sendStateEvent(named, "m.room.topic", { topic: "news" });
  await alice.banUser(first, "@carol:localhost");
  await alice.sendToDevice("com.example.cue", { [BOT]: { "*": { act: 1 } } });
  const late = await alice.createRoom({ invitees: [BOT] });
  for (let index = 0; index < 12; index++) await alice.sendText(busy, `line ${index}`);
  await bot.until(() => new Set(seen).size === 4 && answers(busy).length === 13);
  await bot.until(() => here.homeserver.room(late).members("join").includes(BOT));
  await alice.sendText(late, "welcome");
  await bot.until(() => answers(late).length > 0);
  await bot.restart();
  await alice.sendText(first, "again");
  await bot.until(() => answers(first).length > 1);
  await bot.settle();
  const name = `${bot.crashes.join("; ")}`;
  assertEquals(answers(first), ["re hello", "re again"], name);
  const lines = Array.from({ length: 12 }, (_, index) => `re line ${index}`);
  assertEquals(answers(busy).toSorted(), ["re hello", ...lines].toSorted(), name);
  assertEquals(answers(late), ["re welcome"], name);
  for (const room of rooms.slice(4)) assertEquals(answers(room), ["re hello"], name);
  assertEquals([...new Set(seen)].toSorted(), [
    "@carol:localhost banned",
    "cue 1",
    "kicked from 1",
    "topic news",
  ], name);
  await bot.complete((client) => client.close()); // which writes what is left
  assertEquals((await bot.records("kept")).length, 0, "what was handled is not kept");
  await here.clock.tick(CLOSED); // what is left of processes that crashed
  assert(log !== undefined);
  return log;
}

for (const ways of [["sliding"], ["sliding", "classic"], ["classic", "sliding"]] as const) {
  Deno.test(`A bot by ${ways.join(" and then ")} sync that crashes at any commit or request loses nothing, and answers once`, async () => {
    await atEachCrashPoint((plan) => day(ways, plan), { operations: ["commit", "request", "sync"] });
  });
}

/** State that has a handler, that changes, and that never does: lazily only the first comes as it is. */
const [HANDLED, OTHER, SILENT] = ["com.example.handled", "com.example.other", "com.example.silent"] as const;

/** A bot whose processes load members lazily in turns, with a fault; between two of them much is said. */
async function lazyDay(ways: readonly ("lazy" | "all")[], plan: FaultPlan): Promise<OperationLog> {
  await using here = clientStage(SLIDING);
  const [alice, carol, other] = [here.client("alice"), here.client("carol"), here.client("bot")];
  const initialState = [HANDLED, OTHER, SILENT].map((type) => ({ type, state_key: "", content: { n: 0 } }));
  const room = await alice.createRoom({ preset: "public_chat", initialState });
  await other.joinRoom(room);
  let begun = 0;
  let log: OperationLog | undefined;
  const way = () => ways[(begun - 1) % ways.length];
  const setUp = (bot: Client, process: { readonly log: OperationLog }): void => {
    log ??= process.log;
    bot.on(HANDLED, () => {});
    bot.on("m.room.message", async ({ sender, content }) => {
      if (sender !== BOT) await bot.sendNotice(room, `re ${content.body}`);
    });
  };
  const start = () => ({ lazyLoadMembers: ways[begun++ % ways.length] === "lazy" });
  const bot = new RestartingBot(here, { plans: [plan], setUp, client: { sync: "sliding" }, start });
  const answers = (): string[] =>
    here.homeserver.room(room).messages.filter(({ sender }) => sender === BOT)
      .map(({ content }) => String(content.body));
  await alice.sendText(room, "hello");
  const said = ["re hello"];
  await bot.until(() => answers().length > 0);
  for (let turn = 1; turn <= 2 * ways.length; turn++) {
    await (turn % 2 === 1 ? carol.joinRoom(room) : carol.leaveRoom(room));
    await alice.sendStateEvent(room, OTHER, { n: turn });
    await alice.sendStateEvent(room, HANDLED, { n: turn });
    for (let line = 0; line < 12; line++) {
      said.push(`re ${turn}.${line}`);
      await alice.sendText(room, `${turn}.${line}`);
    }
    await bot.until(() => answers().length === said.length);
    await bot.settle();
    const name = `${turn}, ${way()}, ${bot.crashes.join("; ")}`;
    assertEquals(answers().toSorted(), said.toSorted(), name);
    const { stateStore } = bot.client;
    for (const type of way() === "all" ? [HANDLED, OTHER] : [HANDLED]) {
      assertEquals((await stateStore.getState(room, type))?.content, { n: turn }, `${name}, ${type}`);
    }
    if (way() === "all") {
      assertEquals((await stateStore.getState(room, SILENT))?.content, { n: 0 }, name);
      const { membership } = await stateStore.getMember(room, "@carol:localhost") ?? {};
      assertEquals(membership, turn % 2 === 1 ? "join" : "leave", name);
    }
    if (turn < 2 * ways.length) await bot.restart();
  }
  await bot.complete((client) => client.close());
  await here.clock.tick(CLOSED);
  assert(log !== undefined);
  return log;
}

for (const ways of [["lazy", "all"], ["all", "lazy"]] as const) {
  Deno.test(`A bot with ${ways[0]} members, and then ${ways[1]}, that crashes at any commit or request knows the state and answers once`, async () => {
    await atEachCrashPoint((plan) => lazyDay(ways, plan), { operations: ["commit", "request", "sync"] });
  });
}
