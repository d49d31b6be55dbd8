/**
 * Events that can't be read yet, kept until they can.
 *
 * @module
 */

import type { UndecryptableCode } from "../../types/events/internal_event.ts";
import type { MessageEvent } from "../../types/events/event.ts";
import type { EventID, RoomID, UserID } from "../../types/ids.ts";
import type { CryptoContext } from "../context/context.ts";
import type { Decryption, RecoveredEvent, UndecryptableEventRef } from "./decrypted.ts";
import { FairIndex, type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { MegolmDecryption } from "./megolm_decryption.ts";
import type { MegolmSessionRef } from "../../types/identifiers.ts";
import type { Undecryptable } from "./encrypted_event.ts";

interface UndecryptableRecord {
  readonly event: MessageEvent;
  readonly code: UndecryptableCode;
  /** The order of the events. */
  readonly order: number;
  readonly at: number;
}

interface Undecrypted extends Omit<UndecryptableRecord, "event">, UndecryptableEventRef {
  readonly sessionId: string;
  readonly sender: UserID;
  /**
   * Whether it has been delivered: it is kept until it has been handled, and not delivered again.
   */
  readonly recovered: boolean;
}

/**
 * How many events are kept; beyond that the oldest event of the sender with the most, in the room
 * with the most, is dropped.
 */
const LIMIT = 1_000;
/**
 * The maximum length of an event, in characters of JSON: several times the limit of servers, with
 * what they add.
 */
const MAX_LENGTH = 262_144;
/** For how long an event is kept, in milliseconds. */
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1_000;

/** Problems that may go away. */
const CURABLE: ReadonlySet<UndecryptableCode> = new Set([
  "MISSING_KEY",
  "WITHHELD",
  "KEY_TOO_NEW",
  "UNTRUSTED",
]);

/** Keeps events that can't be read yet. */
export class UndecryptableEvents {
  readonly #context: CryptoContext;
  readonly #decryption: Pick<MegolmDecryption, "decryptAll">;
  readonly #maxAgeMs: number;
  readonly #index: FairIndex<Undecrypted>;
  #last = 0;
  /**
   * Whether all events are to be tried: an earlier process may have ended between a key and its
   * events.
   */
  #untried = true;

  /**
   * @param context What the parts share.
   * @param decryption Tries events again.
   * @param bounds How many events are kept, and how long. Default: 1,000, for 30 days.
   */
  constructor(
    context: CryptoContext,
    decryption: Pick<MegolmDecryption, "decryptAll">,
    { limit = LIMIT, maxAgeMs = MAX_AGE_MS }: { readonly limit?: number; readonly maxAgeMs?: number } = {},
  ) {
    this.#context = context;
    this.#decryption = decryption;
    this.#maxAgeMs = maxAgeMs;
    this.#index = new FairIndex(limit, ({ sender }) => sender);
  }

  /** How many events are kept. */
  get size(): number {
    return this.#index.size;
  }

  /**
   * Whether the events of an earlier process have not been tried yet: {@link retry} with `all`
   * does.
   */
  get isUntried(): boolean {
    return this.#untried;
  }

  /** Reads the events of an earlier process. Events that it had delivered are delivered again. */
  async load(tx: Transaction): Promise<void> {
    this.#index.clear();
    this.#untried = true;
    const records = await tx.list<UndecryptableRecord>("parked");
    records.sort(([, one], [, other]) => one.order - other.order);
    for (const [, record] of records) {
      const kept = keptOf(record);
      this.#index.load(kept.roomId, kept.eventId, kept);
      this.#last = kept.order;
    }
  }

  /**
   * Keeps an event that can't be decrypted yet, unless it is kept already or never will be
   * decrypted.
   *
   * @param why The reason.
   * @returns Whether it is new, and its key is worth asking for.
   */
  add(tx: Transaction, event: MessageEvent, why: Undecryptable): boolean {
    const { room_id: roomId, event_id: eventId } = event;
    if (!CURABLE.has(why.code) || this.#index.get(roomId, eventId) !== undefined) return false;
    if (JSON.stringify(event).length > MAX_LENGTH) return false;
    const at = this.#context.clock.now();
    const record: UndecryptableRecord = { event, code: why.code, order: ++this.#last, at };
    const kept = keptOf(record);
    tx.set(undecryptableKey(kept), record);
    for (const [, , gone] of this.#index.set(tx, [roomId, eventId, kept])) tx.delete(undecryptableKey(gone));
    return why.code !== "UNTRUSTED" || why.isKeyWanted === true;
  }

  /**
   * Receives an event that a sync brought and that was decrypted: it need not be kept any more.
   *
   * @returns Whether it is to be delivered; not if it was delivered as recovered, and is being
   *   handled.
   */
  delivered(tx: Transaction, { room_id, event_id }: MessageEvent): boolean {
    const kept = this.#index.get(room_id, event_id);
    if (kept?.recovered === true) return false;
    if (kept !== undefined) this.#forget(tx, kept);
    return true;
  }

  /**
   * Tries again to decrypt events.
   *
   * @param what Sessions whose keys have come; or `all`: devices have changed.
   * @returns The decrypted events, in the order in which they came. They are kept until they have
   *   been handled: {@link settle}.
   */
  async retry(tx: Transaction, what: readonly MegolmSessionRef[] | "all"): Promise<RecoveredEvent[]> {
    const waiting = this.#waiting(what).sort((one, other) => one.order - other.order);
    if (what === "all") tx.onCommit(() => this.#untried = false);
    if (waiting.length === 0) return [];
    const records = await tx.getMany(waiting.map(undecryptableKey));
    const found: [Undecrypted, MessageEvent][] = [];
    for (const [index, kept] of waiting.entries()) {
      const record = records[index];
      if (record === undefined) this.#forget(tx, kept);
      else found.push([kept, record.event]);
    }
    // Each is here once, until it has been handled.
    const delivery = { handledBefore: false, again: new Set<number>() };
    const results = await this.#decryption.decryptAll(tx, found.map(([, event]) => event), delivery);
    const recovered: RecoveredEvent[] = [];
    for (const [index, [kept]] of found.entries()) {
      const result = results[index] as Decryption; // one for each event
      const { roomId, eventId } = kept;
      if ("event" in result) {
        this.#index.set(tx, [roomId, eventId, { ...kept, recovered: true }]);
        recovered.push({ ...result, ref: { roomId, eventId } });
      } else this.#stillWaiting(tx, kept, result);
    }
    return recovered;
  }

  /** The sessions of events that wait for a key, or an earlier one. */
  *missing(): Generator<MegolmSessionRef> {
    for (const { recovered, code, roomId, sessionId } of this.#index.values()) {
      if (!recovered && code !== "UNTRUSTED") yield { roomId, sessionId };
    }
  }

  /** Forgets events that have been handled since they could be read. */
  settle(tx: Transaction, events: readonly UndecryptableEventRef[]): void {
    for (const { roomId, eventId } of events) {
      const kept = this.#index.get(roomId, eventId);
      if (kept !== undefined) this.#forget(tx, kept);
    }
  }

  /**
   * Drops events whose key has not come for too long. Only the pruner calls it, which checks the
   * clock first.
   *
   * @param limit How many records the step may change. Default: any number.
   * @returns Whether there may be `more` of them.
   */
  forgetOld(tx: Transaction, limit = Infinity): "done" | "more" {
    for (const kept of [...this.#index.values()]) {
      if (tx.changes >= limit) return "more";
      if (this.#isOld(kept)) this.#forget(tx, kept);
    }
    return "done";
  }

  #waiting(what: readonly MegolmSessionRef[] | "all"): Undecrypted[] {
    const waiting = [...this.#index.values()].filter(({ recovered }) => !recovered);
    if (what !== "all") {
      const names = new Set(what.map(sessionName));
      return waiting.filter((kept) => names.has(sessionName(kept)));
    }
    // New keys come with their sessions; other problems go away when devices change.
    return this.#untried ? waiting : waiting.filter(({ code }) => code === "UNTRUSTED");
  }

  #stillWaiting(tx: Transaction, kept: Undecrypted, { code, reason }: Undecryptable): void {
    const { roomId, eventId } = kept;
    if (!CURABLE.has(code)) {
      this.#context.log.warn("An event that waited for its key can't be read", { reason });
      this.#forget(tx, kept);
    } else if (code !== kept.code) {
      // In memory only: another process tries everything once anyway.
      this.#index.set(tx, [roomId, eventId, { ...kept, code }]);
    }
  }

  #forget(tx: Transaction, kept: Undecrypted): void {
    this.#index.delete(tx, kept.roomId, kept.eventId);
    tx.delete(undecryptableKey(kept));
  }

  #isOld({ at }: Undecrypted): boolean {
    return this.#context.clock.now() - at > this.#maxAgeMs;
  }
}

/** What is kept in memory of an event that has just been stored, or read. */
function keptOf({ event, code, order, at }: UndecryptableRecord): Undecrypted {
  const { room_id: roomId, event_id: eventId, sender } = event;
  return { roomId, eventId, sessionId: sessionOf(event), sender, code, order, at, recovered: false };
}

function sessionOf({ content }: MessageEvent): string {
  return typeof content.session_id === "string" ? content.session_id : "";
}

function sessionName({ roomId, sessionId }: MegolmSessionRef): string {
  return JSON.stringify([roomId, sessionId]);
}

function undecryptableKey(
  { roomId, eventId }: { roomId: RoomID; eventId: EventID },
): RecordKey<UndecryptableRecord> {
  return recordKey("parked", roomId, eventId);
}
