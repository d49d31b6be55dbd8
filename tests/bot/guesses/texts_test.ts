import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { Client, ValueError } from "@greenroom/matrix";
import { ClientEndedError } from "@greenroom/matrix/errors";
import { Bot } from "@greenroom/matrix/bot";
import { Homeserver } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

Deno.test("What acts on users takes any text for the ID, and refuses one that is none", async () => {
  const failures: string[] = [];
  await using tester = trying((bot) => {
    bot.command("tidy <name>", async (c) => {
      const { name } = c.args; // a text, as of the environment
      for (
        const act of [
          () => c.kick(name),
          () => c.ban(name, "Spam"),
          () => c.room.unban(name),
          () => c.room.invite(name),
          () => c.room.getMember(name),
          () => c.room.getPowerLevel(name),
        ]
      ) await act().catch((error: unknown) => void failures.push(String(error)));
      await c.reply("done");
    });
  });
  const room = await tester.room("alice", "bob");
  await room.say("!tidy bob");
  await room.expect("done");
  assertEquals(failures.length, 6);
  for (const text of failures) {
    assert(text.includes('Cannot use "bob" as userId: it must be a user ID'), text);
  }
  failures.length = 0;
  await room.say(`!tidy ${tester.userId("bob")}`);
  await room.expect("done");
  // The bot may do nothing.
  assert(failures.every((text) => text.includes("the homeserver answered 403")), failures.join());
});

Deno.test("A bot speaks in a room whose ID is a text, and refuses one that is none", () => {
  const bot = new Bot({ homeserver: "https://matrix.example.org", accessToken: "secret" });
  const given = ["!room:example.org", "#alias:example.org"].map(String);
  assertEquals(bot.in(given[0] ?? "").roomId, "!room:example.org");
  assertThrows(() => bot.in(given[1] ?? ""), ValueError, "as roomId: it must be a room ID");
});

Deno.test("A bot can be made with a client, which it starts, stops and closes", async () => {
  await using homeserver = new Homeserver();
  const { baseUrl, fetch } = homeserver;
  const client = new Client({ baseUrl, fetch, accessToken: homeserver.createUser("bot").accessToken });
  await using alice = new Client({
    ...{ baseUrl, fetch, accessToken: homeserver.createUser("alice").accessToken },
  });
  const bot = new Bot({ client, prefix: "?" });
  const done = Promise.withResolvers<string>();
  bot.command("ping", async (c) => {
    await c.reply("pong");
    done.resolve(c.text);
  });
  bot.on("member:join", (c) => c.send("Hello"));
  const running = bot.start({ signals: false });
  await client.ready;
  const room = await alice.createRoom({ invitees: ["@bot:localhost"], preset: "trusted_private_chat" });
  await joined(client, room);
  await alice.sendMessage(room, "?ping");
  assertEquals(await done.promise, "?ping");
  await bot.stop();
  await running;
  await bot.close();
  await assertRejects(() => client.start(), ClientEndedError);
});

/** Waits until a client is in a room. */
async function joined(client: Client, room: string): Promise<void> {
  const here = Promise.withResolvers<void>();
  client.on("m.room.member", ({ room_id, state_key, content }) => {
    if (room_id === room && state_key === client.mxid && content.membership === "join") here.resolve();
  });
  await here.promise;
}

Deno.test("A bot with a client takes none of the client's options, and no other client", async () => {
  await using client = new Client({ baseUrl: "https://matrix.example.org" });
  // deno-lint-ignore no-explicit-any
  const given = (options: object): any => options;
  const cases = [
    [{ client, accessToken: "secret" }, "there is no option accessToken"],
    [{ client: {} }, "its client must be a Client of @greenroom/matrix"],
    [{ client, encryptedOnly: true }, "encryptedOnly needs encryption"],
  ] as const;
  for (const [options, text] of cases) assertThrows(() => new Bot(given(options)), ValueError, text);
});
