import { assert, assertEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { isSlide, slideOf, SLIDING } from "../../support/sliding.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";

const BOT = "@bot:localhost";
/** Longer than a process takes to be started again, in milliseconds. */
const AWAY = 3_600_000;

/** A bot in rooms of Alice's, whose processes go on from one store, and what they hear and ask. */
async function scene(here: ClientStage, count: number) {
  const [alice, joiner] = [here.client("alice"), here.client("bot")];
  const rooms: RoomID[] = [];
  for (let index = 0; index < count; index++) {
    const room = await alice.createRoom({ invitees: [BOT] });
    await joiner.joinRoom(room);
    rooms.push(room);
  }
  const store = new MemoryStore();
  const heard: string[] = [];
  const windows: (number | undefined)[] = [];
  let left = Infinity;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (!isSlide(url)) return await here.homeserver.fetch(request);
    if (left-- <= 0) return new Response(null, { status: 502 });
    const { last = 0 } = slideOf(url, await request.clone().json());
    windows.push(last === 0 || last > 1_000 ? undefined : last);
    return await here.homeserver.fetch(request);
  };
  const pass = async (
    { answers = Infinity, act }: { answers?: number; act?: (bot: Client) => void } = {},
  ) => {
    left = answers;
    [heard.length, windows.length] = [0, 0];
    await using bot = here.client("bot", { mxid: BOT, store, sync: "sliding", fetch });
    bot.on("m.room.message", ({ content }) => void heard.push(content.body));
    bot.on("com.example.cue", ({ content }) => void heard.push(`cue ${content.act}`));
    for (const type of ["JOIN", "LEAVE", "KICK", "INVITE"] as const) {
      bot.on(type, ({ state_key }) => void (state_key === BOT && heard.push(type)));
    }
    act?.(bot);
    await bot.syncOnce().catch((error) => assert(left < 0, String(error)));
    return heard;
  };
  await pass();
  return { alice, joiner, rooms, heard, windows, pass };
}

Deno.test("After an absence the 20 newest rooms come first, and then all others at once: each event once, in order", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms, windows, pass } = await scene(here, 25);
  await here.clock.tick(AWAY);
  for (let line = 0; line < 12; line++) await alice.sendText(rooms[0] as RoomID, `busy ${line}`);
  for (const [index, room] of rooms.entries()) await alice.sendText(room, `in ${index}`);
  await alice.sendToDevice("com.example.cue", { [BOT]: { "*": { act: 1 } } });
  const heard = await pass();
  assertEquals(windows, [19, undefined]);
  const expected = [
    ...rooms.map((_, index) => `in ${index}`),
    ...Array.from({ length: 12 }, (_, line) => `busy ${line}`),
    "cue 1",
  ];
  assertEquals(heard.toSorted(), expected.toSorted());
  assertEquals(heard.slice(0, 20).filter((text) => text.startsWith("busy")), [], "the newest came first");
  assertEquals(heard.filter((text) => text.startsWith("busy")), expected.slice(25, 37));
  assertEquals(await pass(), []);
  assertEquals(windows, [undefined], "it was not away");
});

for (const away of [0, AWAY]) {
  Deno.test(`What happened to the bot itself is told once, joined, left, kicked and invited again, behind ${away} ms`, async () => {
    await using here = clientStage(SLIDING);
    const { alice, joiner, rooms: [left, kicked, again, ...rooms], pass } = await scene(here, 30);
    assert(left !== undefined && kicked !== undefined && again !== undefined);
    await here.clock.tick(away);
    await joiner.leaveRoom(left);
    await alice.kickUser(kicked, BOT);
    await alice.kickUser(again, BOT);
    await alice.inviteUser(again, BOT);
    const late = await alice.createRoom({ invitees: [BOT] });
    await joiner.joinRoom(late);
    await alice.sendText(late, "late");
    for (const room of rooms) await alice.sendText(room, "hello"); // these are newer
    const heard = await pass();
    assertEquals(heard.filter((text) => text !== "hello").toSorted(), [
      "INVITE",
      "JOIN",
      "KICK", // of the room that it was invited to again only the invitation is shown
      "LEAVE",
      "late",
    ]);
    assertEquals(heard.filter((text) => text === "hello").length, rooms.length);
    assertEquals(await pass(), []);
  });
}

Deno.test("A process that is killed between the newest rooms and the others goes on with these, and one without news does not spin", async () => {
  await using here = clientStage(SLIDING);
  const { alice, rooms, windows, pass } = await scene(here, 25);
  await here.clock.tick(AWAY);
  for (const [index, room] of rooms.entries()) await alice.sendText(room, `in ${index}`);
  assertEquals((await pass({ answers: 1 })).length, 20);
  await alice.sendText(rooms[24] as RoomID, "after");
  assertEquals((await pass()).toSorted(), ["after", "in 0", "in 1", "in 2", "in 3", "in 4"]);
  assertEquals(windows, [undefined]);
  for (let time = 0; time < 2; time++) {
    await here.clock.tick(AWAY);
    assertEquals(await pass(), []);
    assertEquals(windows, [19, undefined]);
  }
  await alice.sendText(rooms[3] as RoomID, "one more");
  assertEquals(await pass(), ["one more"]);
});

Deno.test("A bot in few rooms asks for all at once after an absence, and so does a process that has asked before", async () => {
  await using here = clientStage(SLIDING);
  const few = await scene(here, 5);
  await here.clock.tick(AWAY);
  await few.alice.sendText(few.rooms[0] as RoomID, "hello");
  assertEquals(await few.pass(), ["hello"]);
  assertEquals(few.windows, [undefined]);
});
