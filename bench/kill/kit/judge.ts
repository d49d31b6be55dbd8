/**
 * Judges a run of the kit's bot: each question, answer, reminder and stream is shown once, and says
 * what it should.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix/types";
import { judgeLedger, type Verdict } from "../judge.ts";
import { entriesOf, type LedgerEntry, withoutOutages } from "../ledger.ts";
import type { Begun, Shown } from "./people.ts";
import { isWholeTale, type KitText, readKitText } from "./script.ts";

/** A reaction of the bot. */
export interface ShownReaction {
  readonly to: string;
  readonly key: string;
}

/** The evidence of a run. */
export interface KitEvidence {
  readonly begun: readonly Begun[];
  /** All that the bot has said, as it reads in the end, room by room, in order. */
  readonly shown: readonly Shown[];
  readonly reactions: readonly ShownReaction[];
  readonly ledger: readonly LedgerEntry[];
}

/** What the bot has said, read. */
type Said<Kind extends KitText["kind"]> = Extract<KitText, { kind: Kind }> & { readonly shown: Shown };

const MINUTE_MS = 60_000;

/** Judges a run. */
export function judgeKit({ begun, shown, reactions, ledger }: KitEvidence): Verdict {
  const problems: string[] = [];
  const said = shown.map((each) => ({ ...readKitText(each.text), shown: each }));
  const of = <Kind extends KitText["kind"]>(kind: Kind): Said<Kind>[] =>
    said.filter((each): each is Said<Kind> => each.kind === kind);
  for (const { shown: { text, roomId } } of of("unknown")) {
    problems.push(`the bot said "${text}" in ${roomId}`);
  }
  const one = <Each extends { readonly shown: Shown }>(
    all: readonly Each[],
    what: string,
  ): Each | undefined => {
    if (all.length !== 1) {
      problems.push(
        `${what} was shown ${all.length} times: ${all.map((each) => each.shown.text).join(" | ")}`,
      );
    }
    return all[0];
  };
  const leftOut = answersLeftOut(ledger);
  const repeated = answersRepeated(ledger);
  const counts = new Map<RoomID, number[]>();
  for (const { kind, number, roomId } of begun) {
    if (kind === "tell") {
      const tale = one(of("tells").filter((each) => each.number === number), `stream ${number}`);
      if (tale !== undefined && !isWholeTale(tale.shown.text, number)) {
        problems.push(`stream ${number} reads "${tale.shown.text}" in the end`);
      }
      continue;
    }
    const sures = of("confirms").filter((each) => each.number === number);
    const isAnew = new Set(sures.map(({ shown }) => shown.text)).size === sures.length &&
      (leftOut.has(number) || repeated.has(number) && sures.slice(0, -1).every(isAnother(of("takes"))));
    const [asked, sure, taken, ready] = [
      one(of("asks").filter((each) => each.number === number), `the question of order ${number}`),
      one(isAnew ? sures.slice(-1) : sures, `the confirmation of order ${number}`),
      one(of("takes").filter((each) => each.number === number), `the end of order ${number}`),
      one(of("reminds").filter((each) => each.number === number), `the reminder of order ${number}`),
    ];
    if (asked?.token !== taken?.token) {
      problems.push(`order ${number} began with ${asked?.token} and ended with ${taken?.token}`);
    }
    if (sure?.count !== taken?.count) {
      problems.push(`order ${number} was number ${sure?.count}, and is ${taken?.count}`);
    }
    if (sure !== undefined) {
      const isUnderstood = sure.what === `tea ${number}` ||
        (leftOut.has(number) && isAnew && sure.what === "yes");
      if (!isUnderstood) problems.push(`order ${number} was understood as "${sure.what}"`);
      for (const key of ["✅", "❌"]) {
        const given = reactions.filter((each) => each.to === sure.shown.eventId && each.key === key).length;
        if (given !== 1) problems.push(`the confirmation of order ${number} has ${key} ${given} times`);
      }
    }
    if (taken !== undefined) counts.set(roomId, [...counts.get(roomId) ?? [], taken.count]);
    if (ready !== undefined && ready.shown.at < ready.due) {
      problems.push(`the reminder of order ${number} came ${ready.due - ready.shown.at} ms too early`);
    }
  }
  for (const [roomId, all] of counts) {
    const sorted = all.toSorted((a, b) => a - b);
    if (sorted.some((count, index) => count !== index + 1)) {
      problems.push(`the numbers of the orders in ${roomId} are ${sorted.join(", ")}`);
    }
  }
  judgeMinutes(of("minute"), problems);
  const drawn = judgeOnce(ledger, problems);
  judgeLedger(withoutOutages(ledger), problems);
  return {
    counts: {
      "bot's processes": entriesOf(ledger, "start").length,
      orders: begun.filter(({ kind }) => kind === "order").length,
      streams: begun.filter(({ kind }) => kind === "tell").length,
      minutes: of("minute").length,
      "messages of the bot": shown.length,
      "values drawn, and again by the next process": drawn,
      "messages left out for a time": entriesOf(ledger, "quarantined").length,
    },
    problems,
  };
}

/**
 * The orders whose first answer was left out for a time, since process after process had ended with it.
 * Others have been counted before it is handled, so it is confirmed anew, with another count; and if the
 * first confirmation was shown and answered, that answer came to the first question in its place.
 */
function answersLeftOut(ledger: readonly LedgerEntry[]): ReadonlySet<number> {
  const events = new Set(entriesOf(ledger, "quarantined").map(({ eventId }) => eventId));
  const texts = entriesOf(ledger, "received").filter(({ eventId }) => events.has(eventId));
  return new Set(texts.map(({ body }) => orderAnsweredBy(body)));
}

/**
 * The orders whose first answer was handled by more than one process. Until the first of these has committed
 * that it asks for the confirmation, another order in the room may take the count which that shows.
 */
function answersRepeated(ledger: readonly LedgerEntry[]): ReadonlySet<number> {
  const seen = new Set<number>();
  const inThis = new Set<number>();
  const repeated = new Set<number>();
  for (const entry of ledger) {
    if (entry.kind === "start") inThis.clear();
    if (entry.kind !== "received") continue;
    const number = orderAnsweredBy(entry.body);
    if (seen.has(number) && !inThis.has(number)) repeated.add(number);
    seen.add(number);
    inThis.add(number);
  }
  return repeated;
}

/** The order of which a text answers the first question; NaN: of none. */
function orderAnsweredBy(body: string): number {
  return Number(/^tea (\d+)$/.exec(body)?.[1]);
}

/** Tells whether the count in a confirmation is that of another order in the room, which ends after it. */
function isAnother(takes: readonly Said<"takes">[]): (sure: Said<"confirms">) => boolean {
  return ({ number, count, shown: { roomId, at } }) =>
    takes.some((each) =>
      each.count === count && each.number !== number && each.shown.roomId === roomId && each.shown.at > at
    );
}

/** Each minute was said once, after it had begun, and none was left out while somebody was there. */
function judgeMinutes(minutes: readonly Said<"minute">[], problems: string[]): void {
  let next = -Infinity;
  for (const { due, shown: { at } } of minutes) {
    const when = new Date(due).toISOString();
    if (due < next) problems.push(`minute ${when} was said again, or after a later one`);
    if (at < due) problems.push(`minute ${when} was said ${due - at} ms too early`);
    next = Math.max(next, (Math.floor(due / MINUTE_MS) + 1) * MINUTE_MS);
  }
}

/** What is drawn once is drawn again only by a process after one that was killed. */
function judgeOnce(ledger: readonly LedgerEntry[], problems: string[]): number {
  let process = 0;
  let again = 0;
  const drawn = new Map<number, number>();
  for (const entry of ledger) {
    if (entry.kind === "start") process++;
    if (entry.kind !== "once") continue;
    const before = drawn.get(entry.number);
    if (before === process) {
      problems.push(`the value of order ${entry.number} was drawn twice in one process`);
    }
    if (before !== undefined) again++;
    drawn.set(entry.number, process);
  }
  return again;
}
