/**
 * Who has only an admin's token makes a room in clear, and gives the bot orders there;
 * the server does the same for any user.
 *
 * What must hold: a command, or a bot, that is `encryptedOnly` takes no order that came in clear, whatever
 * the room and whatever form the order has; nor an answer in clear to what such a command has asked. A bot
 * that could hear nothing so is not made.
 *
 * The class of mistake: whose word something is was asked of the server alone.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";
import { encryptedUser } from "../../../bot/encrypted_user.ts";
import { trying } from "../../../bot/support.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const ENCRYPTED_ONLY = { encryptedOnly: true };
const REFUSAL = "I take !wipe only from an encrypted message.";

/** A bot that has an admin, and what it has done. */
function obeying(options: Partial<BotOptions> = {}, { encryptedOnly }: { encryptedOnly?: boolean } = {}) {
  const done: string[] = [];
  let asksIn: RoomID | undefined;
  const tester: BotTester = trying((bot) => {
    bot.command("wipe", { access: "admins", aliases: ["erase"], encryptedOnly }, async (c) => {
      done.push("wipe");
      await c.reply("wiped");
    });
    bot.command("purge", { encryptedOnly }, async (c) => {
      if (await c.confirm("Really?", { clearReactions: true, roomId: asksIn })) done.push("purge");
      await c.reply("over");
    });
    bot.command("choose", { encryptedOnly }, async (c) => c.reply(await c.menu("Which?", { "🔴": "red" })));
    bot.command("ask", { encryptedOnly }, async (c) => {
      const answer = await c.ask("Which?", { filter: ["message:text", "reaction"], from: "anyone" });
      await c.reply(`took ${answer.event.type}`);
    });
    bot.reaction("🔥", () => void done.push("reaction"));
    bot.on("message:text", (c) => void done.push(`heard ${c}`));
    bot.on("member:join", () => void done.push("join"));
    bot.on("redaction", () => void done.push("redaction"));
  }, { encryption: EVERYBODY, admins: ["@alice:localhost"], ...options });
  return { tester, done, askIn: (room: RoomID) => void (asksIn = room) };
}

const text = (body: string, more: object = {}) => ({ msgtype: "m.text", body, ...more });
const reaction = (event_id: string, key: string) => ({
  "m.relates_to": { rel_type: "m.annotation", event_id, key },
});
/** The ways in which an order is given. */
const ORDERS = [
  text("!wipe"),
  text("!WIPE"),
  text("!erase"),
  text("@bot:localhost: wipe", { "m.mentions": { user_ids: ["@bot:localhost"] } }),
  text("wipe"), // in a chat of two
  text("x", { "org.matrix.msc4391.command": { command: "wipe", arguments: {} } }),
];

for (const unencrypted of ["ignore", "deliver"] as const) {
  Deno.test(`T132: a command that is encryptedOnly takes no order in clear, where clear text is to ${unencrypted}`, async () => {
    const { tester, done } = obeying({ encryption: { ...EVERYBODY, unencrypted } }, ENCRYPTED_ONLY);
    await using _ = tester;
    await using alice = await encryptedUser(tester, "alice");
    const clear = await alice.room({ encrypted: false });
    for (const order of ORDERS) {
      await alice.forge(clear, "m.room.message", order);
      await alice.expect(REFUSAL);
    }
    const room = await alice.room();
    for (const order of ORDERS) {
      await alice.forge(room, "m.room.message", order);
      if (unencrypted === "deliver") await alice.expect(REFUSAL);
      else await alice.expectNothing();
    }
    assertEquals(done, []);
    await alice.say(room, "!wipe");
    await alice.expect("wiped");
    assertEquals(done, ["wipe"]);
  });
}

Deno.test("T132: a command that is encryptedOnly does not exist for others, in clear either", async () => {
  const { tester, done } = obeying({ admins: ["@owner:localhost"] }, ENCRYPTED_ONLY);
  await using _ = tester;
  await using alice = await encryptedUser(tester, "alice");
  await alice.forge(await alice.room({ encrypted: false }), "m.room.message", text("!wipe"));
  await alice.expectNothing();
  assertEquals(done, ["heard !wipe"]);
});

for (const scope of ["command", "bot"] as const) {
  const options = scope === "bot" ? { encryptedOnly: true } : {};
  const given = scope === "command" ? ENCRYPTED_ONLY : {};

  Deno.test(`T132: what is asked is answered by nothing in clear, by a ${scope} that is encryptedOnly`, async () => {
    const { tester, done } = obeying(
      { encryption: { ...EVERYBODY, unencrypted: "deliver" }, ...options },
      given,
    );
    await using _ = tester;
    await using alice = await encryptedUser(tester, "alice");
    const room = await alice.room();
    await alice.say(room, "!purge");
    const question = await alice.expect("Really?\n\n- yes\n- no");
    await alice.forge(room, "m.reaction", reaction(question, "✅"));
    await alice.forge(room, "m.room.message", text("yes"));
    await alice.expectNothing();
    await alice.say(room, "yes");
    await alice.expect("over");
    await alice.say(room, "!choose");
    const choice = await alice.expect("Which?\n\n- 🔴 red");
    const own = tester.homeserver.room(room).messages.filter(({ sender }) => sender === tester.mxid);
    assert(
      own.every(({ type }) => type !== "m.reaction"),
      "reactions count for nothing, so none is to be shown",
    );
    await alice.forge(room, "m.reaction", reaction(choice, "🔴"));
    await alice.expectNothing();
    await alice.say(room, "🔴");
    await alice.expect("red");
    await alice.say(room, "!ask");
    const open = await alice.expect("Which?");
    await alice.forge(room, "m.reaction", reaction(open, "👍"));
    await alice.sendAimed(room, "m.reaction", reaction(open, "❤️"));
    await alice.forge(room, "m.room.message", text("this"));
    await alice.expectNothing();
    await tester.restart();
    await alice.forge(room, "m.reaction", reaction(open, "🎉"));
    await alice.expectNothing();
    await alice.send(room, "m.reaction", reaction(open, "🌳"));
    await alice.expect("took m.reaction");
    assert(done.includes("purge"));
  });

  Deno.test(`T132: a ${scope} that is encryptedOnly asks nothing where the answer would come in clear`, async () => {
    const { tester, done, askIn } = obeying(options, given);
    await using _ = tester;
    await using alice = await encryptedUser(tester, "alice");
    askIn(await alice.room({ encrypted: false }));
    await alice.say(await alice.room(), "!purge");
    await alice.expect("Sorry, that failed.");
    assert(tester.logged.some((line) => line.includes("it is not encrypted")));
    assertEquals(done.filter((each) => each === "purge"), []);
  });
}

Deno.test("T132: a bot that is encryptedOnly hears nothing in clear but what no client encrypts", async () => {
  const { tester, done } = obeying({
    encryptedOnly: true,
    encryption: { ...EVERYBODY, unencrypted: "deliver" },
  });
  await using _ = tester;
  await using alice = await encryptedUser(tester, "alice");
  for (const room of [await alice.room({ encrypted: false }), await alice.room()]) {
    done.length = 0;
    for (const order of ORDERS) await alice.forge(room, "m.room.message", order);
    const said = await alice.forge(room, "m.room.message", text("hello"));
    await alice.forge(room, "m.reaction", reaction(said, "🔥"));
    await alice.expectNothing();
    assertEquals(done, []);
  }
  const room = await alice.room();
  await alice.say(room, "hello");
  await tester.until(() => done.includes("heard hello"), "It was not heard");
  await alice.forge(room, "m.room.redaction", { redacts: await alice.say(room, "oops") });
  await tester.until(() => done.includes("redaction"), "The redaction was not heard");
});

Deno.test("T132: a bot that could hear nothing is not made, and one whose command is never taken says so", async () => {
  const options = { baseUrl: "https://a.example", accessToken: "t" };
  assertThrows(
    () => new Bot({ ...options, encryptedOnly: true }),
    ValueError,
    "encryptedOnly needs encryption",
  );
  const { tester, done } = obeying({ encryption: undefined }, ENCRYPTED_ONLY);
  await using _ = tester;
  const room = await tester.room("alice");
  await room.say("!wipe");
  await room.expect(REFUSAL);
  assertEquals(done.filter((each) => each === "wipe"), []);
  assert(
    tester.logged.some((line) =>
      line.includes("taken only from encrypted messages") && line.includes("wipe")
    ),
  );
});
