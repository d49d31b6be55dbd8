import { assertEquals } from "@std/assert";
import type { JsonObject } from "@greenroom/matrix/types";
import type { TestRoom } from "@greenroom/matrix/testing";
import { trying } from "../support.ts";

const MEOW = "@meow:localhost";
const href = (id: string): string => `https://matrix.to/#/${id}`;

/** Says something with pills as Element does: names in the body, links in the formatted body. */
function say(room: TestRoom, body: string, html: string): Promise<unknown> {
  const content: JsonObject = {
    format: "org.matrix.custom.html",
    formatted_body: html,
    "m.mentions": { user_ids: [MEOW] },
  };
  return room.say(body, { content });
}

Deno.test("A mention is one argument, the user's ID, whatever the name is", async () => {
  await using tester = trying((bot) =>
    bot.command(
      "ban <user> [reason...]",
      { args: { user: "user" } },
      (c) => c.reply(JSON.stringify(c.args), { format: "plain" }),
    )
  );
  const room = await tester.room("alice", "meow");
  const expected = '{"user":"@meow:localhost","reason":"a reason"}';
  for (const name of ["Meow", "@Meow (Backup)", "ban", "b", "!", 'Me "ow" <3 & co', "\u{E000}0\u{E001} x"]) {
    const escaped = name.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
    await say(room, `!ban ${name} a reason`, `!ban <a href="${href(MEOW)}">${escaped}</a> a reason`);
    await room.expect(expected);
  }
  await say(room, `!ban [Me ow](${href(MEOW)}) a reason`, `!ban <a href="${href(MEOW)}">Me ow</a> a reason`);
  await room.expect(expected);
  for (
    const text of [
      `!ban ${MEOW} a reason`,
      `!ban ${href(MEOW)} a reason`,
      `!ban matrix:u/meow:localhost a reason`,
    ]
  ) {
    await room.say(text);
    await room.expect(expected);
  }
  await room.say("!ban Meow a reason");
  await room.expect(/^user: must be a user: a mention, or an ID like @name:server.name/);
});

Deno.test("A mention in the rest of the text stays the name that was seen, and one of a room is a room", async () => {
  await using tester = trying((bot) =>
    bot.command(
      "say <room> <text...>",
      { args: { room: "room" } },
      (c) => c.reply(`${c.args.room} ${c.args.text}`, { format: "plain" }),
    )
  );
  const room = await tester.room("alice", "meow");
  const alias = "#the-room:localhost";
  await say(
    room,
    "!say The Room Hello, Me Ow!",
    `!say <a href="${href(alias)}">The Room</a> Hello, <a href="${href(MEOW)}">Me Ow</a>!`,
  );
  await room.expect("#the-room:localhost Hello, Me Ow!");
});

Deno.test("A bot that is mentioned by a pill alone hears the command behind it, with its mentions", async () => {
  await using tester = trying((bot) =>
    bot.command("poke <who>", (c) => c.reply(c.args.who, { format: "plain" }))
  );
  const room = await tester.room("alice", "meow");
  await room.say("Stage Bot: poke Me Ow", {
    content: {
      formatted_body: `<a href="${href("@bot:localhost")}">Stage Bot</a>: poke <a href="${
        href(MEOW)
      }">Me Ow</a>`,
    },
  });
  await room.expect(MEOW);
});

Deno.test("Text in which a name stands before its pill leaves the earlier one as it is", async () => {
  await using tester = trying((bot) =>
    bot.command(
      "tell <who> <what> <whom>",
      (c) => c.reply(JSON.stringify(Object.values(c.args)), { format: "plain" }),
    )
  );
  const room = await tester.room("alice", "meow");
  await say(room, "!tell Meow about Meow", `!tell Meow <b>about</b> <a href="${href(MEOW)}">Meow</a>`);
  const { text } = await room.expect(/Meow/);
  assertEquals(JSON.parse(text), ["Meow", "about", MEOW]);
});

Deno.test("What Element and people write behind a mention belongs to no argument", async () => {
  const said = (
    c: { args: unknown; reply: (text: string, options: { format: "plain" }) => Promise<unknown> },
  ) => c.reply(JSON.stringify(c.args), { format: "plain" });
  await using tester = trying((bot) => {
    bot.command("ban <user> [reason...]", { args: { user: "user" } }, said);
    bot.command("poke <whom> [how...]", said);
    bot.command("allow <user...>", { args: { user: "user" } }, said);
    bot.command("watch <room> [text...]", { args: { room: "room" } }, said);
  }, { rateLimit: false });
  const room = await tester.room("alice", "meow");
  const alias = "#the-room:localhost";
  for (const behind of [":", ",", ";", "!", " :", "::", ":,"]) {
    for (const name of ["@Meow", "Me: ow"]) {
      const pill = `<a href="${href(MEOW)}">${name}</a>${behind}`;
      await say(room, `!ban ${name}${behind} a: reason`, `!ban ${pill} a: reason`);
      await room.expect('{"user":"@meow:localhost","reason":"a: reason"}');
      await say(room, `!poke ${name}${behind}`, `!poke ${pill}`);
      await room.expect('{"whom":"@meow:localhost"}');
      await say(room, `!allow ${name}${behind}`, `!allow ${pill}`);
      await room.expect('{"user":"@meow:localhost"}');
    }
    const pill = `<a href="${href(alias)}">The Room</a>`;
    await say(room, `!watch The Room${behind} now`, `!watch ${pill}${behind} now`);
    await room.expect('{"room":"#the-room:localhost","text":"now"}');
  }
  for (const user of [MEOW, href(MEOW), "matrix:u/meow:localhost"]) {
    for (const behind of [":", ",", ";", "!", ":,"]) {
      await room.say(`!ban ${user}${behind} a reason`);
      await room.expect('{"user":"@meow:localhost","reason":"a reason"}');
    }
  }
  await room.say(`!watch ${alias}: now`);
  await room.expect('{"room":"#the-room:localhost","text":"now"}');
  await room.say("!ban @meow:localhost:8448: a reason");
  await room.expect('{"user":"@meow:localhost:8448","reason":"a reason"}');
});
