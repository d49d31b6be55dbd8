import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UnknownTokenError, ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import { UnrecognizedError } from "@greenroom/matrix/errors";
import { optionsFromEnv } from "../../src/bot/env.ts";
import { LIFETIME, Stage, turns } from "./stage.ts";

/** A bot that has nothing but its store. */
function botOf(stage: Stage, options: Partial<BotOptions> = {}): Bot {
  const { clientUri: _clientUri, ...rest } = stage.options;
  return new Bot({ ...rest, ...options });
}

Deno.test("A bot goes on with the session in its store, and answers for longer than its tokens live", async () => {
  await using stage = new Stage();
  const { deviceId } = await stage.login();
  const { accessToken } = stage.homeserver.createUser("alice");
  await using bot = botOf(stage);
  bot.command("ping", (c) => c.reply("pong"));
  const end = bot.start({ signals: false });
  await turns();
  const call = async (path: string, body: object, method = "POST") => {
    const headers = { authorization: `Bearer ${accessToken}` };
    const url = `${stage.homeserver.baseUrl}/_matrix/client/v3${path}`;
    return await (await stage.homeserver.fetch(url, { method, headers, body: JSON.stringify(body) })).json();
  };
  const { room_id: room } = await call("/createRoom", { invite: ["@bot:localhost"] });
  const pongs = () =>
    stage.homeserver.room(room).messages.filter(({ content }) => content.body === "pong").length;
  for (let said = 1; said <= 4; said++) {
    await turns();
    await call(`/rooms/${encodeURIComponent(room)}/send/m.room.message/${said}`, {
      msgtype: "m.text",
      body: "!ping",
    }, "PUT");
    for (let waits = 0; waits < 100 && pongs() < said; waits++) await turns();
    assertEquals(pongs(), said);
    await stage.clock.tick(LIFETIME);
  }
  assert(stage.refreshes >= 3);
  assertEquals([bot.client.mxid, bot.client.deviceId], ["@bot:localhost", deviceId]);
  await bot.stop();
  await end;
});

Deno.test("client.logout() of such a bot revokes its tokens, and forgets the session", async () => {
  await using stage = new Stage();
  await stage.login();
  await using bot = botOf(stage);
  const end = bot.start({ signals: false });
  await turns();
  await stage.until(bot.client.logout());
  await end;
  assertEquals(stage.asked.at(-1)?.path, "/oauth2/revoke");
  await assertRejects(() => stage.resume(), Error, "no session");
});

Deno.test("A bot with neither token nor password, nor a session, says what there is to do", async () => {
  await using stage = new Stage();
  await using bot = botOf(stage);
  await assertRejects(() => bot.start({ signals: false }), ValueError, "loginByDeviceCode()");
});

Deno.test("A bot with a password on such a server says what to call, and does not try again", async () => {
  await using stage = new Stage();
  await using bot = botOf(stage, { mxid: "@bot:localhost", password: "tea" });
  await assertRejects(
    () => bot.start({ signals: false }),
    UnrecognizedError,
    "this server offers OAuth 2.0 only",
  );
});

Deno.test("A bot whose session was ended by its user ends with an UnknownTokenError", async () => {
  await using stage = new Stage();
  await stage.login();
  stage.homeserver.revokeTokens("@bot:localhost");
  await using bot = botOf(stage);
  const end = bot.start({ signals: false }).then(() => undefined, (error) => error);
  assert(await stage.until(end) instanceof UnknownTokenError);
});

Deno.test("Bot.fromEnv() needs no token where a store may have a session", () => {
  const read = (values: Record<string, string>) => (name: string) => values[name];
  const url = { MATRIX_URL: "https://matrix.example.org" };
  const options = optionsFromEnv(read({ ...url, MATRIX_STORE: "bot.db" }), {});
  assertEquals(["password" in options, "accessToken" in options, "store" in options], [false, false, true]);
  assertThrows(() => optionsFromEnv(read(url), {}), ValueError, "MATRIX_TOKEN is not set");
});
