import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ForbiddenError, ValueError } from "@greenroom/matrix";
import { Bot, type BotRoom } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";

/** What a bot has in its room, and the way for alice to make it a moderator. */
function moderated(setUp: (bot: Bot) => void) {
  let made: Bot | undefined;
  const tester = new BotTester((options) => {
    const bot = made = new Bot({ ...options, saysFailures: false });
    setUp(bot);
    return bot;
  });
  return {
    tester,
    bot: () => made as Bot,
    promote: async (roomId: string) => {
      const users = { [made?.client.mxid ?? ""]: 90 };
      await tester.request("alice", "PUT", `/rooms/${roomId}/state/m.room.power_levels`, { users });
    },
    member: async (roomId: string, name: string) => {
      const path = `/rooms/${roomId}/state/m.room.member/${tester.userId(name)}`;
      const { membership, reason } = await tester.request("alice", "GET", path);
      return [membership, reason];
    },
  };
}

Deno.test("A context kicks, bans, unbans and invites in its room, and says why", async () => {
  const { tester, promote, member } = moderated((bot) => {
    const args = { user: "user" } as const;
    bot.command("kick <user> [reason...]", { args }, (c) => c.kick(c.args.user, c.args.reason));
    bot.command("ban <user> [reason...]", { args }, (c) => c.ban(c.args.user, c.args.reason));
    bot.command("back <user>", { args }, async (c) => {
      await c.unban(c.args.user);
      await c.invite(c.args.user, "Sorry");
      await c.reply("done");
    });
  });
  await using _ = tester;
  const room = await tester.room("alice", "bob");
  await promote(room.id);
  for (
    const [text, ...state] of [
      [`!kick ${tester.userId("bob")} heckling again`, "leave", "heckling again"],
      [`!ban ${tester.userId("bob")}`, "ban", ""],
      [`!back ${tester.userId("bob")}`, "invite", "Sorry"],
    ] as const
  ) {
    await room.say(text);
    await tester.settle();
    assertEquals(await member(room.id, "bob"), state);
  }
});

Deno.test("A room outside of functions moderates too, and names and describes it; what is refused fails", async () => {
  const { tester, bot, promote, member } = moderated(() => {});
  await using _ = tester;
  const { id } = await tester.room("alice", "bob");
  const room = bot().in(id);
  await assertRejects(() => room.kick(tester.userId("bob")), ForbiddenError);
  await promote(id);
  await room.ban(tester.userId("bob"), "spam");
  assertEquals(await member(id, "bob"), ["ban", "spam"]);
  await room.setName("Stage");
  await room.setTopic("Begins at eight");
  const state = async (type: string) => await tester.request("alice", "GET", `/rooms/${id}/state/${type}`);
  assertEquals([await state("m.room.name"), await state("m.room.topic")], [
    { name: "Stage" },
    { topic: "Begins at eight" },
  ]);
  await room.setTopic("");
  assertEquals(await state("m.room.topic"), { topic: "" });
});

Deno.test("A reason, a name or a topic that is no text is refused before anything is sent", async () => {
  const bot = new Bot({ homeserver: "https://matrix.example.org", log: false });
  const room = bot.in("!a:b.c") as BotRoom;
  const reason = { reason: "spam" } as never;
  for (const name of ["kick", "ban", "unban", "invite"] as const) {
    await assertRejects(
      () => room[name]("@a:b.c", reason),
      ValueError,
      `${name}: the reason must be a string`,
    );
  }
  await assertRejects(() => room.redact("$a", reason), ValueError, "redact: the reason must be a string");
  await assertRejects(
    () => room.setName(7 as never),
    ValueError,
    "setName: the text must be a string",
  );
  await assertRejects(
    () => room.setTopic({} as never),
    ValueError,
    "setTopic: the text must be a string",
  );
  assertThrows(() => bot.in("!a:b.c", "$a" as never), ValueError, "must be an object");
});
