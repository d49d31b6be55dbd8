/** Bots to begin with. */

export const examples = [
  {
    name: "Four lines",
    say: "!ping",
    code: `import { Bot } from "@greenroom/matrix/bot";
const bot = Bot.fromEnv();
bot.command("ping", (c) => c.reply("**pong**"));
await bot.start();
`,
  },
  {
    name: "Echo",
    say: "Hello, bot",
    code: `import { Bot } from "@greenroom/matrix/bot";

const bot = Bot.fromEnv();
bot.on("message:text", (c) => c.reply(c.text));
await bot.start();
`,
  },
  {
    name: "Reminders",
    say: "!remind 10m Tea is ready",
    hint: "Then move the clock on by ten minutes.",
    code: `import { Bot } from "@greenroom/matrix/bot";

const bot = Bot.fromEnv();
bot.command("remind <in> <text...>", { args: { in: "duration" } }, async (c) => {
  await c.remind({ in: c.args.in }, c.args.text);
  await c.react("👍");
});
await bot.start();
`,
  },
  {
    name: "A poll",
    say: "!lunch",
    hint: "Choose an answer, and say !count.",
    code: `import { Bot } from "@greenroom/matrix/bot";
import type { EventID } from "@greenroom/matrix/types";

const bot = Bot.fromEnv();
let poll: EventID;
bot.command("lunch", async (c) => {
  poll = await c.sendPoll("What do we eat?", ["Soup", "Salad", "Pizza"]);
});
bot.command("count", async (c) => {
  const { answers } = await c.getPollResults(poll);
  await c.reply(answers.map(({ text, votes }) => \`\${text}: \${votes}\`).join(", "));
});
await bot.start();
`,
  },
  {
    name: "A conversation",
    say: "!signup",
    hint: "Restart the bot between question and answer: it goes on.",
    code: `import { Bot } from "@greenroom/matrix/bot";

const bot = Bot.fromEnv();
bot.command("signup", async (c) => {
  const name = await c.ask("Your name?");
  const age = await c.ask(\`How old are you, \${name}?\`, {
    check: ({ text }) => Number(text) > 0 ? undefined : "A number, please.",
  });
  await c.reply(\`Welcome, **\${name}**, \${age}!\`);
});
await bot.start();
`,
  },
  {
    name: "An encrypted room",
    say: "!ping",
    hint: "The lock at a message shows what the homeserver has of it.",
    encrypted: true,
    code: `import { Bot } from "@greenroom/matrix/bot";

// Here nobody signs devices; a bot for Element has a recovery key.
const bot = Bot.fromEnv({ encryption: { sendTo: "all", accept: "all" } });
bot.command("ping", (c) => c.reply("**pong**"));
await bot.start();
`,
  },
  {
    name: "Two windows, verified by emoji",
    say: "Hello",
    hint: "Press Verify in one window, and compare the emoji. The lock shows what the homeserver has.",
    windows: true,
    code: `import { Client } from "@greenroom/matrix";
import type { VerificationRequest } from "@greenroom/matrix/types";
import { windows } from "playground"; // this page has one for Alice, and one for Bob

for (const window of windows) {
  // Nobody signs devices here, hence the options.
  const encryption = { sendTo: "all", accept: "all" } as const;
  const client = new Client({ ...window.account, encryption });
  const { crypto } = client;

  client.on("m.room.message", (event) => window.show(event));
  window.onSend = (text: string) => client.sendText(window.room, text);

  /** Both show emoji; the same ones, if nobody sits between them. */
  async function compare(request: VerificationRequest) {
    try {
      await request.compare();
      await (await window.ask(request) ? request.confirm() : request.mismatch());
      await request.done;
      window.show("You have verified each other.");
    } catch (error) {
      window.show(error.message);
    }
  }

  window.onVerify = async () => {
    const { other: userId, room: roomId } = window;
    const request = await crypto.requestVerification({ userId, roomId });
    while (request.phase === "requested") await request.changed();
    await request.startSas();
    await compare(request);
  };

  async function answer() {
    for await (const request of crypto.verificationRequests) {
      await request.accept();
      await compare(request);
    }
  }

  client.start();
  answer();
}
`,
  },
];
