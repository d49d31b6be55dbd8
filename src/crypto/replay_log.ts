/**
 * Which event had which index of a Megolm session: a message that comes again as another event is a replay.
 *
 * @module
 */

import type { MessageEvent } from "../types/event.ts";
import type { RoomID } from "../types/ids.ts";
import { type RecordKey, recordKey } from "./record_key.ts";
import type { Transaction } from "./transaction.ts";

/** How many indices share a record. */
const BLOCK = 32;

/** The events of some consecutive indices; where there is none the ID is empty or missing. */
interface ReplayBlock {
  readonly eventIds: readonly string[];
  readonly times: readonly number[];
}

interface OpenBlock {
  readonly key: RecordKey<ReplayBlock>;
  eventIds: string[];
  times: number[];
  changed: boolean;
}

/** Notes, for one step, which events had which index. Ask for all indices first, then {@link open}, then {@link claim}. */
export class ReplayLog {
  readonly #sessions = new Map<RoomID, Map<string, Map<number, OpenBlock>>>();

  /** The blocks of a session, to be asked for indices. */
  session(roomId: RoomID, sessionId: string): SessionReplays {
    const sessions = this.#sessions.getOrInsertComputed(
      roomId,
      () => new Map<string, Map<number, OpenBlock>>(),
    );
    const blocks = sessions.getOrInsertComputed(sessionId, () => new Map<number, OpenBlock>());
    return new SessionReplays(roomId, sessionId, blocks);
  }

  /** Reads what was asked for, at once. */
  async open(tx: Transaction): Promise<void> {
    const blocks = [...this.#blocks()];
    const records = await tx.getMany(blocks.map(({ key }) => key));
    for (const [index, block] of blocks.entries()) {
      const { eventIds = [], times = [] } = records[index] ?? {};
      block.eventIds = [...eventIds];
      block.times = [...times];
    }
  }

  /** Writes what is new. */
  save(tx: Transaction): void {
    for (const { key, eventIds, times, changed } of this.#blocks()) {
      if (changed) tx.set(key, { eventIds, times });
    }
  }

  *#blocks(): Generator<OpenBlock> {
    for (const sessions of this.#sessions.values()) {
      for (const blocks of sessions.values()) yield* blocks.values();
    }
  }
}

/**
 * Says that a session is new: no index of it has been used, so that its first message need not look for who had it. A read
 * that finds nothing takes Deno KV as long as a commit.
 *
 * @param firstIndex The index that its first message most likely has.
 */
export function noReplays(
  tx: Transaction,
  { roomId, sessionId }: { readonly roomId: RoomID; readonly sessionId: string },
  firstIndex: number,
): void {
  tx.absent(blockKey(roomId, sessionId, Math.floor(firstIndex / BLOCK)));
}

/** The indices of one session, for one step. */
export class SessionReplays {
  readonly #roomId: RoomID;
  readonly #sessionId: string;
  readonly #blocks: Map<number, OpenBlock>;

  /** @internal */
  constructor(roomId: RoomID, sessionId: string, blocks: Map<number, OpenBlock>) {
    this.#roomId = roomId;
    this.#sessionId = sessionId;
    this.#blocks = blocks;
  }

  /** Says that an index will be asked for. */
  want(index: number): void {
    const number = Math.floor(index / BLOCK);
    if (this.#blocks.has(number)) return;
    const key = blockKey(this.#roomId, this.#sessionId, number);
    this.#blocks.set(number, { key, eventIds: [], times: [], changed: false });
  }

  /** Whether an index is the event's: nobody had it before, or the same event at the same time. It is from now on. */
  claim(index: number, { event_id, origin_server_ts }: MessageEvent): boolean {
    const block = this.#blocks.get(Math.floor(index / BLOCK));
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
}

function blockKey(roomId: RoomID, sessionId: string, number: number): RecordKey<ReplayBlock> {
  return recordKey("replay", roomId, sessionId, String(number));
}
