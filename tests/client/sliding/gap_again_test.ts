import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import "../../../src/actors/syncer/sliding_sync.ts"; // so that it is there within a tick
import { RestartingBot } from "../support/restarting_bot.ts";
import { SLIDING } from "../../support/sliding.ts";
import { clientStage } from "../support/stage.ts";

const BOT = "@bot:localhost";
/** More than a timeline has. */
const LINES = Array.from({ length: 15 }, (_, index) => `line ${index}`);

Deno.test("A gap that a killed process has read comes again as it came, though the homeserver refuses it by then", async () => {
  await using here = clientStage(SLIDING);
  const stuck = Promise.withResolvers<void>();
  using _freed = { [Symbol.dispose]: stuck.resolve };
  const [alice, joiner] = [here.client("alice"), here.client("bot")];
  const room = await alice.createRoom({ invitees: [BOT] });
  await joiner.joinRoom(room);
  let [isRefused, isStuck, reads] = [false, true, 0];
  const heard: string[] = [];
  const told: unknown[] = [];
  const lines = () => heard.filter((text) => text.startsWith("line"));
  const bot = new RestartingBot(here, {
    client: { sync: "sliding" },
    setUp: (client: Client) => {
      client.on("m.room.message", ({ content }) => {
        if (isStuck && content.body === "line 3") return stuck.promise;
        heard.push(content.body);
        return Promise.resolve();
      });
      client.on("GAP", ({ reason }) => void told.push(reason));
    },
    fetch: async (input, init) => {
      const request = new Request(input, init);
      if (!new URL(request.url).pathname.endsWith("/messages")) return await here.homeserver.fetch(request);
      reads++;
      return isRefused
        ? Response.json({ errcode: "M_FORBIDDEN", error: "You are not in this room" }, { status: 403 })
        : await here.homeserver.fetch(request);
    },
  });
  await alice.sendText(room, "hello");
  await bot.until(() => heard.includes("hello"));
  await bot.settle();
  await bot.client.stop();
  for (const line of LINES) await alice.sendText(room, line);
  bot.client.start().catch(() => {}); // it is killed
  await bot.until(() => heard.includes("line 14"));
  for (const more of ["more", "and more"]) { // with which is recorded what has been handled
    await alice.sendText(room, more);
    await bot.until(() => heard.includes(more));
  }
  await bot.settle();
  assertEquals(lines(), LINES.filter((line) => line !== "line 3"));
  const before = reads;
  [isRefused, isStuck] = [true, false];
  for (let time = 0; time < 2; time++) {
    await bot.restart();
    await bot.settle();
    await bot.until(() => heard.includes("line 3"));
  }
  assertEquals([reads, told], [before, []]);
  assertEquals(lines().toSorted(), LINES.toSorted());
});
