import type { EventID, RoomID } from "@greenroom/matrix/types";
import { assertEquals } from "@std/assert";
import { judgeKit, type KitEvidence } from "../../bench/kill/kit/judge.ts";
import type { Begun, Shown } from "../../bench/kill/kit/people.ts";
import { kitSays } from "../../bench/kill/kit/script.ts";
import type { LedgerEntry } from "../../bench/kill/ledger.ts";

const roomId: RoomID = "!room:localhost";

/** The order of a number, and what is said of it, in the order of the counts that its confirmations show. */
function order(number: number, counts: readonly number[]): { begun: Begun; texts: string[] } {
  const token = `token-${number}`;
  return {
    begun: { kind: "order", number, roomId, eventId: `$order-${number}` },
    texts: [
      kitSays.asks(number, token),
      ...counts.map((count) => kitSays.confirms(number, { what: `tea ${number}`, count })),
      kitSays.takes(number, { token, count: counts.at(-1) ?? 0, isSure: true }),
      kitSays.reminds(number, new Date(0)),
    ],
  };
}

/** What is found in two orders of a room, which show these counts. */
function problemsOf(
  counts: readonly (readonly number[])[],
  ledger: readonly LedgerEntry[],
): readonly string[] {
  const orders = counts.map((each, number) => order(number, each));
  const shown = orders.flatMap(({ texts }) => texts).map((text, index): Shown => {
    const eventId: EventID = `$${index}`;
    return { eventId, roomId, text, first: text, at: index };
  });
  const evidence: KitEvidence = {
    begun: orders.map(({ begun }) => begun),
    shown,
    reactions: shown.filter(({ text }) => text.endsWith("?")).flatMap(({ eventId: to }) =>
      ["✅", "❌"].map((key) => ({ to, key }))
    ),
    ledger,
  };
  return judgeKit(evidence).problems;
}

const start: LedgerEntry = { kind: "start" };
const tea = (number: number): LedgerEntry => ({
  kind: "received",
  eventId: `$tea-${number}`,
  body: `tea ${number}`,
});
const twice = "the confirmation of order 0 was shown 2 times: " +
  "order 0: tea 0 as number 1? | order 0: tea 0 as number 2?";

Deno.test("judgeKit() allows a second confirmation with another count if another order has the first after a kill", () => {
  assertEquals(problemsOf([[1, 2], [1]], [start, tea(0), tea(1), start, tea(1), tea(0)]), []);
});

Deno.test("judgeKit() finds a second confirmation in one process", () => {
  assertEquals(problemsOf([[1, 2], [1]], [start, start, tea(0), tea(1), tea(0)])[0], twice);
});

Deno.test("judgeKit() finds a second confirmation whose first count no other order has", () => {
  const problems = problemsOf([[1, 2]], [start, tea(0), start, tea(0)]);
  assertEquals(problems[0], twice);
  assertEquals(problems.at(-1), `the numbers of the orders in ${roomId} are 2`);
});

Deno.test("judgeKit() finds a second confirmation whose first count an order before has", () => {
  const problems = problemsOf([[1], [1, 2]], [start, tea(0), tea(1), start, tea(1)]);
  assertEquals(problems[0], twice.replaceAll("order 0", "order 1").replaceAll("tea 0", "tea 1"));
});

Deno.test("judgeKit() finds a confirmation that is shown again with the same count", () => {
  const ledger = [start, tea(0), tea(1), start, tea(1), tea(0)];
  assertEquals(
    problemsOf([[2, 2], [1]], ledger)[0],
    twice.replace("number 1?", "number 2?"),
  );
});
