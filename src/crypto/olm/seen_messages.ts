/**
 * Messages that were decrypted, so that none is taken twice.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import { nodeCrypto } from "../../base/node_crypto.ts";
import { WeighedCache } from "../../base/weighed_cache.ts";
import type { UserID } from "../../types/ids.ts";
import { recordKey, type Transaction } from "../records/mod.ts";

/** Of each hash as much is kept as makes another message with the same one impossible to find. */
const HASH_BYTES = 16;
/** A message rewrites one segment: a kilobyte at most. */
const HASHES_PER_SEGMENT = 64;
/** At least the last 192 messages of a sender are remembered, at most 256. */
const SEGMENTS = 4;
/** For how many senders it is held in memory. */
const MAX_SENDERS = 512;

/** Hashes, in the order in which they came. */
interface Segment {
  /** The place of the segment in the order of all segments of the sender. */
  readonly number: number;
  readonly hashes: Uint8Array;
  /** When the last of them came, in milliseconds since the epoch; undefined: unknown. */
  readonly at?: number;
  /** The user of all messages of the sender; undefined: several, or unknown. */
  readonly userId?: UserID;
}

interface Sender {
  readonly seen: Set<string>;
  readonly segments: Map<number, Segment>;
  current: number;
}

/** Remembers the last messages of each sender. */
export class SeenMessages {
  readonly #senders = new WeighedCache<string, Sender>(MAX_SENDERS);

  /**
   * The name of a message.
   *
   * @param message Its bytes, without whatever it came wrapped in.
   */
  async hash(message: Uint8Array): Promise<Uint8Array> {
    const { createHash } = await nodeCrypto();
    return new Uint8Array(createHash("sha256").update(message).digest().subarray(0, HASH_BYTES));
  }

  /** Whether a message was decrypted before. */
  async has(tx: Transaction, senderKey: string, hash: Uint8Array): Promise<boolean> {
    return (await this.#sender(tx, senderKey)).seen.has(hash.toHex());
  }

  /** Remembers a message. */
  async add(
    tx: Transaction,
    senderKey: string,
    { hash, now, userId }: { readonly hash: Uint8Array; readonly now: number; readonly userId: UserID },
  ): Promise<void> {
    const sender = await this.#sender(tx, senderKey);
    tx.onAbort(() => this.#senders.delete(senderKey));
    const only = sender.segments.size === 0 || sender.segments.get(sender.current)?.userId === userId;
    let segment = sender.segments.get(sender.current) ?? { number: sender.current, hashes: new Uint8Array() };
    if (segment.hashes.length >= HASHES_PER_SEGMENT * HASH_BYTES) {
      sender.current++;
      segment = { number: sender.current, hashes: new Uint8Array() };
      this.#forget(sender, sender.current - SEGMENTS);
    }
    const hashes = concat([segment.hashes, hash]);
    segment = { number: segment.number, hashes, at: now, ...(only && { userId }) };
    sender.segments.set(segment.number, segment);
    sender.seen.add(hash.toHex());
    tx.set(segmentKey(senderKey, segment.number % SEGMENTS), segment);
  }

  /**
   * When the last message of a sender came, in milliseconds since the epoch; undefined: unknown.
   */
  async lastAt(tx: Transaction, senderKey: string): Promise<number | undefined> {
    const { segments, current } = await this.#sender(tx, senderKey);
    return segments.get(current)?.at;
  }

  /** Whether all messages of a sender came under one user: a server may name any user. */
  async isOnlyOf(tx: Transaction, senderKey: string, userId: UserID): Promise<boolean> {
    const { segments, current } = await this.#sender(tx, senderKey);
    return segments.get(current)?.userId === userId;
  }

  /** Forgets all messages of a sender. */
  async forget(tx: Transaction, senderKey: string): Promise<void> {
    const { segments } = await this.#sender(tx, senderKey);
    for (const number of segments.keys()) tx.delete(segmentKey(senderKey, number % SEGMENTS));
    this.#senders.delete(senderKey);
  }

  async #sender(tx: Transaction, senderKey: string): Promise<Sender> {
    const known = this.#senders.get(senderKey);
    if (known !== undefined) return known;
    const sender = await readSender(tx, senderKey);
    this.#senders.set(senderKey, sender, 1);
    return sender;
  }

  #forget(sender: Sender, number: number): void {
    for (const hash of hashesOf(sender.segments.get(number))) sender.seen.delete(hash);
    sender.segments.delete(number);
  }
}

async function readSender(tx: Transaction, senderKey: string): Promise<Sender> {
  const keys = Array.from({ length: SEGMENTS }, (_, slot) => segmentKey(senderKey, slot));
  const found = (await tx.getMany(keys)).filter((segment) => segment !== undefined);
  return {
    seen: new Set(found.flatMap((segment) => [...hashesOf(segment)])),
    segments: new Map(found.map((segment) => [segment.number, segment])),
    current: Math.max(0, ...found.map(({ number }) => number)),
  };
}

function* hashesOf(segment: Segment | undefined): Generator<string> {
  const hashes = segment?.hashes ?? new Uint8Array();
  for (let start = 0; start < hashes.length; start += HASH_BYTES) {
    yield hashes.subarray(start, start + HASH_BYTES).toHex();
  }
}

function segmentKey(senderKey: string, slot: number) {
  return recordKey<Segment>("olm-seen", senderKey, String(slot));
}
