/**
 * What the compiler says of programs with mistakes.
 *
 * Over 300 lines because each case is a program.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { APPSERVICE_HINTS } from "../../src/appservice/appservice_options.ts";
import {
  COMPILED_BOT_HINTS,
  COMPILED_EVENT_HINTS,
  CONTEXT_ROOM_HINTS,
  EVENT_HINTS,
  ROOM_CONTEXT_HINTS,
  ROOM_HINTS,
  WRITE_HINTS,
} from "../../src/bot/context/context_hints.ts";
import { BOT_HINTS } from "../../src/bot/context/context.ts";
import { COMPILED_CLIENT_HINTS } from "../../src/client/client_hints.ts";
import {
  BOT_TESTER_HINTS,
  HOMESERVER_HINTS,
  TEST_ROOM_HINTS,
  TEST_USER_HINTS,
} from "../../src/testing/testing_hints.ts";
import { complaintsOf } from "./compiler.ts";

/** A program, and what the compiler says against it. */
interface Case {
  /** What the compiler does. */
  readonly name: string;
  readonly program: string;
  /** In how many lines it finds errors. */
  readonly lines: number;
  /** What stands in them. */
  readonly says: readonly string[];
}

/** The type by which the compiler says what to write. */
const write = (...hints: string[]): string[] => hints.map((here) => `WriteInstead<"${here}`);

const cases: readonly Case[] = [
  {
    name: "says what to write for a member that other clients have",
    program: `
      import { Client } from "@greenroom/matrix";
      const client = new Client({ baseUrl: "https://matrix.example.org" });
      const mxid: string = client.userId;
      client.off("m.room.message", () => {});
      client.startSync();
      client.getRoom("!a:example.org");
      client.invite("!a:example.org", "@a:example.org");
    `,
    lines: 5,
    says: write(
      'client.mxid">',
      'client.removeEventHandler(type, handler)">',
      'client.start()">',
      'client.room(roomId)">',
      'client.inviteUser(roomId, userId)">',
    ),
  },
  {
    name: "says what to write for what a run would find anyway",
    program: `
      import { Client } from "@greenroom/matrix";
      import { Appservice } from "@greenroom/matrix/appservice";
      import { Bot } from "@greenroom/matrix/bot";
      const bot = Bot.fromEnv({ logger: console });
      await bot.init();
      bot.start({ onStart: () => {} });
      bot.on("decryption_error", () => {});
      bot.command("warn", (c) => c.warn("@a:b"));
      bot.on("message", (c) => void (c.isEdit === true));
      const client = new Client({ baseUrl: "https://matrix.example.org" });
      await client.setState("!a:b", "m.room.topic", "", {});
      new Bot({ homeserver: "a.example", accessToken: "secret", recoveryKey: "key" });
      new Appservice({ homeserver: "a.example", homeserverName: "a.example", registration: {} as never });
    `,
    lines: 9,
    says: write(
      'log">',
      COMPILED_BOT_HINTS.init,
      'await bot.client.ready">',
      "bot.client.on(",
      COMPILED_EVENT_HINTS.warn,
      EVENT_HINTS.isEdit.slice(0, 7),
      COMPILED_CLIENT_HINTS.setState,
      "bot.client.crypto.ensureVerified({ recoveryKey })",
      'serverName">',
    ),
  },
  {
    name: "says what to write for an option that other bots and application services have",
    program: `
      import { Appservice } from "@greenroom/matrix/appservice";
      import { Bot } from "@greenroom/matrix/bot";
      Bot.fromEnv({ ignoreOwnMessages: true });
      new Appservice({ homeserver: "http://localhost:8008", serverName: "localhost", asToken: "secret" });
    `,
    lines: 2,
    says: write(
      "nothing: a bot does not hear itself",
      "registration: parseRegistration(yaml)",
    ),
  },
  {
    name: "knows no members of a profile but those that Matrix has, and fields with a dot",
    program: `
      import { Client } from "@greenroom/matrix";
      const profile = await new Client({ baseUrl: "https://a.example" }).getProfile("@a:a.example");
      console.log(profile.displayName);
      console.log(profile.avatarUrl);
      console.log(profile["org.example.pronouns"], profile.displayname);
    `,
    lines: 2,
    says: ["Did you mean 'displayname'?", "Property 'avatarUrl' does not exist on type 'Profile'"],
  },
  {
    name: "says which option to write for one that other clients have",
    program: `
      import { Client } from "@greenroom/matrix";
      new Client({ homeserverUrl: "https://matrix.example.org" });
      new Client({ baseUrl: "https://matrix.example.org", token: "secret" });
      new Client({ baseUrl: "https://matrix.example.org", userId: "@a:example.org" });
    `,
    lines: 3,
    says: write('homeserver">', 'accessToken">', 'mxid">'),
  },
  {
    name: "says which type of event to write for one that Matrix does not have",
    program: `
      import { Client } from "@greenroom/matrix";
      const client = new Client({ baseUrl: "https://matrix.example.org" });
      client.on("message", () => {});
      client.on("room.invite", () => {});
      client.on("ready", () => {});
      client.on("m.room.mesage", () => {});
      client.addEventHandler("join", () => {});
      client.on("verification.request", () => {});
      client.on("decryption.failed", () => {});
      client.on("m.room.topic", () => {});
      client.on("org.example.own", () => {});
    `,
    lines: 7,
    says: write(
      'm.room.message">',
      'INVITE">',
      'client.ready">',
      'a type of Matrix, or eventType() with its class">',
      'JOIN">',
      'VERIFICATION_REQUEST">',
      'UNDECRYPTABLE">',
    ),
  },
  {
    name: "says both types of event that an error may be, and of which kind a message is",
    program: `
      import { Client } from "@greenroom/matrix";
      import type { RoomMessageEvent } from "@greenroom/matrix/types";
      const client = new Client({ baseUrl: "https://matrix.example.org" });
      client.on("error", () => {});
      client.on("m.room.message", (event: RoomMessageEvent) => event.content.body.length);
      client.on("VERIFICATION_REQUEST", async (request) => {
        const sas = await request.startSas();
        console.log(sas.emojis, sas.emoji);
        await sas.confirm();
      });
    `,
    lines: 3,
    says: write(
      "SYNC_ERRORED for failed syncs, HANDLER_ERROR for failed handlers",
      'request.confirm()">',
    ).concat(
      "'emojis' does not exist",
    ),
  },
  {
    name: "says what to write where handlers of other clients have a room, and for other names in encryption",
    program: `
      import { Client } from "@greenroom/matrix";
      const client = new Client({ baseUrl: "https://matrix.example.org", encryption: true });
      client.on("m.room.message", async (_event, room) => {
        const name: string = room.name;
        await room.send(name);
      });
      const { crypto } = client;
      if (crypto === undefined) throw new TypeError();
      await crypto.bootstrap({ password: "secret" });
      await crypto.backup.enable();
      const report = await crypto.backup.restore({ onProgress: ({ done, total }) => console.log(done / total) });
      console.log(report.added, report.total);
      await client.room("!a").pin("$a");
    `,
    lines: 5,
    says: write(
      "await client.room(event.room_id).getName()",
      "client.room(event.room_id).sendText(text)",
      "client.crypto.ensureVerified(",
      "client.crypto.backup.create({ storage })",
      "bot.in(room.id).pin(eventId)",
    ),
  },
  {
    name: "says how a store is sealed, where other libraries take a passphrase",
    program: `
      import { SqliteStore } from "@greenroom/matrix/store/sqlite";
      import { KvStore } from "@greenroom/matrix/store/kv";
      new SqliteStore("bot.db", { passphrase: "secret" });
      await KvStore.open("bot.db", { password: "secret" });
    `,
    lines: 2,
    says: write("SealedStore.open(store, key)"),
  },
  {
    name: "refuses a member that other clients have in a text, and where it is compared",
    program: `
      import { Client } from "@greenroom/matrix";
      const client = new Client({ baseUrl: "https://matrix.example.org" });
      export const text = \`I am \${client.userId}\`;
      export const isOwn = client.userId === "@own:example.org";
    `,
    lines: 2,
    says: ["TS2731", "TS2367"],
  },
  {
    name: "takes a program's own names that only begin like a hint",
    program: `
      import { Client } from "@greenroom/matrix";
      import { Bot, type Context } from "@greenroom/matrix/bot";
      export class MyClient extends Client { users = 1; running = true; }
      export class MyBot extends Bot { users = 1; roommates = []; scheduler = 1; running = true; }
      export interface MyContext extends Context { messages: string[] }
    `,
    lines: 0,
    says: [],
  },
  {
    name: "refuses names that only begin like a hint where there are none",
    program: `
      import { Client } from "@greenroom/matrix";
      const client = new Client({ baseUrl: "https://matrix.example.org" });
      console.log(client.users);
      console.log(client.username);
    `,
    lines: 2,
    says: ["TS2339", "'users'", "'username'"],
  },
  {
    name: "says what to write for members of other bots",
    program: `
      import { Bot } from "@greenroom/matrix/bot";
      const bot = Bot.fromEnv();
      bot.command("warn <user>", { args: { user: "user" } }, async (c) => {
        await c.replyHtml("<b>No</b>");
        await c.kickUser(c.args.user);
        const { text } = c.message;
        await c.setTyping(true);
        await bot.sendMessage("!a:b", text);
        await c.room.send(c.room.memberCount);
      });
    `,
    lines: 6,
    says: [
      EVENT_HINTS.replyHtml,
      ROOM_HINTS.kickUser,
      EVENT_HINTS.message,
      ROOM_CONTEXT_HINTS.setTyping,
      BOT_HINTS.sendMessage,
      CONTEXT_ROOM_HINTS.memberCount,
    ],
  },
  {
    name: "says what to write for options of text that other bots have",
    program: `
      import type { Context } from "@greenroom/matrix/bot";
      export async function say(c: Context): Promise<void> {
        await c.send("a", { markdown: true });
        await c.reply("a", { html: "<b>a</b>" });
        await c.reply("a", { notice: true });
        await c.send("a", { replyTo: "$a", format: "plain" });
      }
    `,
    lines: 3,
    says: [WRITE_HINTS.markdown, WRITE_HINTS.html, WRITE_HINTS.notice],
  },
  {
    name: "says what to write for options of commands, for stores in a store, and types what reminders have",
    program: `
      import { Bot } from "@greenroom/matrix/bot";
      const bot = Bot.fromEnv();
      bot.command("roll", { help: "Rolls", usage: "[dice]" }, (c) => c.reply("6"));
      bot.store.collection("notes");
      bot.unschedule("tea");
      bot.command("hi", (c) => c.reply(c.mention(c.sender)));
      bot.reminder<{ text: string }>("tea", (c) => bot.send(c.roomId, c.data.text.trim()));
      bot.reminder("pot", (c) => c.send(c.data));
    `,
    lines: 5,
    says: [
      ...write(
        "description",
        "keys of more parts",
        "bot.reminders.cancel(id)",
        "mention(userId, name)",
      ),
      "'unknown'",
    ],
  },
  {
    name: "says what the options of other bots are called",
    program: `
      import { Bot } from "@greenroom/matrix/bot";
      const homeserver = "https://matrix.example.org";
      new Bot({ homeserver, token: "secret" });
      new Bot({ homeserver, userId: "@bot:example.org", password: "secret" });
      new Bot({ homeserverUrl: homeserver, accessToken: "secret" });
      Bot.fromEnv({ user: "@bot:example.org" });
    `,
    lines: 4,
    says: write('accessToken">', 'mxid">', 'homeserver">'),
  },
  {
    name: "takes a client for a bot, but none of the client's options with it",
    program: `
      import { Client } from "@greenroom/matrix";
      import { Bot } from "@greenroom/matrix/bot";
      const client = new Client({ baseUrl: "https://matrix.example.org" });
      new Bot({ client, prefix: "?" });
      new Bot({ client, token: "secret" });
    `,
    lines: 1,
    says: ["token"],
  },
  {
    name: "says what to write for a query that there is not",
    program: `
      import { Composer } from "@greenroom/matrix/bot";
      const plugin = new Composer();
      plugin.on("photo", (c) => c.reply("A picture!"));
      plugin.on(["joined"], (c) => c.reply("Welcome!"));
      plugin.on("m.room.topc", (c) => c.reply("A topic!"));
      plugin.on("reminder");
    `,
    lines: 4,
    says: write(
      "message:image",
      "member:join",
      "a query like message:text, or a type of event",
      "bot.reminder(…)",
    ),
  },
  {
    name: "refuses any text as a query, and takes a query that is known later",
    program: `
      import { Bot, Composer, type Query } from "@greenroom/matrix/bot";
      declare const text: string;
      declare const query: Query;
      new Composer().on(text, () => {});
      new Composer().on([text], () => {});
      Bot.fromEnv().on(text, () => {});
      Bot.fromEnv().on(query, () => {}).on(["message:text", query], () => {});
    `,
    lines: 3,
    says: write("a query like message:text, or a type of event"),
  },
  {
    name: "says what to write for members of other bridges and tests",
    program: `
      import type { Appservice } from "@greenroom/matrix/appservice";
      import { BotTester, Homeserver } from "@greenroom/matrix/testing";
      declare const appservice: Appservice;
      declare const tester: BotTester;
      const homeserver = new Homeserver();
      appservice.ghost("_irc_bob");
      appservice.listen(9000);
      await homeserver.stop();
      await homeserver.createUser("alice").sendText("!a:b", "Hello");
      await tester.say("!ping");
      const { sendText } = await tester.room("alice");
      sendText("!ping");
    `,
    lines: 6,
    says: write(
      APPSERVICE_HINTS.ghost,
      APPSERVICE_HINTS.listen,
      HOMESERVER_HINTS.stop,
      TEST_USER_HINTS.sendText.slice(0, 20),
      BOT_TESTER_HINTS.say,
      TEST_ROOM_HINTS.sendText,
    ),
  },
];

let run: Promise<string[][]> | undefined;

for (const [at, { name, lines, says }] of cases.entries()) {
  Deno.test(`The compiler ${name}`, async () => {
    const found = (await (run ??= complaintsOf(cases.map(({ program }) => program))))[at] ?? [];
    const said = found.join("\n");
    assertEquals(new Set(found.map((error) => /:(\d+):\d+$/m.exec(error)?.[1])).size, lines, said);
    for (const here of says) {
      assert(said.includes(here) || said.includes(here.replaceAll('"', '\\"')), `${here}: ${said}`);
    }
  });
}
