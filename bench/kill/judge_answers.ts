/**
 * Judges the answers in a room: each message has one, and the numbers in them, which come of a
 * session, have no gap and no repetition, and are in the order of the messages.
 *
 * @module
 */

import { echoOf } from "./answering.ts";
import { entriesOf, type LedgerEntry } from "./ledger.ts";

/** A message as a reader has it; the body is null if it could not be decrypted. */
export interface Read {
  readonly eventId: string;
  readonly body: string | null;
}

/** What is judged. */
export interface RoomAnswers {
  /** Who has read the answers. */
  readonly who: string;
  /** The messages, in their order. */
  readonly messages: readonly { readonly eventId: string; readonly number: number }[];
  /** All that the bot has said in the room, as it was read, in any order. */
  readonly reads: readonly Read[];
  /**
   * The messages that the bot could not read when they came, which it may have answered later than
   * those after them.
   */
  readonly late?: ReadonlySet<string>;
  /**
   * The messages that were left out for a time: others were handled meanwhile, so that an answer
   * which had been sent before may have a number that the session gave to another, and there is
   * none with the number that it gave to this in the end.
   */
  readonly leftOut?: ReadonlySet<string>;
  /** The messages that the bot may have answered or not, and if so, with any number. */
  readonly excused?: ReadonlySet<string>;
  /**
   * By event ID of the message, what the bot was told about its answers: the IDs of their events.
   */
  readonly known?: ReadonlyMap<string, ReadonlySet<string>>;
}

/** An answer. */
interface Reply extends Read {
  /** The session's number. */
  readonly count: number;
}

/** Judges; texts that are no answers are left to others. */
export function judgeAnswers(
  { who, messages, reads, late = new Set(), leftOut = new Set(), excused = new Set(), known = new Map() }:
    RoomAnswers,
  problems: string[],
): void {
  const replies = new Map<number, Reply[]>();
  const echoes = new Map<string, Read[]>();
  for (const read of reads) {
    const parts = /^reply (\d+) to (\d+)$/.exec(read.body ?? "");
    if (parts !== null) add(replies, Number(parts[2]), { ...read, count: Number(parts[1]) });
    if (read.body?.startsWith("echo ")) add(echoes, read.body, read);
  }
  let last: { readonly number: number; readonly count: number } | undefined;
  const counts = new Set<number>();
  for (const { eventId, number } of messages) {
    const [reply, ...more] = replies.get(number) ?? [];
    replies.delete(number);
    const echo = echoOf(number);
    if (echo !== undefined) {
      const found = echoes.get(echo) ?? [];
      const least = excused.has(eventId) ? 0 : 1;
      if (found.length > 1 || found.length < least) {
        problems.push(`${who} has "${echo}" ${found.length} times (${ids(found)})`);
      }
      echoes.delete(echo);
    }
    if ((reply === undefined && !excused.has(eventId)) || more.length > 0) {
      const found = reply === undefined ? [] : [reply, ...more];
      problems.push(`${who} has ${found.length} replies to ${number} (${eventId}): ${ids(found)}`);
    }
    if (reply === undefined) continue;
    for (const id of known.get(eventId) ?? []) {
      if (id !== reply.eventId) {
        problems.push(`the bot has ${id} as its reply to ${number}, ${who} has ${reply.eventId}`);
      }
    }
    if (leftOut.has(eventId) || excused.has(eventId)) continue;
    if (counts.has(reply.count)) problems.push(`${who} has two replies that are number ${reply.count}`);
    counts.add(reply.count);
    if (late.has(eventId)) continue;
    if (last !== undefined && reply.count <= last.count) {
      problems.push(
        `${who} has reply ${reply.count} to ${number}, which came after ${last.number} with reply ${last.count}`,
      );
    }
    last = { number, count: reply.count };
  }
  const aside = messages.filter(({ eventId }) => leftOut.has(eventId) || excused.has(eventId)).length;
  const missing = [];
  for (let count = 1; count <= counts.size + aside; count++) if (!counts.has(count)) missing.push(count);
  if (missing.length > aside) {
    problems.push(`${who} has no replies that are number ${missing} of ${counts.size + aside}`);
  }
  for (const number of replies.keys()) {
    problems.push(`${who} has a reply to ${number}, which was never sent`);
  }
  for (const echo of echoes.keys()) problems.push(`${who} has "${echo}", which was never sent`);
}

/**
 * The messages whose answer may have a number that another answer has, too. A message of their room
 * could not be read when it came. They were handled before it, the process ended before the session
 * was stored, and in the next process they were handled after it.
 */
export function overtaken(
  ledger: readonly LedgerEntry[],
  { messages, late }: Pick<RoomAnswers, "messages"> & { readonly late: ReadonlySet<string> },
): Set<string> {
  if (!messages.some(({ eventId }) => late.has(eventId))) return new Set();
  const once = new Set<string>();
  const again = entriesOf(ledger, "received").filter(({ eventId }) =>
    once.has(eventId) || !once.add(eventId)
  );
  return new Set(again.map(({ eventId }) => eventId));
}

function add<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

function ids(reads: readonly Read[]): string {
  return reads.map(({ eventId, body }) => `${eventId} "${body}"`).join(", ");
}
