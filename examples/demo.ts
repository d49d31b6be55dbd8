/**
 * `deno task demo`: a homeserver in this process, two users and a bot that talk in an encrypted
 * room. The users verify each other by emoji.
 *
 * `deno task demo --homeserver https://matrix.example.org --user @bot:example.org` runs the same
 * bot on a real homeserver; the password or the access token is taken from `MATRIX_PASSWORD` or
 * `MATRIX_TOKEN`, or asked for. It keeps nothing: logged in by password it can encrypt, and logs
 * out in the end; with a token, whose device outlives it, it does not encrypt.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { Client } from "@greenroom/matrix";
import type { EventOf } from "@greenroom/matrix/types";
import { Homeserver } from "@greenroom/matrix/testing";
import { teach } from "./bot.ts";
import { verify } from "./emoji.ts";
import { picture } from "./picture.ts";

/** Shows errors alone: that devices end with the process is no news in a demonstration. */
const log = { debug() {}, info() {}, warn() {}, error: console.error };

const { values } = parseArgs({
  args: Deno.args,
  options: {
    homeserver: { type: "string", default: env("MATRIX_URL") },
    user: { type: "string", default: env("MATRIX_USER") },
    password: { type: "string", default: env("MATRIX_PASSWORD") },
    token: { type: "string", default: env("MATRIX_TOKEN") },
  },
});
if (values.homeserver === undefined) await conversation();
else await serve(values.homeserver);

/** Three clients on a homeserver of their own. */
async function conversation(): Promise<void> {
  await using homeserver = new Homeserver({ serverName: "greenroom.example" });
  await using alice = clientOf(homeserver, "alice");
  await using bob = clientOf(homeserver, "bob");
  await using bot = clientOf(homeserver, "bot");
  teach(bot, () => 4);

  const line = listener(alice);
  for (const client of [alice, bob, bot]) client.start();
  const room = await alice.createRoom({
    name: "Green room",
    preset: "public_chat",
    invitees: ["@bot:greenroom.example"],
    initialState: [
      { type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } },
    ],
  });
  await line("bot joins");
  await alice.sendText(room, "Good evening! What can you do, bot?");
  await alice.sendText(room, "!help");
  await line("I know");
  await bob.joinRoom(room);
  await line("Welcome, bob");
  await verify(alice, bob, room);
  await bob.sendText(room, "!ping");
  await line("🏓");
  await bob.sendText(room, "!dice");
  await line("rolls a 4");
  await bob.sendText(room, "!topic Bob's room");
  await line("Only who may");
  await bob.sendImage(room, picture, { fileName: "set.png", info: { mimetype: "image/png", w: 16, h: 16 } });
  await line("set.png");
  await alice.sendText(room, "Thank you, bot. That will be all.");
  await line("That will be all");
  const { chunk } = await alice.getMessages(room, "b", undefined, { limit: 100 });
  const seen = chunk.filter(({ state_key, type }) => state_key === undefined && type !== "m.reaction");
  console.log(
    `What the homeserver saw of ${seen.length} messages: ${[...new Set(seen.map(({ type }) => type))]}`,
  );
}

/** The same bot, for the people in its rooms. */
async function serve(baseUrl: string): Promise<void> {
  const isNew = values.token === undefined;
  await using bot = new Client({ baseUrl, accessToken: values.token, encryption: isNew });
  if (isNew) {
    const user = values.user ?? ask("User ID");
    await bot.login({
      identifier: user as `@${string}:${string}`,
      password: values.password ?? ask("Password"),
    });
  }
  teach(bot);
  console.log(`${(await bot.whoami()).user_id} is on ${baseUrl}; invite it to a room, end with Ctrl-C`);
  listener(bot);
  Deno.addSignalListener("SIGINT", () => bot.stop());
  await bot.start({ ignoreInitialSync: true });
  if (isNew) await bot.logout();
}

function clientOf(homeserver: Homeserver, name: string): Client {
  const { accessToken, userId } = homeserver.createUser(name);
  return new Client({
    baseUrl: homeserver.baseUrl,
    fetch: homeserver.fetch,
    accessToken,
    mxid: userId,
    log,
    encryption: { sendTo: "all", accept: "all" }, // nobody here has an identity that signs devices
  });
}

/** Prints what a client sees, and gives a function that waits until it has seen something. */
function listener(client: Client): (part: string) => Promise<void> {
  const seen: string[] = [];
  let wake = Promise.withResolvers<void>();
  const print = (sender: string, text: string): void => {
    console.log(`${sender.slice(1, sender.indexOf(":")).padStart(6)}  ${text}`);
    seen.push(`${sender} ${text}`);
    wake.resolve();
    wake = Promise.withResolvers();
  };
  client.on(
    "JOIN",
    ({ state_key }) => print(state_key, `${state_key.slice(1, state_key.indexOf(":"))} joins`),
  );
  client.on(
    "m.room.message",
    async ({ sender, content }: EventOf<"m.room.message">) => {
      if (content.msgtype === "m.key.verification.request") return print(sender, "asks to verify");
      if (content.msgtype !== "m.image") return print(sender, content.body);
      const file = content.file ?? content.url;
      const bytes = file === undefined ? undefined : await client.downloadMedia(file);
      print(sender, `${content.body}, an image of ${bytes?.length} bytes`);
    },
  );
  client.on("m.reaction", ({ sender, content }) => print(sender, content["m.relates_to"]?.key ?? ""));
  return async (part) => {
    while (!seen.some((text) => text.includes(part))) await wake.promise;
  };
}

function env(name: string): string | undefined {
  return Deno.env.get(name);
}

function ask(what: string): string {
  return prompt(`${what}:`) ?? Deno.exit(1);
}
