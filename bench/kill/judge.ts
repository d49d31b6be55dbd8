/**
 * Judges a run: what was sent, received and used, by what the victim wrote down, what the server has, and what others decrypted.
 *
 * @module
 */

import type { Peer } from "../../tests/e2e/support/peer.ts";
import { entriesOf, type LedgerEntry, type RatchetUse } from "./ledger.ts";
import { megolmUse } from "./ratchet.ts";
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

/** A message as somebody has read it. */
interface Read {
  readonly eventId: string;
  readonly body: string | null;
}

/** What the victim must have sent: its texts, with the event's ID where it knows it. */
type Expected = ReadonlyMap<string, string | undefined>;

/** Judges. */
export async function judge({ stage, said, ledger }: Evidence): Promise<Verdict> {
  const problems: string[] = [];
  const used = await judgeUses({ stage, said, ledger }, problems);
  const expected = expectedTexts(said, ledger);
  const received = new Map<string, number>();
  for (const { eventId } of entriesOf(ledger, "received")) {
    received.set(eventId, (received.get(eventId) ?? 0) + 1);
  }
  for (const { eventId, body } of said) {
    if (!received.has(eventId)) problems.push(`the victim never got "${body}" (${eventId})`);
  }
  const rooms = roomsOf(said, ledger);
  judgeReads("the observer", stage.observed, expected, problems);
  for (const peer of stage.peers) await judgePeer(stage, peer, { expected, rooms }, problems);
  judgeLedger(ledger, problems);
  const late = [...stage.undecryptable].filter(([id]) =>
    !stage.observed.some(({ eventId }) => eventId === id)
  );
  for (const [eventId, why] of late) problems.push(`the observer never decrypted ${eventId}: ${why}`);
  const counts = {
    "victim's processes": entriesOf(ledger, "start").length,
    "messages of the victim": entriesOf(ledger, "begin").length,
    "messages of peers": said.length,
    "handled twice or more": [...received.values()].filter((count) => count > 1).length,
    "undecryptable at first, by the victim": entriesOf(ledger, "undecryptable").length,
    "undecryptable at first, by the observer": stage.undecryptable.size,
    ...used,
  };
  return { counts, problems };
}

/** Only messages of rooms that a peer is in reach it. */
function roomsOf(said: readonly Said[], ledger: readonly LedgerEntry[]): Map<string, string> {
  return new Map([
    ...entriesOf(ledger, "begin").map(({ number, roomId }) => [`victim ${number}`, roomId] as const),
    ...said.map(({ eventId, roomId }) => [`ack ${eventId}`, roomId] as const),
  ]);
}

function expectedTexts(said: readonly Said[], ledger: readonly LedgerEntry[]): Expected {
  const done = new Map(entriesOf(ledger, "done").map(({ number, eventId }) => [number, eventId]));
  const acked = new Map(entriesOf(ledger, "acked").map(({ eventId, ackId }) => [eventId, ackId]));
  return new Map([
    ...entriesOf(ledger, "begin").map(({ number }) => [`victim ${number}`, done.get(number)] as const),
    ...said.map(({ eventId }) => [`ack ${eventId}`, acked.get(eventId)] as const),
  ]);
}

/** Each text has been read, as one event, which is the one that the victim was told of. */
function judgeReads(who: string, reads: readonly Read[], expected: Expected, problems: string[]): void {
  const events = new Map<string, Set<string>>();
  for (const { body, eventId } of reads) {
    if (body === null) problems.push(`${who} can't decrypt ${eventId}`);
    else events.set(body, (events.get(body) ?? new Set()).add(eventId));
  }
  for (const [body, eventId] of expected) {
    const found = events.get(body) ?? new Set();
    events.delete(body);
    if (found.size === 1 && (eventId === undefined || found.has(eventId))) continue;
    problems.push(
      `${who} has "${body}" ${found.size} times (${[...found].join(", ")}); the victim knows ${eventId}`,
    );
  }
  for (const body of events.keys()) problems.push(`${who} has "${body}", which nobody has sent`);
}

/** What a peer saw as it came, and what it makes of the whole history: the library may lose what a limited sync left out. */
async function judgePeer(
  stage: Stage,
  peer: Peer,
  { expected, rooms }: { expected: Expected; rooms: ReadonlyMap<string, string> },
  problems: string[],
): Promise<void> {
  for (const room of stage.rooms.filter(({ peers }) => peers.includes(peer))) {
    const history = await peer.call("history", { roomId: room.roomId }) as (Read & { sender: string })[];
    const mine = history.filter(({ sender }) => sender === stage.victim.userId);
    const here = new Map([...expected].filter(([body]) => rooms.get(body) === room.roomId));
    judgeReads(`${peer.kind} ${peer.deviceId}`, mine, here, problems);
  }
}

/** No index of any ratchet was used for two ciphertexts; neither in what the victim tried to send, nor in what arrived. */
async function judgeUses(
  { stage, ledger }: Evidence,
  problems: string[],
): Promise<Record<string, number>> {
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
  for (const { roomId } of stage.rooms) {
    for (const { eventId, sender, content } of await stage.history(roomId)) {
      if (sender !== stage.victim.userId) continue;
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
    if (!digests.has(`${sessionId} ${messageIndex}`)) problems.push(`nobody has sent what ${eventId} is`);
  }
  return {
    "events in the rooms": events.size,
    "Megolm sessions": sessions.size,
    "ratchet indexes": digests.size,
    "sent again, the same bytes": sent.length - new Set(sent.map(({ digest }) => digest)).size,
  };
}

/** Nothing was refused by the server that should not be, and nothing failed. */
function judgeLedger(ledger: readonly LedgerEntry[], problems: string[]): void {
  for (const { status, request, answer } of entriesOf(ledger, "refused")) {
    problems.push(`the server refused ${request} with ${status}: ${answer}`);
  }
  for (const { what, error } of entriesOf(ledger, "failed")) problems.push(`${what} failed: ${error}`);
  for (const { level, message, data } of entriesOf(ledger, "log")) {
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
