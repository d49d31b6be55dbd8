/**
 * Judges a run by the bot's ledger, the events on the server, and what others decrypted.
 *
 * @module
 */

import type { Peer } from "../../tests/e2e/support/peer/peer.ts";
import { entriesOf, type LedgerEntry, type RatchetUse, withoutOutages } from "./ledger.ts";
import { judgeAnswers, overtaken, type Read } from "./judge_answers.ts";
import { megolmUse } from "./ratchet.ts";
import type { ServerEvent } from "./homeserver.ts";
import type { Setup } from "./setup.ts";
import type { Said } from "./talk.ts";

/** The result of a run. */
export interface Verdict {
  /** What was counted. */
  readonly counts: Record<string, number>;
  /** The problems; none if the run has passed. */
  readonly problems: string[];
}

/** The evidence of a run. */
export interface Evidence {
  readonly setup: Setup;
  readonly said: readonly Said[];
  readonly ledger: readonly LedgerEntry[];
  /** Whether the bot is sent messages in the order of their rooms. */
  readonly comesInOrder: boolean;
}

/** The bot's own messages: their texts, with the event's ID where it has one. */
type Expected = ReadonlyMap<string, string | undefined>;

/** A room with its evidence. */
interface JudgedRoom {
  readonly roomId: string;
  readonly events: readonly ServerEvent[];
  readonly messages: readonly Said[];
  readonly expected: Expected;
  readonly late: ReadonlySet<string>;
  readonly leftOut: ReadonlySet<string>;
  readonly known: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Judges a run. */
export async function judge(evidence: Evidence): Promise<Verdict> {
  const { setup, said, ledger } = evidence;
  const problems: string[] = [];
  const rooms = await judgedRooms(evidence);
  const used = judgeUses(evidence, rooms, problems);
  const received = new Map<string, number>();
  for (const { eventId } of entriesOf(ledger, "received")) {
    received.set(eventId, (received.get(eventId) ?? 0) + 1);
  }
  for (const { eventId, by, number } of said) {
    if (!received.has(eventId)) problems.push(`the bot never got ${number} by ${by} (${eventId})`);
  }
  for (const room of rooms) await judgeRoom(setup, room, problems);
  judgeLedger(withoutOutages(ledger), problems);
  const read = new Set(setup.observed.map(({ eventId }) => eventId));
  const lost = [...setup.undecryptable].filter(([id]) => !read.has(id));
  for (const [eventId, why] of lost) problems.push(`the observer never decrypted ${eventId}: ${why}`);
  const counts = {
    "bot's processes": entriesOf(ledger, "start").length,
    "messages of the bot": entriesOf(ledger, "begin").length,
    "messages of peers": said.length,
    "handlers called": entriesOf(ledger, "received").length,
    "messages handled twice or more": [...received.values()].filter((count) => count > 1).length,
    "messages left out for a time": entriesOf(ledger, "quarantined").length,
    "the store's server killed": entriesOf(ledger, "outage").length,
    "undecryptable at first, by the bot": entriesOf(ledger, "undecryptable").length,
    "undecryptable at first, by the observer": setup.undecryptable.size,
    ...used,
  };
  return { counts, problems };
}

async function judgedRooms({ setup, said, ledger, comesInOrder }: Evidence): Promise<JudgedRoom[]> {
  const done = new Map(entriesOf(ledger, "done").map(({ number, eventId }) => [number, eventId]));
  const begun = entriesOf(ledger, "begin");
  const late = new Set(entriesOf(ledger, "undecryptable").map(({ eventId }) => eventId));
  const leftOut = new Set(entriesOf(ledger, "quarantined").map(({ eventId }) => eventId));
  const known = new Map<string, Set<string>>();
  for (const { eventId, replyId } of entriesOf(ledger, "answered")) {
    known.set(eventId, (known.get(eventId) ?? new Set()).add(replyId));
  }
  const saidById = new Map(said.map((each) => [each.eventId, each]));
  const roomIds = [...setup.rooms.map(({ roomId }) => roomId), ...setup.plainRooms];
  return await Promise.all(roomIds.map(async (roomId) => {
    const events = await setup.history(roomId);
    const inRoom = events.map(({ eventId }) => saidById.get(eventId)).filter((each) => each !== undefined);
    const messages = comesInOrder ? inRoom : asReceived(inRoom, ledger);
    const expected = new Map(
      begun.filter((entry) => entry.roomId === roomId)
        .map(({ number }) => [`bot ${number}`, done.get(number)]),
    );
    const aside = new Set([...leftOut, ...overtaken(ledger, { messages, late })]);
    return { roomId, events, messages, expected, late, leftOut: aside, known };
  }));
}

/** Messages in the order in which the bot was first shown each. */
function asReceived(messages: readonly Said[], ledger: readonly LedgerEntry[]): Said[] {
  const order = new Map<string, number>();
  for (const { eventId } of entriesOf(ledger, "received")) {
    if (!order.has(eventId)) order.set(eventId, order.size);
  }
  const placeOf = ({ eventId }: Said): number => order.get(eventId) ?? Infinity;
  return messages.toSorted((one, other) => placeOf(one) - placeOf(other));
}

/** All readers of the room must have the same messages. */
async function judgeRoom(setup: Setup, room: JudgedRoom, problems: string[]): Promise<void> {
  const { roomId, events } = room;
  const encrypted = setup.rooms.find((each) => each.roomId === roomId);
  if (encrypted === undefined) {
    const reads = events.filter(({ type, sender }) =>
      type === "m.room.message" && sender === setup.bot.userId
    )
      .map(({ eventId, content }) => ({ eventId, body: String(content.body) }));
    judgeReads("the server", reads, room, problems);
    return;
  }
  judgeReads("the observer", setup.observed.filter((each) => each.roomId === roomId), room, problems);
  for (const peer of encrypted.peers) {
    judgeReads(`${peer.kind} ${peer.deviceId}`, await readsOf(peer, setup, roomId), room, problems);
  }
}

/**
 * What a peer has decrypted of a room, from the whole history and as it came. The library skips
 * what a limited sync leaves out; and if a key comes again from a later index, it drops the first.
 */
async function readsOf(peer: Peer, { bot }: Setup, roomId: string): Promise<Read[]> {
  const seen = new Map(
    peer.seen.filter((event) => event.event === "message").map(({ eventId, body }) => [eventId, body]),
  );
  const history = await peer.call("history", { roomId }) as (Read & { sender: string })[];
  return history.filter(({ sender }) => sender === bot.userId)
    .map(({ eventId, body }) => ({ eventId, body: body ?? seen.get(eventId) ?? null }));
}

/** Each text was decrypted, as one event, which is the one that the bot's send returned. */
function judgeReads(who: string, reads: readonly Read[], room: JudgedRoom, problems: string[]): void {
  const events = new Map<string, Set<string>>();
  for (const { body, eventId } of reads) {
    if (body === null) problems.push(`${who} can't decrypt ${eventId}`);
    else if (!/^(reply|echo) /.test(body)) {
      events.set(body, (events.get(body) ?? new Set()).add(eventId));
    }
  }
  for (const [body, eventId] of room.expected) {
    const found = events.get(body) ?? new Set();
    events.delete(body);
    if (found.size === 1 && (eventId === undefined || found.has(eventId))) continue;
    problems.push(
      `${who} has "${body}" ${found.size} times (${[...found].join(", ")}); the bot has ${eventId}`,
    );
  }
  for (const body of events.keys()) problems.push(`${who} has "${body}", which was never sent`);
  const { messages, late, leftOut, known } = room;
  judgeAnswers({ who, messages, reads, late, leftOut, known }, problems);
}

/**
 * No index of any ratchet was used for two ciphertexts; neither in what the bot tried to send,
 * nor in what arrived.
 */
function judgeUses(
  { setup, ledger }: Evidence,
  rooms: readonly JudgedRoom[],
  problems: string[],
): Record<string, number> {
  const sent = entriesOf(ledger, "use");
  const digests = new Map<string, string>();
  const clashes = new Set<string>();
  const note = ({ chain, index, digest }: RatchetUse): void => {
    const place = `${chain} ${index}`;
    const other = digests.get(place);
    if (other !== undefined && other !== digest) clashes.add(place);
    digests.set(place, digest);
  };
  sent.forEach(note);
  const events = new Map<string, string>();
  const sessions = new Set<string>();
  for (const { events: there } of rooms) {
    for (const { eventId, type, sender, content } of there) {
      if (type !== "m.room.encrypted" || sender !== setup.bot.userId) continue;
      const use = megolmUse(content);
      note(use);
      sessions.add(use.chain);
      const other = events.get(use.digest);
      if (other !== undefined) problems.push(`the same ciphertext arrived twice, as ${other} and ${eventId}`);
      events.set(use.digest, eventId);
    }
  }
  for (const place of clashes) problems.push(`an index was used twice: ${place}`);
  for (const { sessionId, messageIndex, eventId } of setup.observed) {
    if (!digests.has(`${sessionId} ${messageIndex}`)) {
      problems.push(`the message of ${eventId} was never sent`);
    }
  }
  return {
    "encrypted events of the bot": events.size,
    "Megolm sessions": sessions.size,
    "ratchet indexes": digests.size,
    "sent again, the same bytes": sent.length - new Set(sent.map(({ digest }) => digest)).size,
  };
}

/**
 * What a killed bot logs: it waits for its device, nobody has signed that, and if it is killed often
 * enough, events are quarantined.
 */
const EXPECTED =
  /waiting for a device|left out|left an event out|quarantined event|nobody has signed this device/i;

/** The server refused nothing, and nothing failed. */
export function judgeLedger(ledger: readonly LedgerEntry[], problems: string[]): void {
  for (const { status, request, answer } of entriesOf(ledger, "refused")) {
    problems.push(`the server refused ${request} with ${status}: ${answer}`);
  }
  for (const { what, error } of entriesOf(ledger, "failed")) problems.push(`${what} failed: ${error}`);
  for (const { level, message, data } of entriesOf(ledger, "log")) {
    if (EXPECTED.test(message)) continue;
    problems.push(`logged as ${level}: ${message} ${data}`);
  }
  const received = new Set(entriesOf(ledger, "received").map(({ eventId }) => eventId));
  const lost = new Map(
    entriesOf(ledger, "undecryptable")
      .filter(({ eventId }) => !received.has(eventId))
      .map(({ eventId, code, reason }) => [eventId, `${code}: ${reason}`]),
  );
  for (const [eventId, why] of lost) problems.push(`the bot never decrypted ${eventId}: ${why}`);
}
