import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { Composer } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

Deno.test("powerLevel hides a command from users below that level in the room", async () => {
  await using tester = trying((bot) => {
    bot.command("close", { powerLevel: 50 }, (c) => c.reply(`Closed for ${c.sender}`));
    bot.command("open", { powerLevel: 0 }, (c) => c.reply(`Open for ${c.sender}`));
    bot.command("wipe", { powerLevel: 50, access: "admins" }, (c) => c.reply("Wiped"));
    bot.command("none", { powerLevel: 50, access: () => false }, (c) => c.reply("Never"));
  });
  const room = await tester.room("alice", "bob"); // who has made it has 100
  await room.as("bob").say("!close");
  for (const said of ["!wipe", "!none"]) await room.say(said); // alice is no admin
  await room.expectNothing();
  await room.as("bob").say("!open");
  await room.expect("Open for @bob:localhost");
  await room.say("!close");
  await room.expect("Closed for @alice:localhost");
});

Deno.test("!help shows a command with powerLevel only to users of that level", async () => {
  await using tester = trying((bot) => {
    bot.command("secret", { powerLevel: 50, description: "only mods" }, (c) => c.reply("Said"));
    bot.command("open", { description: "for all" }, (c) => c.reply("Open"));
  });
  const room = await tester.room("alice", "bob"); // who has made it has 100
  await room.as("bob").say("!help");
  const shown = (await room.expect(/open/)).text;
  assert(!shown.includes("secret"), shown);
  await room.as("bob").say("!help secret");
  const about = (await room.expect(/./)).text;
  assert(!about.includes("only mods"), about);
  await room.say("!help");
  await room.expect(/secret.*only mods/);
  await room.say("!help secret");
  await room.expect(/only mods/);
});

Deno.test("powerLevel is a number, and what others call it is answered with its name", () => {
  const composer = new Composer();
  const add = (options: object) => () => composer.command("x", options as never, () => {});
  assertThrows(add({ powerLevel: "50" }), ValueError, "powerLevel must be a number");
  for (const name of ["minPowerLevel", "minPower", "requiredPowerLevel"]) {
    assertThrows(add({ [name]: 50 }), ValueError, "write powerLevel");
  }
  assertThrows(add({ cooldown: "10s" }), ValueError, "write the bot's option rateLimit");
  const isDirect = "access: async (c) => (await c.client.stateStore.getMembers(c.roomId)).size === 2";
  assertThrows(add({ scope: "direct" }), ValueError, isDirect);
  assertEquals(composer.commands.length, 0);
});

Deno.test("What is answered to scope keeps a command to direct chats", async () => {
  await using tester = trying((bot) => {
    bot.command("whisper", {
      access: async (c) => (await c.client.stateStore.getMembers(c.roomId)).size === 2,
    }, (c) => c.reply("Psst"));
  });
  const direct = await tester.room("alice");
  const room = await tester.room("alice", "bob");
  await room.say("!whisper");
  await room.expectNothing();
  await direct.say("!whisper");
  await direct.expect("Psst");
});
