import { assertEquals, assertNotEquals } from "@std/assert";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";
import type { EventID, RoomID, UserID } from "@greenroom/matrix/types";
import { Scene } from "../operations/support/scene.ts";
import { EVERYBODY } from "../support/everybody.ts";
import { synapseHost } from "./support/host.ts";
import { newUser, type SynapseServer, synapseTest } from "./support/synapse.ts";

const MEGOLM = { type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } };

/** What a user hears of a bot: each message as it reads now, after edits. */
class Hearing {
  readonly #texts = new Map<EventID, string>();
  #changed = Promise.withResolvers<void>();

  constructor(client: Client, bot: UserID) {
    client.on("m.room.message", ({ sender, event_id, content }) => {
      if (sender !== bot) return;
      const relation = content["m.relates_to"];
      const isEdit = relation?.rel_type === "m.replace";
      const id = isEdit ? relation.event_id : event_id;
      if (id !== undefined) this.#texts.set(id, (isEdit ? content["m.new_content"] : content)?.body ?? "");
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    });
  }

  /** What the bot's messages read now, in order. */
  get texts(): string[] {
    return [...this.#texts.values()];
  }

  /** Waits until the bot's last message reads so. */
  async until(text: string): Promise<void> {
    while (this.texts.at(-1) !== text) await this.#changed.promise;
  }
}

/** What a bot's life is made of. */
interface Life {
  readonly server: SynapseServer;
  readonly account: { readonly userId: UserID; readonly password: string };
  readonly store: MemoryStore;
}

/** A bot in one of its lives; each answers with the number of the life. */
function begin({ server, account, store }: Life, life: number): Bot {
  const bot = new Bot({
    baseUrl: server.baseUrl,
    mxid: account.userId,
    password: account.password,
    store,
    encryption: EVERYBODY,
    log: false,
  });
  bot.command("ping", (c) => c.reply(`**pong** ${life}`));
  bot.command("signup", async (c) => {
    const name = await c.ask("Your name?");
    if (await c.confirm(`You are ${name}?`)) await c.reply(`Welcome, ${name}`);
  });
  bot.command("remind", async (c) => {
    await c.remind({ in: 1_000 }, "Tea!");
    await bot.stop(); // it is due when nobody is there
  });
  let id = "";
  bot.command("later", async (c) => {
    id = await c.later("1h", "Never!");
    await c.reply("Noted");
  });
  bot.command("restart", async (c) => void await c.reply(`restarted ${await bot.later.restart(id)}`));
  bot.command("cancel", async (c) => {
    await c.reply(`cancelled ${await bot.later.cancel(id)}`);
    await c.later({ in: 1_000 }, "**Curtain!**");
    await bot.stop(); // it is due when nobody is there
  });
  bot.command("talk", (c) =>
    c.stream(
      (async function* () {
        for (const piece of ["To **be**", ", or not", " to be"]) yield piece;
      })(),
      { interval: 100 },
    ));
  return bot;
}

for (const where of ["plain", "encrypted"] as const) {
  synapseTest(
    `The kit's bot logs in once, and answers, asks, reminds and streams in a ${where} room through restarts`,
    async (server) => {
      await using scene = new Scene(synapseHost(server));
      const account = await newUser(server, "bot");
      const { userId, deviceId, accessToken: token } = await newUser(server, "alice");
      const alice = scene.client({
        mxid: userId,
        deviceId,
        accessToken: token,
        store: new MemoryStore(),
        encryption: EVERYBODY,
      });
      const life = { server, account, store: new MemoryStore() };
      const devices = new Set<string | undefined>();
      const heard = new Hearing(alice, account.userId);
      const syncing = alice.start();
      let lives = 0;
      let bot: Bot | undefined;
      let running: Promise<void> = Promise.resolve();
      const restart = async (): Promise<void> => {
        await bot?.close();
        await running;
        bot = begin(life, ++lives);
        running = bot.start({ signals: false });
        await bot.client.ready;
        devices.add(bot.client.deviceId);
      };
      await restart();
      const initialState = where === "encrypted" ? [MEGOLM] : [];
      const joined = Promise.withResolvers<void>();
      alice.on("JOIN", ({ sender }) => {
        if (sender === account.userId) joined.resolve();
      });
      const room: RoomID = await alice.createRoom({
        invitees: [account.userId],
        initialState,
        isDirect: true,
      });
      await joined.promise;
      await alice.sendText(room, "ping");
      await heard.until("**pong** 1");
      await alice.sendText(room, "!signup");
      await heard.until("Your name?");
      await restart();
      await alice.sendText(room, "Alice");
      const question = where === "encrypted" ? "You are Alice?\n\n- yes\n- no" : "You are Alice?";
      await heard.until(question);
      await restart();
      await alice.sendText(room, "yes");
      await heard.until("Welcome, Alice");
      await alice.sendText(room, "!talk");
      await heard.until("To **be**, or not to be");
      await alice.sendText(room, "!remind");
      await running;
      await restart();
      await heard.until("Tea!");
      for (const [command, answer] of [["later", "Noted"], ["restart", "restarted true"]] as const) {
        await alice.sendText(room, `!${command}`);
        await heard.until(answer);
      }
      await alice.sendText(room, "!cancel");
      await running;
      await restart(); // what Synapse could not say, since the bot had sent too much, the bot says
      await heard.until("**Curtain!**");
      await alice.sendText(room, "!ping");
      await heard.until("**pong** 5");
      assertEquals(heard.texts, [
        "**pong** 1",
        "Your name?",
        question,
        "Welcome, Alice",
        "To **be**, or not to be",
        "Tea!",
        "Noted",
        "restarted true",
        "cancelled true",
        "**Curtain!**",
        "**pong** 5",
      ]);
      assertEquals(devices.size, 1);
      assertNotEquals(devices, new Set([undefined]));
      await bot?.close();
      await alice.stop();
      await syncing;
    },
  );
}
