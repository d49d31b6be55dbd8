/**
 * The files of a new bot.
 *
 * @module
 */

import process from "node:process";

/** What the files are made for. */
export interface Project {
  /** What runs the bot. */
  readonly runtime: "deno" | "node" | "bun";
  /** Its folder, from the root on. */
  readonly folder: string;
  /** What the folder is called. */
  readonly name: string;
  /** The bot; undefined: the login asks. */
  readonly user: string | undefined;
  /** Who may use its commands for admins. */
  readonly admin: string | undefined;
  /** The folder of the checkout that this runs from; undefined: it is the published package. */
  readonly checkout: string | undefined;
}

/** The version of the package. */
export const VERSION = "0.1.0";

const BOT = `import { Bot } from "@greenroom/matrix/bot";

/** What the bot can do: bot_test.ts tries it without a server. */
export function addCommands(bot: Bot): Bot {
  bot.command("ping", (c) => c.reply("**pong**"));
  const description = "Asks who you are";
  bot.command("hello", { description }, async (c) => {
    const name = await c.ask("Who are you?"); // waits for days, through restarts
    await c.reply(\`Hello, \${name}!\`);
  });
  return bot;
}

if (import.meta.main) await addCommands(Bot.fromEnv()).start();
`;

const testWith = (head: string, call: string) =>
  `${head}import { Bot } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";
import { addCommands } from "./bot.ts";

${call}("!ping is answered, and !hello asks, over a restart too", async () => {
  await using tester = new BotTester((options) => {
    return addCommands(new Bot(options));
  });
  const room = await tester.room("alice");
  await room.say("!ping");
  await room.expect("**pong**");
  await room.say("!hello");
  await room.expect("Who are you?");
  await tester.restart(); // as a deployment does
  await room.say("Alice");
  await room.expect("Hello, Alice!");
});
`;

const DEPLOY = `// The bot on Deno Deploy: the homeserver wakes it. "deploy" of deno.json says
// what to run. Make the app with: deno deploy create. Assign a database of Deno KV
// to the app, and set MATRIX_URL, MATRIX_TOKEN, MATRIX_RECOVERY_KEY,
// MATRIX_WAKE_SECRET (random, 16 characters or more) and BOT_URL (where it is).
// The token is that of a login of its own, not the one of .env.
import { Bot } from "@greenroom/matrix/bot";
import { addCommands } from "./bot.ts";

const bot = addCommands(Bot.fromEnv());
Deno.serve(bot.fetch);

const url = Deno.env.get("BOT_URL");
const isProduction = Deno.env.get("DENO_TIMELINE") === "production"; // previews run the same cron
if (url !== undefined && isProduction) {
  Deno.cron("handle what no wake tells of", "* * * * *", async () => {
    await bot.syncOnce({ passTimeout: 50_000 });
    await bot.client.registerWake(url);
  });
}
`;

const DOCKERFILE =
  `# docker build -t bot . && docker run -d --restart on-failure --env-file .env -v ./data:/app/data bot
# The folder data has to belong to the user 1000: chown -R 1000 data
FROM denoland/deno:2.9.6
WORKDIR /app
COPY . .
RUN deno install --entrypoint bot.ts && mkdir -p data && chown deno data
USER deno
VOLUME /app/data
CMD ["run", "--no-prompt", "--allow-net", "--allow-env", "--allow-read=data", "--allow-write=data", "bot.ts"]
`;

const NODE_DOCKERFILE =
  `# docker build -t bot . && docker run -d --restart on-failure --env-file .env -v ./data:/app/data bot
# The folder data has to belong to the user 1000: chown -R 1000 data
FROM node:24-slim
WORKDIR /app
COPY . .
RUN npm install --omit=dev && mkdir -p data && chown node data
USER node
VOLUME /app/data
CMD ["node", "bot.ts"]
`;

/** What of a folder is no business of Git and Docker. */
const IGNORED = ".env\ndata/\n*.key\n";

/** This runtime, for systemd. */
const EXECUTABLE = `"${process.execPath.replaceAll("%", "%%")}"`;

/** The files of a project, by name. */
export function filesOf(project: Project): Readonly<Record<string, string>> {
  return project.runtime === "deno" ? denoFilesOf(project) : nodeFilesOf(project);
}

function denoFilesOf(project: Project): Readonly<Record<string, string>> {
  return {
    "bot.ts": BOT,
    "bot_test.ts": testWith("", "Deno.test"),
    "deploy.ts": DEPLOY,
    "deno.json": denoJson(project),
    "Dockerfile": DOCKERFILE,
    "bot.service": unit(
      project,
      `${EXECUTABLE} run --no-prompt --allow-net --allow-env \\\n  --allow-read=data --allow-write=data bot.ts`,
    ),
    ".gitignore": IGNORED,
    ".dockerignore": IGNORED,
    "README.md": readme(project),
  };
}

function nodeFilesOf(project: Project): Readonly<Record<string, string>> {
  const ignored = `${IGNORED}node_modules/\n`;
  return {
    "bot.ts": BOT,
    "bot_test.ts": testWith('import test from "node:test";\n', "test"),
    "package.json": packageJson(),
    "Dockerfile": NODE_DOCKERFILE,
    "bot.service": unit(project, `${EXECUTABLE} bot.ts`),
    ".gitignore": ignored,
    ".dockerignore": ignored,
    "README.md": readme(project),
  };
}

function packageJson(): string {
  const [login, start, doctor] = ["login", "run", "doctor"].map((command) => `greenroom ${command}`);
  const scripts = { login, start, doctor, test: "node --test" };
  const manifest = {
    ...{ private: true, type: "module", engines: { node: ">=24.2" }, scripts },
    dependencies: { "@greenroom/matrix": `^${VERSION}` },
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

function denoJson({ checkout }: Project): string {
  const cli = checkout === undefined ? `jsr:@greenroom/matrix@^${VERSION}/cli` : `${checkout}/src/cli/mod.ts`;
  const greenroom = (command: string) => `deno run -A '${cli}' ${command}`;
  return `${
    JSON.stringify(
      {
        tasks: {
          login: greenroom("login"),
          start: greenroom("run"),
          doctor: greenroom("doctor"),
          test: "deno test",
        },
        deploy: { install: "deno install", runtime: { type: "dynamic", entrypoint: "./deploy.ts" } },
        imports: { "@greenroom/matrix": `jsr:@greenroom/matrix@^${VERSION}` },
        ...checkout === undefined ? {} : { links: [checkout] }, // with all that its workspace has
      },
      null,
      2,
    )
  }\n`;
}

/** @param command What starts the bot. */
function unit({ folder, name }: Project, command: string): string {
  return `# systemctl --user link "${folder}/bot.service" && systemctl --user enable --now bot
# loginctl enable-linger   # so that it runs while you are logged out
[Unit]
Description=The Matrix bot ${name.replaceAll("%", "%%")}

[Service]
WorkingDirectory=${folder.replaceAll("%", "%%")}
EnvironmentFile=${folder.replaceAll("%", "%%")}/.env
ExecStart=${command}
Restart=on-failure
RestartSec=5
SuccessExitStatus=143

[Install]
WantedBy=default.target
`;
}

function readme({ name, runtime }: Project): string {
  const isDeno = runtime === "deno";
  const task = isDeno ? "deno task" : "npm run";
  const services = isDeno
    ? "`Dockerfile`, `bot.service` (systemd) and `deploy.ts` (Deno Deploy) run it for\n  good: their first lines say how."
    : "`Dockerfile` and `bot.service` (systemd) run it for good: their first lines say\n  how.";
  return `# ${name}

A Matrix bot, made with Greenroom (\`@greenroom/matrix\`).

\`\`\`sh
${isDeno ? "" : "npm install        # once\n"}${task} login    # once: logs the bot in
${task} start    # runs it
${task} test     # tries it without a server
${task} doctor   # when something is wrong
\`\`\`

- \`bot.ts\` is the bot, \`bot_test.ts\` its test.
- \`.env\` has the bot's token, \`data/\` its store and its recovery key: keep both
  to yourself, and a copy of \`data/recovery.key\` in a safe place.
- ${services}
`;
}
