import { assertEquals, assertThrows } from "@std/assert";
import { MemoryStore, ValueError } from "@greenroom/matrix";
import { Bot, Composer } from "@greenroom/matrix/bot";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { Homeserver } from "@greenroom/matrix/testing";
import { EVERYBODY } from "../support/everybody.ts";
import { trying } from "./support.ts";

/** A schema that takes whole numbers. */
const number: StandardSchemaV1<unknown, number> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value: unknown) =>
      /^\d+$/.test(String(value)) ? { value: Number(value) } : { issues: [{ message: "must be a number" }] },
  },
};

Deno.test("A command gets its arguments by name, quoted ones whole, and the rest of the text", async () => {
  await using tester = trying((bot) =>
    bot.command("say <whom> [how] [text...]", (c) => {
      const { whom, how, text } = c.args;
      return c.reply(JSON.stringify([whom, how, text]), { format: "plain" });
    })
  );
  const room = await tester.room("alice", "bob");
  await room.say('!say "Bob Jones" loudly  good   morning\nall ');
  await room.expect('["Bob Jones","loudly","good   morning\\nall"]');
  await room.say("!SAY Bob");
  await room.expect('["Bob",null,null]');
});

Deno.test("What is wrong with arguments is said, with how the command is used", async () => {
  await using tester = trying((bot) => {
    bot.command(
      "add <first> <second>",
      { args: { first: number, second: number } },
      (c) => c.reply(String(c.args.first + c.args.second)),
    );
  });
  const room = await tester.room("alice", "bob");
  await room.say("!add 1 2");
  await room.expect("3");
  await room.say("!add 1");
  await room.expect("second is missing\n\nUsage: !add <first> <second>");
  await room.say("!add 1 two");
  await room.expect("second: must be a number\n\nUsage: !add <first> <second>");
  await room.say("!add 1 2 3 4");
  await room.expect('"3 4" is too much\n\nUsage: !add <first> <second>');
});

Deno.test("The option usage says how a command is used, in help and in what is said of wrong arguments", async () => {
  await using tester = trying((bot) => {
    bot.command("roll <dice>", { args: { dice: number }, usage: "2d6", description: "Rolls" }, () => {});
    bot.command("stop <all>", { usage: "" }, () => {});
  });
  const room = await tester.room("alice", "bob");
  await room.say("!help roll");
  await room.expect("`!roll 2d6`\n\nRolls");
  await room.say("!roll two");
  await room.expect("dice: must be a number\n\nUsage: !roll 2d6");
  await room.say("!help stop");
  await room.expect("`!stop`");
  const add = (usage: unknown) => () =>
    new Composer().command("todo add", { usage: usage as string }, () => {});
  assertThrows(add("!todo add <text>"), ValueError, "usage stands behind the name: leave !todo out of it");
  assertThrows(add("todo"), ValueError, "leave todo out of it");
  assertThrows(add(["text"]), ValueError, "usage must be a text");
});

Deno.test("A command is recognised by its prefix, by a mention, and in a direct chat by its name alone", async () => {
  await using tester = trying((bot) => bot.command("ping", (c) => c.reply("pong")));
  const group = await tester.room("alice", "bob");
  await group.say("ping");
  await group.say("! ping");
  await group.expectNothing();
  for (const text of ["!ping", "@bot:localhost: ping", "@bot:localhost !ping"]) {
    await group.say(text);
    await group.expect("pong");
  }
  await group.say("Bot, ping", { content: { "m.mentions": { user_ids: ["@bot:localhost"] } } });
  await group.expect("pong");
  const direct = await tester.room("alice");
  await direct.say("ping");
  await direct.expect("pong");
});

Deno.test("!help lists commands that the user may use, and says how one is used", async () => {
  await using tester = trying((bot) => {
    bot.command("roll [sides]", { description: "Rolls a die", aliases: ["dice"] }, (c) => c.reply("4"));
    bot.command("stop", { access: "admins" }, (c) => c.reply("Stopped."));
    bot.command("secret", { hidden: true }, (c) => c.reply("Found."));
  }, { admins: ["@carol:localhost"] });
  const room = await tester.room("alice", "carol");
  await room.say("!help");
  const listed = await room.expect(/roll/);
  assertEquals(listed.text.split("\n"), [
    "- `!roll [sides]`: Rolls a die",
    "- `!help [command]`: Says what I can do",
    "- `!cancel`: Ends what I asked you",
  ]);
  await room.say("!help dice");
  await room.expect("`!roll [sides]`\n\nRolls a die\n\nAlso: `!dice`");
  await room.say("!help stop");
  await room.expect("There is no command `!stop`.");
  await room.as("carol").say("!help stop");
  await room.expect("`!stop`");
  await room.say("!stop");
  await room.expectNothing();
  await room.as("carol").say("!stop");
  await room.expect("Stopped.");
});

Deno.test("The first word of hidden commands says nothing of them", async () => {
  await using tester = trying((bot) => {
    bot.command("secret wipe", { hidden: true }, (c) => c.reply("Wiped."));
    bot.on("message:text", (c) => c.reply(`heard ${c.text}`));
  });
  const room = await tester.room("alice", "bob");
  await room.say("!secret");
  await room.expect("heard !secret");
  await room.say("!secret wipe");
  await room.expect("Wiped.");
});

Deno.test("A command may be several words, and the first of them alone says which there are", async () => {
  await using tester = trying((bot) => {
    bot.command("todo add <text...>", { description: "Adds" }, (c) => c.reply(`added ${c.args.text}`));
    bot.command("todo list all", (c) => c.reply("all"));
    bot.command("todo list", (c) => c.reply("some"));
    bot.command("todo drop", { access: "admins" }, (c) => c.reply("dropped"));
    bot.on("message:text", (c) => c.reply(`heard ${c.text}`));
  });
  const room = await tester.room("alice", "bob");
  for (
    const [text, answer] of [
      ["!todo add  milk and  eggs", "added milk and  eggs"],
      ["!Todo LIST all", "all"],
      ["!todo list", "some"],
      ["!todo list now", '"now" is too much\n\nUsage: !todo list'],
      ["!todo add", "text is missing\n\nUsage: !todo add <text...>"],
      ["!todo", "- `!todo add <text...>`: Adds\n- `!todo list all`\n- `!todo list`"],
      ["!help todo", "- `!todo add <text...>`: Adds\n- `!todo list all`\n- `!todo list`"],
      ["!help todo list", "`!todo list`\n\n- `!todo list all`"],
      ["!todos", "heard !todos"],
    ] as const
  ) {
    await room.say(text);
    await room.expect(answer);
  }
});

Deno.test("An unknown command goes on to other functions, or is answered if the bot wants that", async () => {
  await using silent = trying((bot) => {
    bot.command("ping", (c) => c.reply("pong"));
    bot.on("message:text", (c) => c.send(`heard ${c.text}`));
  });
  const first = await silent.room("alice");
  await first.say("!pong");
  await first.expect("heard !pong");
  await using answering = trying((bot) => bot.command("ping", (c) => c.reply("pong")), {
    unknownCommands: "answer",
  });
  const second = await answering.room("alice");
  await second.say("!<b>pong</b>");
  await second.expect("There is no command !bpongb. Try !help.");
});

Deno.test("A command that is not there is answered without !help where there is none", async () => {
  await using tester = trying((bot) => bot.command("ping", (c) => c.reply("pong")), {
    unknownCommands: "answer",
    help: false,
  });
  const room = await tester.room("alice");
  for (const command of ["!pong", "!help"]) {
    await room.say(command);
    await room.expect(`There is no command ${command}.`);
  }
});

Deno.test("The text of a command that fails is not told, but that it failed is, and the next one is handled", async () => {
  await using tester = trying((bot) => {
    bot.command("fail", () => Promise.reject(new ValueError("the database at 10.0.0.7 is down")));
    bot.command("ping", (c) => c.reply("pong"));
  });
  const room = await tester.room("alice");
  await room.say("!fail");
  await room.expect("Sorry, that failed.");
  await room.say("!ping");
  await room.expect("pong");
  assertEquals(tester.logged.filter((line) => line.includes("10.0.0.7")).length, 1);
});

Deno.test("A command of a megabyte is looked at in no time, and answered", async () => {
  await using tester = trying((bot) =>
    bot.command("say [text...]", (c) => c.reply(String(c.args.text?.length)))
  );
  const room = await tester.room("alice");
  await room.say(`!say ${"x".repeat(50_000)}`); // an event takes no more than 64 KiB
  await room.expect("50000");
  await room.say(`!${"x".repeat(50_000)}`);
  await room.expectNothing();
});

for (
  const [pattern, why] of [
    ["", "is no name"],
    ["!ping", '"!ping" has a prefix; write ping, and the option prefix of the bot if it is not !'],
    ["/ping", "write ping"],
    ["a <b> c", "is neither <name> nor [name]"],
    ["a b c d", "a name has at most 3 words"],
    ["a <b...> <c>", "must be the last"],
    ["a [b] <c>", "can't come after"],
    ["a <b> <b>", "two arguments are called b"],
  ] as const
) {
  Deno.test(`The command "${pattern}" is refused: ${why}`, () => {
    const bot = new Bot({ baseUrl: "http://localhost", accessToken: "t" });
    assertThrows(() => bot.command(pattern, () => {}), ValueError, why);
  });
}

Deno.test("A second command of the same name, or with its alias, is refused when it is added", () => {
  const bot = new Bot({ baseUrl: "http://localhost", accessToken: "t" });
  bot.command("roll [sides]", { aliases: ["dice", "throw it"] }, () => {});
  bot.command("roll twice", () => {});
  bot.command("help", () => {}); // in place of the kit's
  for (
    const [pattern = "", ...aliases] of [["Roll"], ["dice <n>"], ["a", "roll"], ["b", "Throw  it"], ["help"]]
  ) {
    assertThrows(() => bot.command(pattern, { aliases }, () => {}), ValueError, "another has the name");
  }
  bot.use(new Composer().command("roll", () => {})); // which is said when it is known: trees grow
});

Deno.test("A command that another tree's has hidden is named in the log, once", async () => {
  const shared = new Composer();
  shared.command("shared", (c) => c.reply("shared"));
  await using tester = trying((bot) => {
    bot.filter((c) => c.sender === "@bob:localhost", shared);
    bot.filter((c) => c.sender !== "@bob:localhost", shared);
    bot.command("ping", (c) => c.reply("pong"));
    bot.use(new Composer().command("pong", { aliases: ["PING"] }, (c) => c.reply("ping")));
  });
  const room = await tester.room("alice");
  await room.say("!ping");
  await room.expect("pong");
  await room.say("!shared");
  await room.expect("shared");
  const said = tester.logged.filter((line) => line.includes("hidden by another"));
  assertEquals(said.map((line) => line.includes('"ping"')), [true]);
});

Deno.test("The log says once which commands need encryption that the bot has not", async () => {
  for (const encrypted of [false, true]) {
    const logged: string[] = [];
    await using homeserver = new Homeserver();
    const { accessToken } = homeserver.createUser("bot");
    const log = { debug() {}, info() {}, error() {}, warn: (line: string) => void logged.push(line) };
    const { baseUrl, fetch } = homeserver;
    const encryption = encrypted ? EVERYBODY : undefined;
    await using bot = new Bot({ baseUrl, fetch, accessToken, log, store: new MemoryStore(), encryption });
    bot.command("wipe", { encryptedOnly: true }, (c) => c.reply("wiped"));
    bot.command("ping", (c) => c.reply("pong"));
    for (let pass = 0; pass < 2; pass++) await bot.syncOnce();
    assertEquals(
      logged.filter((line) => line.startsWith("A command is never called")).length,
      encrypted ? 0 : 1,
    );
  }
});
