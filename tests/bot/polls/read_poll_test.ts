/** What polls, their edits and votes say, which anybody may have written. */

import { assertEquals } from "@std/assert";
import { POLL_EVENTS, type PollEvent, pollStart, readPoll } from "@greenroom/matrix/bot";
import { editedPoll, pollOf, readPollVote } from "../../../src/bot/polls/read_poll.ts";

const ALICE = "@alice:a";
const START: PollEvent = {
  type: POLL_EVENTS.START,
  event_id: "$poll",
  sender: ALICE,
  origin_server_ts: 1,
  content: pollStart({ question: "Lunch?", answers: ["Pizza", "Pasta"] }),
};

/** An edit of the poll, to another question. */
function edit(question: string, change: Partial<PollEvent> = {}, relation: object = {}): PollEvent {
  const content = {
    ...pollStart({ question: `* ${question}`, answers: ["A", "B"] }),
    "m.new_content": pollStart({ question, answers: ["A", "B"] }),
    "m.relates_to": { rel_type: "m.replace", event_id: "$poll", ...relation },
  };
  return { ...START, event_id: "$1", origin_server_ts: 2, content, ...change };
}

/** What is asked after edits. */
const asked = (...edits: PollEvent[]) => readPoll(editedPoll(START, edits).content)?.question;

Deno.test("A poll is edited by who has made it, by what is a poll and an edit of this one", () => {
  assertEquals([asked(), asked(edit("Dinner?"))], ["Lunch?", "Dinner?"]);
  const none = [
    edit("Dinner?", { sender: "@mallory:a" }),
    edit("Dinner?", { type: "m.room.message" }),
    edit("Dinner?", { type: POLL_EVENTS.END }),
    edit("Dinner?", { content: { ...edit("Dinner?").content, "m.new_content": { body: "Dinner?" } } }),
    edit("Dinner?", {}, { rel_type: "m.reference" }),
    edit("Dinner?", {}, { event_id: "$other" }),
  ];
  for (const event of none) assertEquals(asked(event), "Lunch?", JSON.stringify(event));
  assertEquals(asked(...none), "Lunch?");
});

Deno.test("Of the edits of a poll the latest counts, of two at a time the one with the greater ID, in any order", () => {
  const edits = [
    edit("First?"),
    edit("Second?", { origin_server_ts: 3, event_id: "$2" }),
    edit("Third?", { origin_server_ts: 3, event_id: "$3" }),
  ];
  assertEquals([asked(...edits), asked(...edits.toReversed())], ["Third?", "Third?"]);
  assertEquals(asked(...edits.slice(0, 2).toReversed()), "Second?");
  const older = edit("Older?", { event_id: "$9" });
  assertEquals([asked(older, ...edits.slice(0, 2)), asked(...edits.slice(0, 2), older)], [
    "Second?",
    "Second?",
  ]);
});

Deno.test("A poll without a question or answers is none, and one vote counts unless it says how many", () => {
  const poll = (question: object | undefined, answers: unknown, more: object = {}) =>
    readPoll({ "m.poll": { question, answers, ...more } });
  const text = (body: unknown) => ({ "m.text": [{ body }] });
  const answers = [{ "m.id": "a", ...text("A") }, { "m.id": "b", ...text(7) }, text("C")];
  assertEquals(poll(text("?"), answers)?.answers, [{ id: "a", text: "A" }]);
  assertEquals([poll(undefined, answers), poll(text("?"), []), poll(text("?"), "a")], [
    undefined,
    undefined,
    undefined,
  ]);
  const most = (max_selections: unknown) => poll(text("?"), answers, { max_selections })?.maxSelections;
  assertEquals(["2", 0, -1, 1.5, Infinity, 1, 2].map(most), [1, 1, 1, 1, 1, 1, 2]);
  const formatted = { "m.text": [null, { mimetype: "text/html", body: "<b>" }, { body: "plain" }] };
  assertEquals(poll(formatted, answers)?.question, "plain");
  assertEquals(poll({ "m.text": [], body: "fallback" }, answers)?.question, "fallback");
  const html = Array(20).fill({ mimetype: "text/html", body: "<b>" });
  assertEquals(
    poll({ "m.text": [...html, { body: "far" }], body: "fallback" }, answers)?.question,
    "fallback",
  );
  const kinds = ["m.disclosed", "org.matrix.msc3381.poll.disclosed", "m.poll.disclosed", "m.other"];
  const isUndisclosed = (kind: string) => poll(text("?"), answers, { kind })?.isUndisclosed;
  assertEquals(kinds.map(isUndisclosed), [false, false, false, true]);
});

Deno.test("A vote or an end is for the poll that it refers to, and for none otherwise", () => {
  const vote = (relation: unknown, selections: unknown = ["a"]) =>
    readPollVote({ "m.relates_to": relation, "m.selections": selections });
  const reference = { rel_type: "m.reference", event_id: "$poll" };
  assertEquals(vote(reference), { pollId: "$poll", selections: ["a"] });
  for (const selections of ["a", [1], { 0: "a" }]) {
    assertEquals(vote(reference, selections)?.selections, undefined);
  }
  const none = [{ ...reference, rel_type: "m.thread" }, { ...reference, event_id: "poll" }, {
    ...reference,
    event_id: 7,
  }, undefined];
  for (const relation of none) {
    assertEquals([vote(relation), pollOf({ "m.relates_to": relation })], [undefined, undefined]);
  }
});
