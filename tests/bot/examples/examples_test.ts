import { assert, assertEquals } from "@std/assert";
import { pollResponse } from "@greenroom/matrix/bot";
import type { BotTester, TestRoom } from "@greenroom/matrix/testing";
import type { RoomID } from "@greenroom/matrix/types";
import { assistant } from "../../../examples/bots/assistant/assistant.ts";
import { moderation } from "../../../examples/bots/moderation/moderation.ts";
import { quiz } from "../../../examples/bots/quiz/quiz.ts";
import { reminders } from "../../../examples/bots/reminders/reminders.ts";
import { trying } from "../support.ts";

const MINUTE = 60_000;

Deno.test("The reminder bot reminds after a time or at one, lists what is due, and takes it back", async () => {
  await using tester = trying(reminders);
  const room = await tester.room("alice", "bob");
  await room.say("!remind 10m Tea");
  await room.expectReaction("👍");
  await room.say("!remind 2025-01-01T01:30Z Coffee and cake");
  await room.expectReaction("👍");
  await room.say("!remind soon x");
  await room.expect(/^when: write 10m, 2h30m/);
  await room.say("!reminders");
  await room.expect("1. 2025-01-01 00:10 UTC: Tea\n2. 2025-01-01 01:30 UTC: Coffee and cake");
  await room.as("bob").say("!forget 2");
  await room.expect("It is not yours.");
  await tester.restart();
  await tester.pass(10 * MINUTE);
  await room.expect("Tea");
  await room.say("!forget 1");
  await room.expectReaction("👍");
  await tester.pass(120 * MINUTE);
  await room.expectNothing();
});

/**
 * A model that gives each answer in pieces, or a status in its place, and what it was asked. An answer
 * that ends in "(silence)" gives nothing after that, and does not end.
 */
function stubModel(answers: readonly (readonly string[] | number)[]) {
  const asked: { messages: { role: string; content: string }[] }[] = [];
  let [next, ended] = [0, 0];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    if (request.method === "GET") return new Response(null);
    asked.push(await request.json());
    const pieces = answers[next++] ?? [];
    if (typeof pieces === "number") return new Response(null, { status: pieces });
    const hangs = pieces.at(-1) === "(silence)";
    const data = (hangs ? pieces.slice(0, -1) : pieces).map((content) =>
      `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`
    );
    if (hangs) {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(data.join(""))),
        cancel: () => void ended++,
      });
      return new Response(body);
    }
    const isWhole = pieces.at(-1) !== "…";
    return new Response(data.join("") + (isWhole ? "data: [DONE]\n\n" : ""), {
      headers: { "content-type": "text/event-stream" },
    });
  });
  const { hostname, port } = server.addr;
  return {
    asked,
    /** How many answers were ended by who had asked. */
    ended: () => ended,
    url: `http://${hostname}:${port}/v1`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Waits until a model was asked so often. */
async function asksFor(tester: BotTester, model: ReturnType<typeof stubModel>, times: number): Promise<void> {
  for (let round = 0; round < 200 && model.asked.length < times; round++) {
    await (await fetch(model.url)).body?.cancel();
    await tester.settle();
  }
  assertEquals(model.asked.length, times);
}

/** Waits until the assistant's message of a number reads so, in a thread. */
function saying(
  tester: BotTester,
  { room, root, url }: { readonly room: TestRoom; readonly root: string; readonly url: string },
): (count: number, text: string) => Promise<void> {
  return async (count, text) => {
    const last = () => room.messages[count - 1];
    for (let round = 0; round < 200 && last()?.text !== text; round++) {
      await (await fetch(url)).body?.cancel(); // the model answers over the network
      await tester.settle();
    }
    assertEquals(last()?.text, text);
    assertEquals(last()?.thread, root);
  };
}

Deno.test("The assistant answers in a thread, remembers it through a restart, asks before it acts, and says when it was cut off", async () => {
  await using model = stubModel([
    ["To ", "**be**"],
    ["As you like it.\n", "TOPIC: Shakespeare"],
    ["Half an …", "…"],
  ]);
  await using tester = trying((bot) => assistant(bot, { url: model.url, model: "stub" }));
  const room = await tester.room("alice", "bob");
  await room.say("To be?");
  await room.expectNothing();
  const mentions = { "m.mentions": { user_ids: [tester.mxid] } };
  const root = await room.say("Bot, to be?", { content: mentions });
  const says = saying(tester, { room, root, url: model.url });
  await says(1, "To **be**");
  await tester.restart();
  await room.say("What do you like?", { thread: root });
  await says(2, "As you like it.\nTOPIC: Shakespeare");
  await says(3, "Shall I set the topic to “Shakespeare”?");
  assertEquals(model.asked[1]?.messages.map(({ content }) => content).slice(1), [
    "Bot, to be?",
    "To **be**",
    "What do you like?",
  ]);
  assertEquals(room.view().state("m.room.topic"), undefined);
  await tester.request("alice", "PUT", `/rooms/${encodeURIComponent(room.id)}/state/m.room.power_levels`, {
    users: { [tester.mxid]: 100 },
  });
  await room.say("yes", { thread: root });
  await says(4, "Done.");
  assertEquals(room.view().state("m.room.topic")?.topic, "Shakespeare");
  assertEquals(model.asked.length, 2); // it was not asked again
  await room.say("And?", { thread: root });
  await says(5, "Half an ……\n\n*(interrupted)*");
});

Deno.test("The assistant says in the thread that it got no answer, and goes on when the model is back", async () => {
  await using model = stubModel([500, 200, [], ["Here."]]);
  const asked = { url: model.url, model: "stub" };
  await using tester = trying((bot) => assistant(bot, asked));
  const room = await tester.room("alice");
  const root = await room.say("Are you there?");
  const says = saying(tester, { room, root, url: model.url });
  const sorry = "Sorry, the model can't be asked just now. Please try again later.";
  await says(1, sorry); // it refuses
  await room.say("And now?", { thread: root });
  await says(2, sorry); // its answer breaks off before the first word
  await room.say("And now?", { thread: root });
  await says(3, sorry); // it ends before it
  asked.url = "http://127.0.0.1:1/v1";
  await room.say("And now?", { thread: root });
  await says(4, sorry); // nobody listens
  asked.url = model.url;
  await room.say("Answer me", { thread: root });
  await says(5, "Here.");
  const { messages } = model.asked.at(-1) ?? { messages: [] };
  assertEquals([messages.length, messages[1]?.content], [6, "Are you there?"]); // it knows what it owes
});

Deno.test("The assistant gives a model a minute for each piece of its answer, and then goes on to the next question", async () => {
  await using model = stubModel([["(silence)"], ["Half", "(silence)"], ["Here."]]);
  await using tester = trying((bot) => assistant(bot, { url: model.url, model: "stub" }));
  const room = await tester.room("alice");
  const root = await room.say("Are you there?");
  const says = saying(tester, { room, root, url: model.url });
  await asksFor(tester, model, 1);
  await room.say("And now?", { thread: root });
  await tester.pass(59_999);
  assertEquals([room.messages.length, model.asked.length], [0, 1]);
  await tester.pass(1);
  await says(1, "Sorry, the model has not answered within a minute. Please try again later.");
  await says(2, "Half");
  await room.say("Answer me", { thread: root });
  await tester.pass(59_999);
  assertEquals([room.messages.length, model.asked.length], [2, 2]);
  await tester.pass(1);
  await says(2, "Half\n\n*(interrupted)*");
  await says(3, "Here.");
  for (let round = 0; round < 200 && model.ended() < 2; round++) {
    await (await fetch(model.url)).body?.cancel();
  }
  assertEquals(model.ended(), 2); // nothing of them is left open
});

Deno.test("The quiz bot asks by hidden polls, gives points to who was right, and begins polls for others", async () => {
  await using tester = trying((bot) => quiz(bot, [{ question: "1 + 1?", answers: ["2", "3"] }]));
  const room = await tester.room("alice", "bob");
  const polls = () => room.view().messages.filter(({ type }) => type === "org.matrix.msc3381.poll.start");
  await room.say("!quiz");
  await tester.until(() => polls().length === 1, "it asks");
  await room.say("!quiz");
  await room.expect("A question is open; !solve it first.");
  const [poll] = polls();
  assert(poll !== undefined);
  const content = poll.content["org.matrix.msc3381.poll.start"] as unknown as {
    kind: string;
    answers: { id: string; "org.matrix.msc1767.text": string }[];
  };
  assertEquals(content.kind, "org.matrix.msc3381.poll.undisclosed");
  const idOf = (text: string) =>
    content.answers.find((each) => each["org.matrix.msc1767.text"] === text)?.id ?? "";
  const vote = { ...pollResponse(poll.event_id, [idOf("2")]) };
  await room.send("org.matrix.msc3381.poll.response", vote);
  await room.as("bob").send("org.matrix.msc3381.poll.response", {
    ...pollResponse(poll.event_id, [idOf("3")]),
  });
  await room.say("!solve");
  await room.expect("It was 2. A point for @alice:localhost.");
  await room.say("!points");
  await room.expect("1 @alice:localhost");
  await room.say('!poll "Tea or coffee?" tea, coffee');
  await tester.until(() => polls().length === 2, "it begins a poll");
});

Deno.test("The moderation bot bans whom the list names, now and when they join, and removes messages for admins", async () => {
  let policyRoom: RoomID = "!list:localhost";
  await using tester = trying((bot) => moderation(bot, policyRoom), { admins: ["@alice:localhost"] });
  await tester.start();
  const list = await tester.room("alice");
  policyRoom = list.id;
  await tester.restart(); // which knows the room of the list
  const room = await tester.room("alice", "mallory", "bob");
  const path = `/rooms/${encodeURIComponent(room.id)}/state/m.room.power_levels`;
  await tester.request("alice", "PUT", path, {
    users: { [tester.mxid]: 100 },
  });
  await room.as("bob").say("one");
  await room.as("bob").say("two");
  await room.as("bob").say("!clear @bob:localhost");
  await room.say("!clear @bob:localhost 3");
  await room.expect("Removed 3.");
  const rule = { entity: "@mal*:localhost", recommendation: "m.ban", reason: "spam" };
  const rules = `/rooms/${encodeURIComponent(list.id)}/state/m.policy.rule.user`;
  await tester.request("alice", "PUT", `${rules}/mallory`, rule);
  const banned = (user: string) => room.view().membership(tester.userId(user)) === "ban";
  await tester.until(() => banned("mallory"), "it bans");
  tester.userId("malvolio");
  await tester.request("alice", "POST", `/rooms/${encodeURIComponent(room.id)}/invite`, {
    user_id: tester.userId("malvolio"),
  });
  await tester.restart();
  await tester.request("malvolio", "POST", `/join/${encodeURIComponent(room.id)}`, {});
  await tester.until(() => banned("malvolio"), "it bans who joins");
  assertEquals(room.view().membership(tester.userId("bob")), "join");
});
