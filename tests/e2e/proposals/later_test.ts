/** What a bot says later, by a Synapse that sends events later. */

import { assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import { PaginationDirection } from "@greenroom/matrix/types";
import { eventually, syncToken } from "../../operations/support/wait.ts";
import { Scene } from "../../operations/support/scene.ts";
import { synapseHost } from "../support/host.ts";
import { newUser, synapseTest } from "../support/synapse.ts";

synapseTest(
  "Synapse says what a bot says later, though the bot has ended, and the next one does not say it again",
  async (server) => {
    await using scene = new Scene(synapseHost(server));
    const alice = await scene.player("alice", { unlimited: "people" });
    const { userId: mxid, password } = await newUser(server, "bot", { unlimited: "people" });
    const store = new MemoryStore();
    const begin = (): Bot => {
      const bot = new Bot({ baseUrl: server.baseUrl, store, mxid, password, encryption: false, log: false });
      bot.command("later", async (c) => {
        await c.later({ in: 10_000 }, "**Curtain!**"); // the bot has ended by then
        await bot.stop();
      });
      bot.command("bye", async (c) => {
        await c.reply("Bye");
        await bot.stop();
      });
      return bot;
    };
    const room = await alice.createRoom({ invitees: [mxid], isDirect: true });
    const texts = async () => {
      const options = { limit: 100, filterJson: { senders: [mxid] } };
      const { chunk } = await alice.getMessages(room, PaginationDirection.FORWARD, undefined, options);
      return chunk.flatMap(({ type, content }) => type === "m.room.message" ? [content.body] : []);
    };
    /** How many texts the bot has in its store, as soon as a sync has waited a little. */
    const left = async () => {
      await alice.sync({ since: await syncToken(alice), timeout: 1_000 });
      return (await Array.fromAsync(store.list([]))).filter(({ key }) => key.includes("bot.later")).length;
    };
    const live = async (command: string): Promise<void> => {
      await using bot = begin();
      const running = bot.start({ signals: false });
      await bot.client.ready;
      await eventually(() => alice.getJoinedMembers(room), (members) => mxid in members);
      if (command === "!bye") await eventually(left, (count) => count === 0); // it has looked
      await alice.sendText(room, command);
      await running;
    };
    await live("!later");
    await eventually(texts, (said) => said.length > 0);
    assertEquals(await left(), 1);
    await live("!bye");
    assertEquals(await texts(), ["**Curtain!**", "Bye"]);
  },
);
