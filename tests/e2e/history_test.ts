import { assertEquals } from "@std/assert";
import { type Client, MemoryStore, type SyncOnceOptions } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { Scene } from "../operations/support/scene.ts";
import { eventually } from "../operations/support/wait.ts";
import { synapseHost } from "./support/host.ts";
import { newUser, type SynapseServer, synapseTest } from "./support/synapse.ts";

/** Someone who talks, and a bot whose processes have a store in common. */
interface Stage {
  readonly alice: Client;
  readonly botId: `@${string}:${string}`;
  /** A process of the bot, which receives messages and changes of its membership. */
  rise(): { readonly bot: Client; readonly heard: string[] };
}

function stageTest(name: string, test: (stage: Stage) => Promise<void>): void {
  synapseTest(name, async (server: SynapseServer) => {
    await using scene = new Scene(synapseHost(server));
    const [alice] = await scene.people("alice");
    const { userId, deviceId, accessToken: token } = await newUser(server, "bot");
    const store = new MemoryStore();
    await test({
      alice,
      botId: userId,
      rise() {
        const bot = scene.client({ mxid: userId, deviceId, accessToken: token, store });
        const heard: string[] = [];
        for (const type of ["INVITE", "JOIN", "KICK"] as const) {
          bot.on(
            type,
            ({ state_key }) => void heard.push(`${type} ${state_key === userId ? "bot" : "other"}`),
          );
        }
        bot.on("m.room.message", ({ content }) => void heard.push(content.body));
        return { bot, heard };
      },
    });
  });
}

/** Syncs once and again until something was heard. */
async function until(
  bot: Client,
  heard: readonly string[],
  what: string,
  options: SyncOnceOptions = {},
): Promise<void> {
  const sync = async () => {
    await bot.syncOnce({ timeout: 1_000, ...options });
    return heard;
  };
  await eventually(sync, () => heard.includes(what));
}

async function say(alice: Client, room: RoomID, count: number, from = 0): Promise<string[]> {
  const texts = Array.from({ length: count }, (_, index) => `line ${from + index}`);
  for (const text of texts) await alice.sendText(room, text);
  return texts;
}

stageTest(
  "Invited, thrown out and invited again, a bot handles each event of its stays once, and no history",
  async ({ alice, botId, rise }) => {
    const { bot, heard } = rise();
    await bot.syncOnce();
    const room = await alice.createRoom();
    await alice.sendText(room, "before");
    for (const stay of ["first", "second", "third"]) {
      await alice.inviteUser(room, botId);
      await until(bot, heard, "INVITE bot");
      await bot.joinRoom(room);
      await until(bot, heard, "JOIN bot");
      await alice.sendText(room, `${stay} stay`);
      if (stay !== "third") await alice.kickUser(room, botId);
      else await alice.sendText(room, "end");
      await until(bot, heard, stay === "third" ? "end" : "KICK bot");
      await alice.sendText(room, "between");
      assertEquals(heard.splice(0), [
        "INVITE bot",
        "JOIN bot",
        `${stay} stay`,
        stay === "third" ? "end" : "KICK bot",
      ]);
    }
  },
);

stageTest(
  "Thrown out and invited again while away, a bot handles what came before, and not what was said between",
  async ({ alice, botId, rise }) => {
    const room = await alice.createRoom({ preset: "public_chat" });
    const { bot, heard } = rise();
    await bot.joinRoom(room);
    await bot.syncOnce();
    await alice.sendText(room, "handled");
    await until(bot, heard, "handled");
    heard.splice(0);
    await alice.sendText(room, "while there");
    await alice.kickUser(room, botId);
    await alice.sendText(room, "between");
    await bot.joinRoom(room);
    await alice.sendText(room, "back");
    await until(bot, heard, "back");
    assertEquals(heard, ["while there", "KICK bot", "JOIN bot", "back"]);
  },
);

stageTest(
  "60 messages that come after a graceful stop, or between two syncs, are handled once and in order",
  async ({ alice, rise }) => {
    const room = await alice.createRoom({ preset: "public_chat" });
    const first = rise();
    await first.bot.joinRoom(room);
    await first.bot.syncOnce();
    first.heard.splice(0);
    const between = await say(alice, room, 60);
    await until(first.bot, first.heard, "line 59");
    await first.bot.close();
    assertEquals(first.heard, between);
    const away = await say(alice, room, 60, 60);
    const second = rise();
    await until(second.bot, second.heard, "line 119");
    assertEquals(second.heard, away);
  },
);

stageTest(
  "What a bot missed between its join and its next sync is handled down to the join",
  async ({ alice, rise }) => {
    const { bot, heard } = rise();
    await bot.syncOnce();
    const room = await alice.createRoom({ preset: "public_chat" });
    await alice.sendText(room, "before");
    await bot.joinRoom(room);
    const said = await say(alice, room, 30);
    await until(bot, heard, "line 29");
    assertEquals(heard, ["JOIN bot", ...said]);
  },
);

stageTest("A filter that hides the own join does not make news of history", async ({ alice, rise }) => {
  const { bot, heard } = rise();
  const filterData = { room: { timeline: { types: ["m.room.message"] }, state: { types: [] } } };
  await bot.syncOnce({ filterData });
  const room = await alice.createRoom({ preset: "public_chat" });
  await alice.sendText(room, "before");
  await bot.joinRoom(room);
  const said = await say(alice, room, 20);
  await until(bot, heard, "line 19", { filterData });
  assertEquals(heard, said);
});
