import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import type { UserID } from "@greenroom/matrix/types";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { keepsMembers, type LazyStage, type MemberWay } from "./lazy_members.ts";
import { isSlide, slideOf, SPELLINGS } from "../../support/sliding.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";

const [LAZY, ALL]: readonly [MemberWay, MemberWay] = [["sliding", "lazy"], ["sliding", "all"]];
const [CLASSIC, LAZY_CLASSIC]: readonly [MemberWay, MemberWay] = [["classic", "all"], ["classic", "lazy"]];
/** Each way follows each other one. */
const WAYS = [
  ...[LAZY, LAZY, LAZY, ALL, ALL, LAZY, CLASSIC, CLASSIC, LAZY],
  ...[LAZY_CLASSIC, ALL, LAZY_CLASSIC, LAZY_CLASSIC, CLASSIC, ALL, CLASSIC, LAZY_CLASSIC, LAZY],
];

function stageOf(here: ClientStage): LazyStage {
  return {
    fetch: here.homeserver.fetch,
    idOf: (name) => Promise.resolve(`@${name}:localhost` as UserID),
    client: (name, options) => Promise.resolve(here.client(name, options)),
  };
}

for (const spelling of ["synapse", "merged"] as const) {
  for (const fillGaps of [true, false]) {
    const name = `${spelling}, ${fillGaps ? "with" : "without"} what gaps left out`;
    Deno.test(`Who came or went behind a gap is known when a bot with lazily loaded members encrypts: ${name}`, async () => {
      await using here = clientStage({ unstableFeatures: SPELLINGS[spelling] });
      await keepsMembers(stageOf(here), WAYS, { fillGaps });
    });
  }
}

for (const way of [ALL, CLASSIC, LAZY_CLASSIC]) {
  Deno.test(`State that was not asked for beside lazy members comes when a bot goes on otherwise: ${way.join(", ")}`, async () => {
    await using here = clientStage({ unstableFeatures: SPELLINGS.synapse });
    await keepsMembers(stageOf(here), [LAZY, way, LAZY], { fillGaps: true });
  });
}

for (const spelling of ["synapse", "merged"] as const) {
  Deno.test(`Of the members of a large room those come lazily who the timeline is about, all when asked: ${spelling}`, async () => {
    await using here = clientStage({ unstableFeatures: SPELLINGS[spelling] });
    const alice = here.client("alice");
    const room = await alice.createRoom({ preset: "public_chat", name: "Hall" });
    const names = Array.from({ length: 30 }, (_, index) => `guest${index}`);
    for (const name of names) await here.client(name).joinRoom(room);
    await here.client("bot").joinRoom(room);
    for (let line = 0; line < 12; line++) await here.client("guest7").sendText(room, `${line}`);
    const asked: (string | null)[] = [];
    const fetch: typeof globalThis.fetch = async (input, init) => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      if (isSlide(url)) asked.push(slideOf(url, await request.clone().json()).pos);
      return await here.homeserver.fetch(request);
    };
    const bot = here.client("bot", { sync: "sliding", store: new MemoryStore(), fetch });
    const states: string[] = [];
    bot.on("com.example.later", ({ content }) => void states.push(JSON.stringify(content)));
    const known = async () => [...(await bot.stateStore.getMembers(room)).keys()].toSorted();
    await bot.syncOnce({ lazyLoadMembers: true });
    const few = ["@bot:localhost", "@guest7:localhost"];
    assertEquals([await known(), await bot.stateStore.getMember(room, "@guest3:localhost")], [
      few,
      undefined,
    ]);
    assertEquals((await bot.stateStore.getState(room, "m.room.name"))?.content.name, "Hall");
    // Without a gap, who leaves is known, though nobody asks for them.
    await here.client("guest3").leaveRoom(room);
    await bot.syncOnce({ lazyLoadMembers: true });
    assertEquals((await bot.stateStore.getMember(room, "@guest3:localhost"))?.membership, "leave");
    assert((await bot.getMembers(room)).length > names.length);
    asked.length = 0;
    await bot.syncOnce();
    assertEquals(asked[0], null); // another connection shows what the one before has left out
    assertEquals((await known()).length, names.length + 1);
  });
}
