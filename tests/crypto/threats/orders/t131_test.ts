/**
 * What comes in clear decides in an encrypted room: clients send reactions in clear there, so the server,
 * or who has only a user's token, says yes to a question in that user's name, and votes in polls.
 *
 * What must hold: in an encrypted room, a question of yes or no is answered by words, which are
 * encrypted, and by reactions that are encrypted together with what they are to; by those in
 * clear only if the application says so. Nothing of a poll counts that came in clear there.
 * Where nothing is encrypted, all counts.
 *
 * The class of mistake: an event is taken by its type and sender, and not by how it came.
 */

import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { type Bot, type ConfirmOptions, POLL_EVENTS, pollEnd, pollResponse } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { encryptedUser } from "../../../bot/encrypted_user.ts";
import { trying } from "../../../bot/support.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const ENCRYPTED = { encryption: EVERYBODY };

function reaction(event_id: EventID, key: string) {
  return { "m.relates_to": { rel_type: "m.annotation", event_id, key } };
}

/** The keys of the reactions that the bot has shown. */
function shown(tester: BotTester, room: RoomID): unknown[] {
  const own = tester.homeserver.room(room).messages.filter(({ type, sender }) =>
    type === "m.reaction" && sender === tester.mxid
  );
  return own.map(({ content }) => (content["m.relates_to"] as { key?: unknown } | undefined)?.key);
}

/** A bot that asks, and says what was decided. */
function asking(options: ConfirmOptions = {}): BotTester {
  return trying((bot) => {
    bot.command("ask", async (c) => c.send(await c.confirm("Wipe?", options) ? "wiped" : "kept"));
    bot.command("pick", async (c) => c.send(await c.menu("Which?", { "🔴": "red", "🔵": "blue" }, options)));
    bot.command("number", async (c) => c.send(`${await c.menu("Which?", { "1️⃣": 1, "2️⃣": 2 }, options)}`));
  }, ENCRYPTED);
}

Deno.test("T131: in an encrypted room no reaction in clear is a yes, and words are", async () => {
  await using tester = asking();
  await using alice = await encryptedUser(tester, "alice");
  const room = await alice.room();
  await alice.say(room, "!ask");
  const question = await alice.expect("Wipe?\n\n- yes\n- no");
  for (const key of ["✅", "👍", "❌"]) await alice.forge(room, "m.reaction", reaction(question, key));
  await alice.forge(room, "m.room.message", { msgtype: "m.text", body: "yes" });
  await alice.expectNothing();
  assertEquals(shown(tester, room), []);
  await alice.say(room, "no");
  await alice.expect("kept");
});

Deno.test("T131: an encrypted reaction is a yes if it is encrypted what it is to", async () => {
  await using tester = asking();
  await using alice = await encryptedUser(tester, "alice");
  const room = await alice.room();
  await alice.say(room, "!ask");
  const question = await alice.expect(/^Wipe/);
  await alice.sendAimed(room, "m.reaction", reaction(question, "✅"));
  await alice.expectNothing();
  await alice.send(room, "m.reaction", reaction(question, "👍"));
  await alice.expect("wiped");
});

Deno.test("T131: what was asked before a restart is not answered in clear after it either", async () => {
  await using tester = asking();
  await using alice = await encryptedUser(tester, "alice");
  const room = await alice.room();
  await alice.say(room, "!ask");
  const question = await alice.expect(/^Wipe/);
  await tester.restart();
  await alice.forge(room, "m.reaction", reaction(question, "✅"));
  await alice.expectNothing();
  await alice.say(room, "yes");
  await alice.expect("wiped");
});

Deno.test("T131: a menu takes reactions in clear, unless it is told not to; then it names its choices", async () => {
  for (const clearReactions of [undefined, true, false]) {
    await using tester = asking(clearReactions === undefined ? {} : { clearReactions });
    await using alice = await encryptedUser(tester, "alice");
    const room = await alice.room();
    await alice.say(room, "!number");
    const question = await alice.expect(clearReactions === false ? "Which?\n\n- 1️⃣\n- 2️⃣" : "Which?");
    await alice.forge(room, "m.reaction", reaction(question, "2️⃣"));
    if (clearReactions === false) {
      await alice.expectNothing();
      assertEquals(shown(tester, room), []);
      await alice.say(room, "1️⃣");
    }
    await alice.expect(clearReactions === false ? "1" : "2");
    await alice.say(room, "!pick");
    await alice.expect("Which?\n\n- 🔴 red\n- 🔵 blue");
    await alice.say(room, "red");
    await alice.expect("red");
  }
});

Deno.test("T131: with clearReactions a reaction in clear is a yes, as it is where nothing is encrypted", async () => {
  for (const encrypted of [true, false]) {
    await using tester = asking(encrypted ? { clearReactions: true } : {});
    await using alice = await encryptedUser(tester, "alice");
    const room = await alice.room({ encrypted });
    await alice.say(room, "!ask");
    const question = await alice.expect("Wipe?");
    await alice.forge(room, "m.reaction", reaction(question, "👍"));
    await alice.expect("wiped");
    assertEquals(shown(tester, room), ["✅", "❌"]);
  }
});

Deno.test("T131: clear text that the client delivers is no yes in an encrypted room", async () => {
  await using tester = trying((bot) => {
    bot.command("ask", async (c) => c.send(await c.confirm("Wipe?") ? "wiped" : "kept"));
  }, { encryption: { ...EVERYBODY, unencrypted: "deliver" } });
  await using alice = await encryptedUser(tester, "alice");
  const room = await alice.room();
  await alice.say(room, "!ask");
  await alice.expect(/^Wipe/);
  await alice.forge(room, "m.room.message", { msgtype: "m.text", body: "yes" });
  await alice.expectNothing();
  await alice.say(room, "no");
  await alice.expect("kept");
});

Deno.test("T131: votes, edits and the end of a poll count in an encrypted room only if they are encrypted", async () => {
  let bot: Bot | undefined;
  const polls: EventID[] = [];
  await using tester = trying((each) => {
    bot = each.command(
      "poll",
      async (c) => void polls.push((await c.sendPoll("To be?", ["Yes", "No"])).eventId),
    );
    each.command("count", async (c) => {
      const { answers, endedAt } = await c.getPollResults(polls[0] ?? "$none");
      await c.send(
        `${answers.map(({ votes }) => votes).join(":")} ${endedAt === undefined ? "open" : "ended"}`,
      );
    });
  }, ENCRYPTED);
  await using alice = await encryptedUser(tester, "alice");
  const room = await alice.room();
  await alice.say(room, "!poll");
  await tester.until(() => polls.length === 1, "There is no poll");
  const [poll = "$none"] = polls;
  await alice.send(room, POLL_EVENTS.RESPONSE, pollResponse(poll, ["1"]));
  await tester.pass(1);
  await alice.forge(room, POLL_EVENTS.RESPONSE, pollResponse(poll, ["2"]));
  const forged = pollEnd(poll, "over");
  await bot?.client.sendMessageEvent(room, POLL_EVENTS.END, forged, { disableEncryption: true });
  await alice.say(room, "!count");
  await alice.expect("1:0 open");
  const start = { [POLL_EVENTS.START]: { question: { body: "?" }, answers: [{ id: "1", body: "x" }] } };
  const clear = await alice.forge(room, POLL_EVENTS.START, start);
  const { countPoll } = await import("../../../../src/bot/polls/polls.ts");
  await assertRejects(() => countPoll(bot?.client as Bot["client"], room, clear), ValueError, "in clear");
});
