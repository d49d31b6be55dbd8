import { assert, assertEquals } from "@std/assert";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import { ConversationEndedError } from "@greenroom/matrix/bot";
import type { FaultPlan, OperationLog } from "../../client/support/crash.ts";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { RestartingBot } from "../../client/support/restarting_bot.ts";
import { clientStage } from "../../client/support/stage.ts";
import { living } from "./living.ts";
import { trying } from "../support.ts";

const BOB = "@bob:localhost";

Deno.test("An answer that another user gives while its question is still being put is taken", async () => {
  await using tester = trying((bot) => {
    bot.command("vote", async (c) => {
      await c.send(await c.confirm("Shall we?", { from: "anyone" }) ? "agreed" : "refused");
    });
    bot.on("message:text", (c) => c.send(`heard ${c}`));
  });
  for (const answer of ["text", "reaction"]) {
    const room = await tester.room("alice", "bob");
    const match = { path: "/send/m.reaction", user: tester.mxid };
    using slow = tester.homeserver.faults.add({ kind: "hold", match });
    await room.say("!vote");
    const { eventId } = await room.expect("Shall we?");
    await tester.until(() => slow.hits === 1, "it reacts");
    if (answer === "text") await room.as("bob").say("yes");
    else await room.as("bob").react(eventId, "👍");
    await room.expectNothing();
    slow.remove();
    await room.expect("agreed");
    await room.as("bob").say("yes");
    await room.expect("heard yes");
  }
});

Deno.test("An answer in another room that is there before the question's own response is taken", async () => {
  const office: { roomId?: RoomID } = {};
  await using tester = trying((bot) => {
    bot.command("ban", async (c) => {
      const answer = await c.ask("Ban them?", { ...office, from: "anyone" });
      await c.reply(`${answer.sender} says ${answer}`);
    });
  });
  const moderators = await tester.room("bob");
  office.roomId = moderators.id;
  const room = await tester.room("alice");
  const path = new RegExp(`${encodeURIComponent(moderators.id)}/send/`);
  using late = tester.homeserver.faults.add({ kind: "hold-after", match: { path, user: tester.mxid } });
  await room.say("!ban");
  await moderators.expect("Ban them?");
  await moderators.say("no");
  await tester.settle();
  late.remove();
  await room.expect(`${BOB} says no`);
});

Deno.test("A user whose answer led to a question for another is not waited for: that one's answer is taken", async () => {
  await using tester = trying((bot) =>
    bot.command("pair", async (c) => {
      const partner = await c.ask("Who joins?", { from: "anyone" });
      const name = await c.ask(`What is your pair called?`); // of alice, in the handler of bob's answer
      await c.send(`${partner} in ${name}`);
    })
  );
  const room = await tester.room("alice", "bob");
  await room.say("!pair");
  await room.expect("Who joins?");
  using late = tester.homeserver.faults.add({
    kind: "hold-after",
    match: { path: "/send/m.room.message", user: tester.mxid },
  });
  await room.as("bob").say("me");
  await room.expect("What is your pair called?");
  await room.say("Bobalice");
  await tester.settle();
  late.remove();
  await room.expect("me in Bobalice");
});

Deno.test("Who is not asked does not wait for a question, nor does a command", async () => {
  await using tester = trying((bot) => {
    bot.command("vote", async (c) => void await c.confirm("Shall we?", { from: BOB }));
    bot.command("ping", (c) => c.send("pong"));
    bot.on("message:text", (c) => c.send(`heard ${c}`));
  });
  const room = await tester.room("alice", "bob", "carol");
  using slow = tester.homeserver.faults.add({ kind: "hold", match: { path: "/send/m.reaction" } });
  await room.say("!vote");
  await room.expect("Shall we?");
  await room.as("carol").say("yes");
  await room.expect("heard yes");
  await room.as("bob").say("!ping");
  await room.expect("pong");
  slow.remove();
});

Deno.test("What comes while a question is being put that fails goes on as if nobody had asked", async () => {
  await using tester = trying((bot) => {
    bot.command("vote", async (c) => void await c.confirm("Shall we?", { from: BOB }));
    bot.on("message:text", (c) => c.send(`heard ${c}`));
  }, { saysFailures: false });
  const room = await tester.room("alice", "bob");
  using slow = tester.homeserver.faults.add({ kind: "hold", match: { path: "/send/m.reaction" }, times: 1 });
  const status = { kind: "status", status: 403, match: { path: "/send/m.reaction" } } as const;
  await room.say("!vote");
  await room.expect("Shall we?");
  await room.as("bob").say("yes");
  await room.expectNothing();
  using _refused = tester.homeserver.faults.add(status);
  slow.remove();
  await room.expect("heard yes");
  await room.as("bob").say("yes");
  await room.expect("heard yes");
});

Deno.test("!cancel of a question that is still being put ends it", async () => {
  await using tester = trying((bot) =>
    bot.command("pair", async (c) => {
      await c.ask("Who joins?", { from: "anyone" });
      try {
        await c.confirm("Shall we?");
      } catch (error) {
        if (error instanceof ConversationEndedError) await c.send(error.reason);
        throw error;
      }
    })
  );
  const room = await tester.room("alice", "bob");
  await room.say("!pair");
  await room.expect("Who joins?");
  using slow = tester.homeserver.faults.add({ kind: "hold", match: { path: "/send/m.reaction" } });
  await room.as("bob").say("me");
  await room.expect("Shall we?");
  await room.say("!cancel");
  await room.expectNothing();
  slow.remove();
  await room.expect("cancelled");
  await room.expectNothing();
});

Deno.test("The list of what a room waits for has no more of a question that is being put than it needs", async () => {
  await using tester = trying((bot) =>
    bot.command("vote", (c) => c.confirm("Shall we?", { from: "anyone" }))
  );
  const room = await tester.room("alice", "bob");
  using _slow = tester.homeserver.faults.add({ kind: "hold", match: { path: "/send/m.reaction" } });
  await room.say("!vote");
  await room.expect("Shall we?");
  const records = await Array.fromAsync(tester.store.list([]));
  const lists = records.filter(({ key }) => key.at(-2) === "bot.waits").map(({ value }) =>
    Deno.inspect(value, { depth: 9 })
  );
  assertEquals(lists.map((each) => [each.includes("isAsking: true"), each.includes("!vote")]), [[
    true,
    false,
  ]]);
});

/** A vote of a bot that ends where it is planned, and goes on; bob answers as soon as he is asked. */
async function vote(plan: FaultPlan): Promise<OperationLog> {
  await using here = clientStage();
  const [alice, bob] = [here.client("alice"), here.client("bob")];
  const rooms: RoomID[] = [];
  const heard: string[] = [];
  let answered = 0;
  alice.on("m.room.message", ({ sender, content }) => {
    if (sender === "@bot:localhost") heard.push(content.body);
  });
  bob.on("INVITE", async ({ room_id }) => void await bob.joinRoom(room_id));
  bob.on("m.room.message", async ({ sender, room_id, content }) => {
    if (sender !== "@bot:localhost" || content.body !== "Shall we?") return;
    answered++;
    await bob.sendText(room_id, "yes");
  });
  for (const each of [alice, bob]) each.start();
  await here.settle();
  const bot = new RestartingBot(here, {
    plans: [plan],
    setUp(client) {
      const kit = living(client);
      kit.command("vote", async (c) => {
        const said = await c.confirm("Shall we?", { from: BOB, roomId: rooms[1] });
        await c.send(said ? "agreed" : "refused");
      });
      kit.on("message:text", (c) => c.send(`heard ${c}`));
      kit.start({ signals: false });
    },
  });
  const { requests } = here.homeserver;
  await bot.until(() => requests.filter("GET", "/sync").some(({ user }) => user === "@bot:localhost"));
  const invitees: UserID[] = ["@bot:localhost", BOB];
  rooms.push(
    await alice.createRoom({ invitees: invitees.slice(0, 1) }),
    await alice.createRoom({ invitees }),
  );
  for (const room of rooms) {
    await bot.until(() => here.homeserver.room(room).membership("@bot:localhost") === "join");
  }
  await bot.settle();
  const [room] = rooms;
  if (room !== undefined) await alice.sendText(room, "!vote");
  await bot.until(() => heard.includes("agreed"));
  await bot.settle();
  await here.clock.tick(60_000);
  await bot.settle();
  const name = bot.crashes.join("; ");
  assertEquals(heard, ["Shall we?", "agreed"], name);
  assertEquals(answered, 1, name);
  await bot.client.close();
  const left = (await bot.records("session")).filter(({ key }) => key.at(-2) !== "bot.inviters");
  assertEquals(left, [], name);
  return bot.log;
}

Deno.test("An answer that is given at once in another room is taken, also after a crash at any moment", async () => {
  const { names } = await atEachCrashPoint(vote);
  assert(names.commit.some((name) => name.includes("session/bot.waits")), names.commit.join("\n"));
  assert(names.request.some((name) => name.includes("send/m.reaction")), names.request.join("\n"));
});
