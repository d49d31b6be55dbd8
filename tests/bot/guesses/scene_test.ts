import { assert, assertEquals, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import type { Bot } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

const ENCRYPTION = { algorithm: "m.megolm.v1.aes-sha2" };

/**
 * A room with a name and a topic, of a user with a display name, and what the bot's function has read there.
 */
async function scene(setUp: (bot: Bot) => void) {
  const tester = trying(setUp);
  const room = await tester.room("alice");
  await tester.request("alice", "PUT", "/profile/@alice:localhost/displayname", { displayname: "Alice" });
  const set = (type: string, content: Record<string, unknown>) =>
    tester.request("alice", "PUT", `/rooms/${encodeURIComponent(room.id)}/state/${type}/`, content);
  await set("m.room.name", { name: "Stage" });
  await set("m.room.topic", { topic: "Hamlet" });
  return { tester, room, set };
}

Deno.test("c.room has its name and topic, and c the sender's name, without waiting", async () => {
  const { tester: own, room, set } = await scene((bot) => {
    bot.command("scene", (c) => c.reply(`${c.displayName} in ${c.room.name}: ${c.room.topic}`));
  });
  await using tester = own;
  await room.say("!scene");
  await room.expect("Alice in Stage: Hamlet");
  await set("m.room.name", { name: "Back stage" });
  await set("m.room.topic", { topic: "" });
  await room.say("!scene");
  await room.expect("Alice in Back stage: undefined");
  await tester.restart();
  await room.say("!scene");
  await room.expect("Alice in Back stage: undefined");
});

Deno.test("A user without a display name is called by the ID, and a room without a name by none", async () => {
  await using tester = trying((bot) =>
    bot.command(
      "scene",
      (c) => c.reply(`${c.displayName} ${c.room.name} ${c.room.isEncrypted}`, { format: "plain" }),
    )
  );
  const room = await tester.room("alice");
  await tester.request("alice", "PUT", "/profile/@alice:localhost/displayname", { displayname: " " });
  await room.say("!scene");
  await room.expect("@alice:localhost undefined false");
});

Deno.test("c.room.isEncrypted says whether the room is encrypted, though an event was sent in clear", async () => {
  const seen: unknown[] = [];
  const { tester: own, room, set } = await scene((bot) => {
    bot.on("m.room.encryption", (c) => void seen.push(c.room.isEncrypted, c.encryption));
  });
  await using tester = own;
  await set("m.room.encryption", ENCRYPTION);
  await tester.until(() => seen.length > 0, "The bot was to see it");
  assertEquals(seen, [true, undefined]);
  assert(room.id);
});

Deno.test("A name that the function sets is read at once, from c.room as from c", async () => {
  const { tester: own, room } = await scene((bot) => {
    bot.command("rename <name>", async (c) => {
      await c.room.setName(c.args.name);
      await c.setTopic("Macbeth");
      await c.reply(`${c.room.name}: ${c.room.topic}`);
    });
  });
  await using tester = own;
  const levels = { users: { "@bot:localhost": 100 } };
  await tester.request(
    "alice",
    "PUT",
    `/rooms/${encodeURIComponent(room.id)}/state/m.room.power_levels/`,
    levels,
  );
  await room.say("!rename Cellar");
  await room.expect("Cellar: Macbeth");
});

const REPLAYS: [name: string, between: (of: Awaited<ReturnType<typeof scene>>) => unknown][] = [
  ["at once", () => {}],
  ["after a change by another", async ({ set }) => {
    await set("m.room.name", { name: "Cellar" });
    await set("m.room.topic", { topic: "Othello" });
  }],
  ["after a restart", ({ tester }) => tester.restart()],
];

for (const [when, between] of REPLAYS) {
  Deno.test(`What a conversation has read of the room stays the same in it, ${when}`, async () => {
    const begun = await scene((bot) => {
      bot.command("play", async (c) => {
        if (c.room.topic === "Hamlet") await c.setTopic("Macbeth");
        if (c.room.name === "Stage") await c.reply("On stage.");
        const first = await c.ask("First?");
        if (first.room.topic === "Macbeth" || first.room.topic === "Othello") {
          await first.room.setTopic("Lear");
        }
        const name = first.room.name;
        const second = await c.ask("Second?");
        await c.reply(`${c.room.name}, ${c.room.topic}; ${name === first.room.name}, ${second.room.topic}`);
      });
    });
    const { room, set } = begun;
    await using tester = begun.tester;
    await set("m.room.power_levels", { users: { "@bot:localhost": 100 } });
    await room.say("!play");
    await room.expect("On stage.");
    await room.expect("First?");
    await tester.settle();
    await between(begun);
    await room.say("one");
    await room.expect("Second?");
    await tester.settle();
    await between(begun);
    await room.say("two");
    const topic = when === "after a change by another" ? "Othello" : "Lear";
    await room.expect(`Stage, Macbeth; true, ${topic}`);
  });
}

Deno.test("An answer has its own sender's name, and so has the function when it goes on", async () => {
  const { tester: own, room } = await scene((bot) => {
    bot.command("who", async (c) => {
      const answer = await c.ask("Who?", { from: "anyone" });
      await c.reply(`${c.displayName} asked ${answer.displayName} in ${answer.room.name}`);
    });
  });
  await using tester = own;
  await room.say("!who");
  await room.expect("Who?");
  const invited = { user_id: tester.userId("bob") };
  await tester.request("alice", "POST", `/rooms/${encodeURIComponent(room.id)}/invite`, invited);
  await tester.request("bob", "POST", `/join/${encodeURIComponent(room.id)}`, {});
  await room.as("bob").say("I");
  await room.expect("Alice asked bob in Stage");
});

Deno.test("A reminder's function knows its room, and another room has to be read", async () => {
  const { tester: own, room } = await scene((bot) => {
    bot.command("later", (c) => c.remind("1m", { name: "later" }));
    bot.reminder("later", async (c) => {
      const other = c.in(c.roomId).room;
      assertThrows(() => other.name, ValueError, "write await getName()");
      await c.send(`${c.room.name} ${await other.getName()}`);
    });
  });
  await using tester = own;
  await room.say("!later");
  await tester.pass("1m");
  await room.expect("Stage Stage");
});

Deno.test("c.room.getMembers() reads all who are in the room, also those that the server has not sent", async () => {
  const { tester: own, room } = await scene((bot) => {
    bot.command("members", async (c) => {
      const members = await c.room.getMembers();
      const names = [...members.values()].map(({ displayname }) => displayname).sort();
      await c.reply(names.join(" "));
    });
  });
  await using _tester = own;
  await room.say("!members");
  await room.expect("Alice bot");
});
