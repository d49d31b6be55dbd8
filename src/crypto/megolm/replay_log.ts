/**
 * Which event had which index of a Megolm session: a message that comes again as another event is a
 * replay.
 *
 * Each sender has a log of their own: an event with another user's ciphertext uses up none of that
 * user's indices.
 *
 * @module
 */

import type { MessageEvent } from "../../types/events/event.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";

/** Asks for events to be delivered to handlers, each once, however often the server shows them. */
export interface Delivery {
  /**
   * Whether events that earlier steps delivered have been handled, and must not be delivered again.
   */
  readonly handledBefore: boolean;
  /** Receives the indices of the events that were delivered before. */
  readonly again: Set<number>;
}

/** How many indices share a record. */
const BLOCK = 32;

/** The events of some consecutive indices; where there is none the ID is empty or missing. */
interface ReplayBlock {
  readonly sender: UserID;
  readonly eventIds: readonly string[];
  readonly times: readonly number[];
  /** Which of them have been handed out to be handled, one bit each; absent: none. */
  readonly shown?: number;
}

/** The events of one sender. */
interface OpenBlock {
  readonly key: RecordKey<ReplayBlock>;
  sender: UserID | undefined;
  eventIds: string[];
  times: number[];
  shown: number;
  /** Which of them in this step. */
  shownNow: number;
  changed: boolean;
}

/** The events of all senders that will be asked for. */
interface OpenBlocks {
  /** Those of the first sender. */
  readonly first: OpenBlock;
  /** Those of the other senders. */
  readonly others: Map<UserID, OpenBlock>;
  readonly senders: Set<UserID>;
  /** Where another sender's are. */
  readonly keyOf: (sender: UserID) => RecordKey<ReplayBlock>;
}

/**
 * Notes, for one step, which events had which index. Announce all indices first, then {@link open},
 * then {@link claim}.
 */
export class ReplayLog {
  readonly #sessions = new Map<RoomID, Map<string, Map<number, OpenBlocks>>>();

  /** The blocks of a session, to be asked for indices. */
  session(roomId: RoomID, sessionId: string): SessionReplays {
    const sessions = this.#sessions.getOrInsertComputed(
      roomId,
      () => new Map<string, Map<number, OpenBlocks>>(),
    );
    const blocks = sessions.getOrInsertComputed(sessionId, () => new Map<number, OpenBlocks>());
    return new SessionReplays(roomId, sessionId, blocks);
  }

  /** Reads the announced blocks at once, and those of other senders after that. */
  async open(tx: Transaction): Promise<void> {
    const all = [...this.#blocks()];
    await readBlocks(tx, all.map(({ first }) => first));
    const others: OpenBlock[] = [];
    for (const blocks of all) {
      const { sender: first } = blocks.first;
      if (first === undefined) continue; // it is empty
      for (const sender of blocks.senders) if (sender !== first) others.push(otherBlock(blocks, sender));
    }
    if (others.length > 0) await readBlocks(tx, others);
  }

  /** Writes what has changed. */
  save(tx: Transaction): void {
    for (const { first, others } of this.#blocks()) {
      for (const { key, sender, eventIds, times, shown, changed } of [first, ...others.values()]) {
        if (!changed || sender === undefined) continue;
        tx.set(key, { sender, eventIds, times, ...(shown !== 0 && { shown }) });
      }
    }
  }

  *#blocks(): Generator<OpenBlocks> {
    for (const sessions of this.#sessions.values()) {
      for (const blocks of sessions.values()) yield* blocks.values();
    }
  }
}

/**
 * Notes that a session is new: no index of it has been used, so that its first message need not
 * read the log. A read that finds nothing takes Deno KV as long as a commit.
 *
 * @param firstIndex The index that its first message most likely has.
 */
export function noReplays(
  tx: Transaction,
  { roomId, sessionId }: MegolmSessionRef,
  firstIndex: number,
): void {
  tx.absent(blockKey(roomId, sessionId, Math.floor(firstIndex / BLOCK)));
}

/** The indices of one session, for one step. */
export class SessionReplays {
  readonly #roomId: RoomID;
  readonly #sessionId: string;
  readonly #blocks: Map<number, OpenBlocks>;

  /** @internal */
  constructor(roomId: RoomID, sessionId: string, blocks: Map<number, OpenBlocks>) {
    this.#roomId = roomId;
    this.#sessionId = sessionId;
    this.#blocks = blocks;
  }

  /** Announces an index of a sender. */
  want(index: number, sender: UserID): void {
    const number = Math.floor(index / BLOCK);
    let blocks = this.#blocks.get(number);
    if (blocks === undefined) {
      const keyOf = (...other: [] | [UserID]) => blockKey(this.#roomId, this.#sessionId, number, ...other);
      blocks = { first: newBlock(keyOf()), others: new Map(), senders: new Set(), keyOf };
      this.#blocks.set(number, blocks);
    }
    blocks.senders.add(sender);
  }

  /** Returns whether an event of a sender had an index. */
  has(index: number, sender: UserID): boolean {
    const { first, others } = this.#blocks.get(Math.floor(index / BLOCK)) ?? {};
    const { eventIds = [] } = (first?.sender === sender ? first : others?.get(sender)) ?? {};
    return (eventIds[index % BLOCK] ?? "") !== "";
  }

  /**
   * Claims an index for an event: true if its sender had it in no other event before.
   * To be asked for an event only that is its sender's.
   */
  claim(index: number, { sender, event_id, origin_server_ts }: MessageEvent): boolean {
    const block = this.#blockOf(index, sender);
    if (block === undefined) return false;
    const place = index % BLOCK;
    const owner = block.eventIds[place] ?? "";
    if (owner !== "") return owner === event_id && block.times[place] === origin_server_ts;
    // No holes: arrays with holes are slower everywhere.
    while (block.eventIds.length <= place) {
      block.eventIds.push("");
      block.times.push(0);
    }
    block.eventIds[place] = event_id;
    block.times[place] = origin_server_ts;
    block.changed = true;
    return true;
  }

  /**
   * Notes that the event of a claimed index is delivered: true if it was not yet in this step, nor
   * in an earlier one whose events have been handled.
   */
  show(
    index: number,
    { sender }: MessageEvent,
    { handledBefore }: { readonly handledBefore: boolean },
  ): boolean {
    const block = this.#blockOf(index, sender);
    if (block === undefined) return false;
    const bit = 1 << index % BLOCK;
    const wasShown = ((handledBefore ? block.shown : block.shownNow) & bit) !== 0;
    block.changed ||= (block.shown & bit) === 0;
    block.shown |= bit;
    block.shownNow |= bit;
    return !wasShown;
  }

  #blockOf(index: number, sender: UserID): OpenBlock | undefined {
    const blocks = this.#blocks.get(Math.floor(index / BLOCK));
    if (blocks === undefined) return undefined;
    const { first } = blocks;
    if (first.eventIds.length === 0) first.sender = sender;
    return first.sender === sender ? first : otherBlock(blocks, sender);
  }
}

async function readBlocks(tx: Transaction, blocks: readonly OpenBlock[]): Promise<void> {
  const records = await tx.getMany(blocks.map(({ key }) => key));
  for (const [index, block] of blocks.entries()) {
    const { sender = block.sender, eventIds = [], times = [], shown = 0 } = records[index] ?? {};
    block.sender = sender;
    block.eventIds = [...eventIds];
    block.times = [...times];
    block.shown = shown;
  }
}

function newBlock(key: RecordKey<ReplayBlock>, sender?: UserID): OpenBlock {
  return { key, sender, eventIds: [], times: [], shown: 0, shownNow: 0, changed: false };
}

function otherBlock({ others, keyOf }: OpenBlocks, sender: UserID): OpenBlock {
  return others.getOrInsertComputed(sender, () => newBlock(keyOf(sender), sender));
}

function blockKey(
  roomId: RoomID,
  sessionId: string,
  number: number,
  ...other: [] | [UserID]
): RecordKey<ReplayBlock> {
  return recordKey("replay", roomId, sessionId, String(number), ...other);
}
