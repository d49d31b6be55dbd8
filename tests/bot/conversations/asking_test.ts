/**
 * Where a question is put, as what, and what it refuses.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Bot, Context } from "@greenroom/matrix/bot";
import type { RoomID } from "@greenroom/matrix/types";
import { encryptedUser } from "../encrypted_user.ts";
import { EVERYBODY } from "../../support/everybody.ts";
import { trying } from "../support.ts";

const UNKNOWN = { timeOut: 1_000 } as object;
const ASKING: Record<string, (c: Context) => Promise<unknown>> = {
  ask: (c) => c.ask("Well?", UNKNOWN),
  wait: (c) => c.wait(UNKNOWN),
  confirm: (c) => c.confirm("Well?", UNKNOWN),
  menu: (c) => c.menu("Well?", ["one"], UNKNOWN),
};

for (const [name, ask] of Object.entries(ASKING)) {
  Deno.test(`c.${name}() refuses an option that there is not, and asks nothing`, async () => {
    let refused = "";
    await using tester = trying((bot) =>
      bot.command("go", async (c) => {
        await ask(c).catch((error: Error) => void (refused = `${error.name}: ${error.message}`));
        await c.send("over");
      })
    );
    const room = await tester.room("alice");
    await room.say("!go");
    await room.expect("over");
    assertEquals(refused, `ValueError: Cannot ${name}: there is no option timeOut; did you mean timeout?`);
  });
}

Deno.test("A question replies to what began it, in its own room, and to nothing in another", async () => {
  const elsewhere: { roomId?: RoomID } = {};
  await using tester = trying((bot) => {
    bot.command("here", async (c) => void await c.ask("Here?"));
    bot.command("same", async (c) => void await c.ask("Same?", { roomId: c.roomId }));
    bot.command("there", async (c) => void await c.ask("There?", elsewhere));
  });
  const office = await tester.room("bob");
  elsewhere.roomId = office.id;
  const room = await tester.room("alice", "carol", "dave");
  for (const [user, text] of [["alice", "Here?"], ["carol", "Same?"]] as const) {
    const command = await room.as(user).say(`!${text.slice(0, -1).toLowerCase()}`);
    assertEquals((await room.expect(text)).replyTo, command);
  }
  await room.as("dave").say("!there");
  assertEquals((await office.expect("There?")).replyTo, undefined);
});

Deno.test("A bot that takes only what is encrypted asks in another room that is encrypted", async () => {
  const elsewhere: { roomId?: RoomID } = {};
  await using tester = trying(
    (bot: Bot) =>
      bot.command(
        "ask",
        async (c) => c.reply(`Heard ${await c.ask("Well?", { ...elsewhere, from: "anyone" })}`),
      ),
    { encryption: EVERYBODY, encryptedOnly: true },
  );
  await using alice = await encryptedUser(tester, "alice");
  const office = elsewhere.roomId = await alice.room();
  await alice.say(await alice.room(), "!ask");
  await alice.expect("Well?");
  await alice.say(office, "tea");
  await alice.expect("Heard tea");
});
