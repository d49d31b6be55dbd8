import { assertEquals } from "@std/assert";
import { ForbiddenError } from "@greenroom/matrix";
import type { Context } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

/** A room in which the bot has a power level of 100, and what its function does there. */
async function moderated(work: (c: Context) => Promise<unknown>) {
  const tester = trying((bot) => bot.command("do", work as (c: Context) => Promise<unknown>));
  const room = await tester.room("alice", "bob");
  const levels = { users: { [tester.mxid]: 100 }, events_default: 0 };
  const path = `/rooms/${encodeURIComponent(room.id)}/state/m.room.power_levels/`;
  await tester.request("alice", "PUT", path, levels);
  return { tester, room };
}

Deno.test("c.room.setPowerLevel() changes one user's level, and no other", async () => {
  const { tester: own, room } = await moderated(async (c) => {
    await c.room.setPowerLevel("@bob:localhost", 50);
    await c.reply(`${await c.room.getPowerLevel("@bob:localhost")}`);
  });
  await using tester = own;
  await room.say("!do");
  await room.expect("50");
  const levels = room.view().state("m.room.power_levels");
  assertEquals([levels?.users, levels?.events_default], [{ [tester.mxid]: 100, "@bob:localhost": 50 }, 0]);
});

Deno.test("What the homeserver refuses of levels is an error, and so is what is no level", async () => {
  await using tester = trying((bot) =>
    bot.command("do", async (c) => {
      const refused = await c.room.setPowerLevel(c.sender, 50).catch((error) => error);
      const wrong = await c.room.setPowerLevel(c.sender, 1.5).catch((error) => error);
      await c.reply(`${refused instanceof ForbiddenError} ${wrong.message}`, { format: "plain" });
    })
  );
  const room = await tester.room("alice");
  await room.say("!do");
  await room.expect("true Cannot set a power level: it must be a whole number, not 1.5");
});

Deno.test("c.room.enableEncryption() encrypts the room, which c.room says at once", async () => {
  const { tester: own, room } = await moderated(async (c) => {
    const before = c.room.isEncrypted;
    await c.room.enableEncryption();
    c.log.info(`${before} ${c.room.isEncrypted}`);
  });
  await using tester = own;
  await room.say("!do");
  await tester.until(() => tester.logged.includes("false true"), "The bot was to encrypt the room");
  assertEquals(room.view().state("m.room.encryption"), { algorithm: "m.megolm.v1.aes-sha2" });
});

Deno.test("c.room.pin() and unpin() change the pinned messages, and no more than they have to", async () => {
  const { tester: own, room } = await moderated(async (c) => {
    for (const eventId of ["$a", "$b", "$a"] as const) await c.room.pin(eventId);
    await c.unpin("$a");
    await c.unpin("$gone");
    const wrong = await c.pin("a" as "$a").catch((error) => error);
    await c.reply(wrong.message, { format: "plain" });
  });
  await using tester = own;
  await room.say("!do");
  await room.expect("Cannot pin a message: a is no event ID; give a message, or its event ID");
  assertEquals(room.view().state("m.room.pinned_events"), { pinned: ["$b"] });
  const changes = tester.homeserver.requests.filter("PUT", "/state/m.room.pinned_events");
  assertEquals(changes.length, 3);
});

Deno.test("A tested user joins and leaves, and the bot has its own user ID", async () => {
  await using tester = trying((bot) => {
    bot.on("join", (c) => c.send(`Welcome, ${c.displayName}, says ${bot.userId}`, { format: "plain" }));
    bot.on("leave", (c) => c.send(`Goodbye, ${c.displayName}`, { format: "plain" }));
  });
  const room = await tester.room("alice");
  await room.as("carol").join();
  await room.expect("Welcome, carol, says @bot:localhost");
  await room.as("carol").leave();
  await room.expect("Goodbye, carol");
});

Deno.test("The types know that a reaction has its key, and an image its media", async () => {
  await using tester = trying((bot) => {
    bot.on("reaction", (c) => c.send(c.reaction.key satisfies string));
    bot.on(["image", "file"], (c) => c.reply(c.media.filename satisfies string));
  });
  const room = await tester.room("alice");
  await room.react(await room.say("hello"), "👋");
  await room.expect("👋");
  await room.send("m.room.message", { msgtype: "m.image", body: "a.png", url: "mxc://localhost/a" });
  await room.expect("a.png");
});

Deno.test("What says that it is an image or a sticker, and is none, is no such query", async () => {
  const heard: string[] = [];
  await using tester = trying((bot) => {
    bot.on(["image", "sticker"], () => void heard.push("parts"));
    bot.use((c) => void heard.push(c.event.type));
  });
  const room = await tester.room("alice");
  await room.send("m.room.message", { msgtype: "m.image", body: "a.png" } as never);
  await room.send("m.sticker", { body: "a hand" } as never);
  await tester.settle();
  assertEquals(heard.slice(-2), ["m.room.message", "m.sticker"]);
});
