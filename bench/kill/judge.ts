/**
 * Judges a run: what was sent, received and used, by what the victim wrote down, what the server
 * has, and what others decrypted.
 *
 * @module
 */

import type { Peer } from "../../tests/e2e/support/peer/peer.ts";
import { entriesOf, type LedgerEntry, type RatchetUse, withoutOutages } from "./ledger.ts";
import { judgeAnswers, type Read } from "./judge_answers.ts";
import { megolmUse } from "./ratchet.ts";
import type { ServerEvent } from "./homeserver.ts";
import type { Stage } from "./stage.ts";
import type { Said } from "./talk.ts";

/** What came of a run. */
export interface Verdict {
  /** What was counted. */
  readonly counts: Record<string, number>;
  /** What must not be; none if the run has passed. */
  readonly problems: string[];
}

/** What is judged. */
export interface Evidence {
  readonly stage: Stage;
  readonly said: readonly Said[];
  readonly ledger: readonly LedgerEntry[];
}

/** What the bot has said by itself: its texts, with the event's ID where it has one. */
type Expected = ReadonlyMap<string, string | undefined>;

/** A room with all that is there to judge it by. */
interface JudgedRoom {
  readonly roomId: string;
  readonly events: readonly ServerEvent[];
  readonly messages: readonly Said[];
  readonly expected: Expected;
  readonly late: ReadonlySet<string>;
  readonly leftOut: ReadonlySet<string>;
  readonly known: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Judges. */
export async function judge({ stage, said, ledger }: Evidence): Promise<Verdict> {
  const problems: string[] = [];
  const rooms = await judgedRooms({ stage, said, ledger });
  const used = judgeUses({ stage, said, ledger }, rooms, problems);
  const received = new Map<string, number>();
  for (const { eventId } of entriesOf(ledger, "received")) {
    received.set(eventId, (received.get(eventId) ?? 0) + 1);
  }
  for (const { eventId, by, number } of said) {
    if (!received.has(eventId)) problems.push(`the victim never got ${number} by ${by} (${eventId})`);
  }
  for (const room of rooms) await judgeRoom(stage, room, problems);
  judgeLedger(withoutOutages(ledger), problems);
  const read = new Set(stage.observed.map(({ eventId }) => eventId));
  const lost = [...stage.undecryptable].filter(([id]) => !read.has(id));
  for (const [eventId, why] of lost) problems.push(`the observer never decrypted ${eventId}: ${why}`);
  const counts = {
    "victim's processes": entriesOf(ledger, "start").length,
    "messages of the victim": entriesOf(ledger, "begin").length,
    "messages of peers": said.length,
    "handlers called": entriesOf(ledger, "received").length,
    "messages handled twice or more": [...received.values()].filter((count) => count > 1).length,
    "messages left out for a time": entriesOf(ledger, "quarantined").length,
    "the store's server killed": entriesOf(ledger, "outage").length,
    "undecryptable at first, by the victim": entriesOf(ledger, "undecryptable").length,
    "undecryptable at first, by the observer": stage.undecryptable.size,
    ...used,
  };
  return { counts, problems };
}

async function judgedRooms({ stage, said, ledger }: Evidence): Promise<JudgedRoom[]> {
  const done = new Map(entriesOf(ledger, "done").map(({ number, eventId }) => [number, eventId]));
  const begun = entriesOf(ledger, "begin");
  const late = new Set(entriesOf(ledger, "undecryptable").map(({ eventId }) => eventId));
  const leftOut = new Set(entriesOf(ledger, "quarantined").map(({ eventId }) => eventId));
  const known = new Map<string, Set<string>>();
  for (const { eventId, replyId } of entriesOf(ledger, "answered")) {
    known.set(eventId, (known.get(eventId) ?? new Set()).add(replyId));
  }
  const saidById = new Map(said.map((each) => [each.eventId, each]));
  const roomIds = [...stage.rooms.map(({ roomId }) => roomId), ...stage.plainRooms];
  return await Promise.all(roomIds.map(async (roomId) => {
    const events = await stage.history(roomId);
    const messages = events.map(({ eventId }) => saidById.get(eventId)).filter((each) => each !== undefined);
    const expected = new Map(
      begun.filter((entry) => entry.roomId === roomId)
        .map(({ number }) => [`victim ${number}`, done.get(number)]),
    );
    return { roomId, events, messages, expected, late, leftOut, known };
  }));
}

/** All readers of the room must have the same. */
async function judgeRoom(stage: Stage, room: JudgedRoom, problems: string[]): Promise<void> {
  const { roomId, events } = room;
  const cast = stage.rooms.find((each) => each.roomId === roomId);
  if (cast === undefined) {
    const reads = events.filter(({ type, sender }) =>
      type === "m.room.message" && sender === stage.victim.userId
    )
      .map(({ eventId, content }) => ({ eventId, body: String(content.body) }));
    judgeReads("the server", reads, room, problems);
    return;
  }
  judgeReads("the observer", stage.observed.filter((each) => each.roomId === roomId), room, problems);
  for (const peer of cast.peers) {
    judgeReads(`${peer.kind} ${peer.deviceId}`, await readsOf(peer, stage, roomId), room, problems);
  }
}

/**
 * What a peer has read of a room: what it makes of the whole history, and what it made of it as it
 * came. Of what a limited sync leaves out the library tells nothing; and if a key comes once more
 * that begins later, it forgets the first.
 */
async function readsOf(peer: Peer, { victim }: Stage, roomId: string): Promise<Read[]> {
  const told = new Map(
    peer.seen.filter((event) => event.event === "message").map(({ eventId, body }) => [eventId, body]),
  );
  const history = await peer.call("history", { roomId }) as (Read & { sender: string })[];
  return history.filter(({ sender }) => sender === victim.userId)
    .map(({ eventId, body }) => ({ eventId, body: body ?? told.get(eventId) ?? null }));
}

/** Each text has been read, as one event, which is the one that the victim was told of. */
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
      `${who} has "${body}" ${found.size} times (${[...found].join(", ")}); the victim has ${eventId}`,
    );
  }
  for (const body of events.keys()) problems.push(`${who} has "${body}", which was never sent`);
  const { messages, late, leftOut, known } = room;
  judgeAnswers({ who, messages, reads, late, leftOut, known }, problems);
}

/**
 * No index of any ratchet was used for two ciphertexts; neither in what the victim tried to send,
 * nor in what arrived.
 */
function judgeUses(
  { stage, ledger }: Evidence,
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
      if (type !== "m.room.encrypted" || sender !== stage.victim.userId) continue;
      const use = megolmUse(content);
      note(use);
      sessions.add(use.chain);
      const other = events.get(use.digest);
      if (other !== undefined) problems.push(`the same ciphertext arrived twice, as ${other} and ${eventId}`);
      events.set(use.digest, eventId);
    }
  }
  for (const place of clashes) problems.push(`an index was used twice: ${place}`);
  for (const { sessionId, messageIndex, eventId } of stage.observed) {
    if (!digests.has(`${sessionId} ${messageIndex}`)) {
      problems.push(`the message of ${eventId} was never sent`);
    }
  }
  return {
    "encrypted events of the victim": events.size,
    "Megolm sessions": sessions.size,
    "ratchet indexes": digests.size,
    "sent again, the same bytes": sent.length - new Set(sent.map(({ digest }) => digest)).size,
  };
}

/**
 * What a bot says that is killed: it waits for its device, and if it is killed often enough, has
 * events left out for a time.
 */
const EXPECTED = /waiting for a device|left out|left an event out/i;

/** Nothing was refused by the server that should not be, and nothing failed. */
function judgeLedger(ledger: readonly LedgerEntry[], problems: string[]): void {
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
  for (const [eventId, why] of lost) problems.push(`the victim never decrypted ${eventId}: ${why}`);
}
