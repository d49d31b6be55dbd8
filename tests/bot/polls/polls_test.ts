import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ValueError } from "@greenroom/matrix";
import type { UserID } from "../../../types.ts";
import {
  POLL_EVENTS,
  pollEnd,
  type PollEvent,
  type PollOptions,
  pollResponse,
  pollStart,
  readPoll,
  tallyPoll,
  type TallyPollOptions,
} from "@greenroom/matrix/bot";
import { readPollVote } from "../../../src/bot/polls/read_poll.ts";
import { countOf, tallyOf } from "../../../src/bot/polls/tally_poll.ts";

const ALICE = "@alice:a.b";
let ids = 0;

function event(type: string, content: object, sender: UserID, at: number): PollEvent {
  return { type, event_id: `$${ids++}`, sender, origin_server_ts: at, content };
}

function poll(options = {}): PollEvent {
  const content = pollStart({ question: "Lunch?", answers: ["Pizza", "Pasta", "Soup"], ...options });
  return event(POLL_EVENTS.START, content, ALICE, 100);
}

const vote = (start: PollEvent, user: string, at: number, ...answers: string[]) =>
  event(POLL_EVENTS.RESPONSE, pollResponse(start.event_id, answers), `@${user}:a.b`, at);
const end = (start: PollEvent, user: string, at: number) =>
  event(POLL_EVENTS.END, pollEnd(start.event_id, "over"), `@${user}:a.b`, at);
const counts = (...given: Parameters<typeof tallyPoll>) =>
  tallyPoll(...given).answers.map(({ votes }) => votes);

Deno.test("pollStart() writes what clients with and without polls show", () => {
  assertEquals(
    pollStart({ question: "To be?", answers: ["Yes", { id: "n", text: "No" }], undisclosed: true }),
    {
      "org.matrix.msc3381.poll.start": {
        kind: "org.matrix.msc3381.poll.undisclosed",
        max_selections: 1,
        question: { "org.matrix.msc1767.text": "To be?", body: "To be?", msgtype: "m.text" },
        answers: [{ id: "1", "org.matrix.msc1767.text": "Yes" }, {
          id: "n",
          "org.matrix.msc1767.text": "No",
        }],
      },
      "org.matrix.msc1767.text": "To be?\n1. Yes\n2. No",
    },
  );
});

Deno.test("pollStart() refuses a poll that nobody can answer", () => {
  const good = { question: "a", answers: ["b", "c"] };
  for (
    const bad of [
      { question: " " },
      { answers: [] },
      { answers: Array(21).fill("a") },
      { answers: ["a", " "] },
      { answers: [{ id: "a", text: "b" }, { id: "a", text: "c" }] },
      { maxSelections: 0 },
      { maxSelections: 3 },
      { maxSelections: 1.5 },
    ]
  ) assertThrows(() => pollStart({ ...good, ...bad }), ValueError, "Cannot start the poll: ");
  assertThrows(() => pollStart({ ...good, answers: [] }), ValueError, "there are 0 answers");
  assertThrows(() => pollStart({ ...good, answers: [{ id: "", text: "a" }] }), ValueError, "says nothing");
  assertThrows(() => pollStart({ ...good, maxSelection: 1 } as PollOptions), ValueError, "maxSelections?");
  assertEquals(readPoll(pollStart({ ...good, answers: Array(20).fill("a") }))?.answers.length, 20);
});

Deno.test("readPoll() reads what pollStart() writes, and what the specification has", () => {
  const stable = {
    "m.text": [{ body: "Lunch?" }],
    "m.poll": {
      kind: "m.disclosed",
      max_selections: 2,
      question: { "m.text": [{ mimetype: "text/html", body: "<b>" }, { body: "Lunch?" }] },
      answers: [
        { "m.id": "a", "m.text": [{ body: "Pizza" }] },
        { "m.id": "b", "m.text": [{ mimetype: "text/plain", body: "Pasta" }] },
        { "m.id": "a", "m.text": [{ body: "again" }] },
        { "m.id": 7, "m.text": [{ body: "x" }] },
      ],
    },
  };
  const answers = [{ id: "a", text: "Pizza" }, { id: "b", text: "Pasta" }];
  const read = { question: "Lunch?", answers, maxSelections: 2, isUndisclosed: false };
  assertEquals(readPoll(stable), read);
  assertEquals(readPoll(pollStart({ question: "Lunch?", answers, maxSelections: 2 })), read);
});

Deno.test("readPoll() takes what it does not know for undisclosed with one selection, and cuts off after 20 answers", () => {
  const answers = Array.from({ length: 25 }, (_, id) => ({ id: `${id}`, "org.matrix.msc1767.text": "a" }));
  const block = {
    question: { "org.matrix.msc1767.text": "?" },
    answers,
    kind: "org.example.secret",
    max_selections: -1,
  };
  const read = readPoll({ "org.matrix.msc3381.poll.start": block });
  assertEquals([read?.answers.length, read?.maxSelections, read?.isUndisclosed], [20, 1, true]);
});

Deno.test("tallyPoll() counts the last vote of each user", () => {
  const start = poll();
  const votes = [vote(start, "bob", 3, "2"), vote(start, "bob", 1, "1"), vote(start, "carol", 2, "2")];
  const tally = tallyPoll(start, votes);
  assertEquals(tally.answers.map(({ votes }) => votes), [0, 2, 0]);
  assertEquals(tally.winners.map(({ text, voters }) => [text, voters]), [["Pasta", [
    "@carol:a.b",
    "@bob:a.b",
  ]]]);
  assertEquals([tally.voters, tally.spoiled, tally.endedAt, tally.canShow], [2, [], undefined, true]);
});

Deno.test("tallyPoll() says who has won: those with the most votes, and nobody else", () => {
  const start = poll();
  const votes = [vote(start, "bob", 1, "1"), vote(start, "carol", 1, "1"), vote(start, "dave", 1, "2")];
  const winners = tallyPoll(start, votes).winners;
  assertEquals(winners.map(({ text }) => text), ["Pizza"]);
  assertEquals(
    pollEnd("$poll", tallyPoll(start, votes))["org.matrix.msc1767.text"],
    "The poll has ended. Top answer: Pizza (2 votes)",
  );
});

Deno.test("What the creator of a poll sends to it ends it only if it is an end", () => {
  const start = poll();
  const other = { ...end(start, "alice", 5), type: "m.room.message" };
  assertEquals(tallyPoll(start, [other, vote(start, "bob", 9, "1")]).endedAt, undefined);
});

Deno.test("tallyPoll() asks who may redact only of those who sent an end, and takes no other options", () => {
  const start = poll();
  const asked: string[] = [];
  const canRedact = (user: string) => asked.push(user) > 0;
  const { endedAt } = tallyPoll(start, [vote(start, "bob", 1, "1"), end(start, "carol", 5)], { canRedact });
  assertEquals([endedAt, asked], [5, ["@carol:a.b"]]);
  assertThrows(
    () => tallyPoll(start, [], { canredact: canRedact } as TallyPollOptions),
    ValueError,
    "canRedact?",
  );
});

Deno.test("tallyPoll() cuts off too many selections, and counts none twice", () => {
  const start = poll({ maxSelections: 2 });
  assertEquals(counts(start, [vote(start, "bob", 1, "1", "2", "3")]), [1, 1, 0]);
  assertEquals(counts(start, [vote(start, "bob", 1, "1", "1", "2")]), [1, 0, 0]);
  assertEquals(counts(start, [vote(start, "bob", 1, "1", "2", "unknown")]), [1, 1, 0]);
});

Deno.test("tallyPoll() lets a vote be taken back, and spoils one with an unknown answer or none", () => {
  const start = poll({ maxSelections: 2 });
  const bad = event(
    POLL_EVENTS.RESPONSE,
    { ...pollResponse(start.event_id, []), [POLL_EVENTS.RESPONSE]: 5 },
    "@d:a.b",
    2,
  );
  const votes = [
    vote(start, "b", 1, "1"),
    vote(start, "b", 2),
    vote(start, "c", 1, "1"),
    vote(start, "c", 2, "1", "unknown"),
    vote(start, "d", 1, "1"),
    bad,
  ];
  const tally = tallyPoll(start, votes);
  assertEquals(tally.spoiled.toSorted(), ["@b:a.b", "@c:a.b", "@d:a.b"]);
  assertEquals([tally.voters, tally.winners], [0, []]);
});

Deno.test("tallyPoll() goes back to the vote before one that was redacted", () => {
  const start = poll();
  const redacted = event(POLL_EVENTS.RESPONSE, {}, "@bob:a.b", 2);
  assertEquals(counts(start, [vote(start, "bob", 1, "1"), redacted]), [1, 0, 0]);
});

Deno.test("tallyPoll() ends with the first end of the creator or of somebody who may redact", () => {
  const start = poll({ undisclosed: true });
  const votes = [vote(start, "b", 9, "1"), vote(start, "b", 11, "2"), vote(start, "c", 10, "3")];
  assert(!tallyPoll(start, votes).canShow);
  const ended = tallyPoll(start, [...votes, end(start, "alice", 12), end(start, "alice", 10)]);
  assertEquals([ended.answers.map(({ votes }) => votes), ended.endedAt, ended.canShow], [
    [1, 0, 1],
    10,
    true,
  ]);
  assertEquals(tallyPoll(start, [...votes, end(start, "mallory", 1)]).endedAt, undefined);
  const canRedact = (user: UserID) => user === "@mod:a.b";
  assertEquals(tallyPoll(start, [...votes, end(start, "mod", 9)], { canRedact }).endedAt, 9);
});

Deno.test("tallyPoll() counts votes for no other poll, and takes stable names as well", () => {
  const [start, other] = [poll(), poll()];
  const stable = event(
    "m.poll.response",
    {
      "m.relates_to": { rel_type: "m.reference", event_id: start.event_id },
      "m.selections": ["3"],
    },
    "@c:a.b",
    1,
  );
  assertEquals(counts(start, [vote(other, "b", 1, "1"), stable]), [0, 0, 1]);
});

Deno.test("tallyPoll() refuses what is no poll", () => {
  assertThrows(() => tallyPoll({ ...poll(), type: "m.room.message" }, []), ValueError, "is no poll");
  assertThrows(() => tallyPoll({ ...poll(), content: {} }, []), ValueError, "is no poll");
});

Deno.test("tallyPoll() gives the same whatever the order, and reads anything", () => {
  const start = poll({ maxSelections: 2 });
  const some = fc.record({
    user: fc.constantFrom("alice", "b", "c"),
    at: fc.integer({ min: 1, max: 4 }),
    answers: fc.array(fc.constantFrom("1", "2", "3", "x"), { maxLength: 3 }),
    isEnd: fc.boolean(),
  });
  fc.assert(fc.property(fc.array(some, { maxLength: 12 }), fc.infiniteStream(fc.nat()), (given, order) => {
    const events = given.map(({ user, at, answers, isEnd }) =>
      isEnd ? end(start, user, at) : vote(start, user, at, ...answers)
    );
    const ranks = new Map(events.map((one) => [one, order.next().value]));
    const shuffled = events.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
    assertEquals(tallyPoll(start, shuffled), tallyPoll(start, events));
  }));
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
    readPoll(a);
    readPoll({ "m.poll": { question: a, answers: b } });
    readPollVote({ "m.relates_to": a, "m.selections": b });
    if (typeof a !== "object" || a === null) return;
    tallyPoll(start, [event("m.poll.response", a, "@b:a.b", 1)]);
  }));
});

Deno.test("pollEnd() puts the result in words", () => {
  const start = poll();
  const said = (...votes: PollEvent[]) =>
    pollEnd(start.event_id, tallyPoll(start, votes))["org.matrix.msc1767.text"];
  assertEquals(said(), "The poll has ended. Nobody voted.");
  assertEquals(said(vote(start, "b", 1, "1")), "The poll has ended. Top answer: Pizza (1 vote)");
  assertEquals(
    said(vote(start, "b", 1, "1"), vote(start, "c", 1, "2")),
    "The poll has ended. Top answers: Pizza, Pasta (1 vote each)",
  );
  assert(pollEnd("$a", "over")["org.matrix.msc1767.text"] === "over");
});

Deno.test("A count keeps one vote of each user, and says when those before the end have to be read again", () => {
  const start = poll();
  const count = countOf(start);
  for (let at = 10_000; at > 0; at--) count.add(vote(start, `user-${at % 7}`, at, "1"));
  assertEquals([count.votes.length, count.takeMisses()], [7, false]);
  count.add(end(start, "alice", 5_000)); // clocks differ: the votes that were kept are late
  assertEquals([count.votes.length, count.takeMisses(), count.takeMisses()], [0, true, false]);
  for (let at = 1; at <= 10_000; at++) count.add(vote(start, `user-${at % 7}`, at, "2"));
  count.add(end(start, "alice", 5_000));
  assertEquals([count.takeMisses(), tallyOf(count).winners[0]?.votes], [false, 7]);
});

Deno.test("tallyPoll() counts as who keeps all votes would, in whatever order they come", () => {
  const start = poll();
  const some = fc.record({
    user: fc.constantFrom("alice", "b", "c"),
    at: fc.integer({ min: 1, max: 6 }),
    answer: fc.constantFrom("1", "2", "x"),
    isEnd: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 14 }), (given) => {
      const events = given.map(({ user, at, answer, isEnd }) =>
        isEnd ? end(start, user, at) : vote(start, user, at, answer)
      );
      const sorted = events.toSorted((one, other) =>
        one.origin_server_ts - other.origin_server_ts || (one.event_id < other.event_id ? -1 : 1)
      );
      const over = sorted.find(({ type, sender }) => type === POLL_EVENTS.END && sender === ALICE);
      const last = new Map<string, string | undefined>();
      for (const { type, sender, content, origin_server_ts: at } of sorted) {
        if (type !== POLL_EVENTS.RESPONSE || at > (over?.origin_server_ts ?? Infinity)) continue;
        last.set(sender, readPollVote(content)?.selections?.[0]);
      }
      const wanted = ["1", "2", "3"].map((id) => [...last.values()].filter((each) => each === id).length);
      const tally = tallyPoll(start, events);
      assertEquals([tally.answers.map(({ votes }) => votes), tally.endedAt], [
        wanted,
        over?.origin_server_ts,
      ]);
    }),
    { numRuns: 1_000 },
  );
});
