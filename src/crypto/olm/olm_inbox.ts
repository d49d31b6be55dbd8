/**
 * How encrypted messages to this device are decrypted, each once.
 *
 * @module
 */

import { VodozemacError, type VodozemacErrorCode } from "@greenroom/vodozemac-wasm";
import type { OwnKeys } from "../account/account.ts";
import type { CryptoContext } from "../context/context.ts";
import { DAY_MS, NEW_PEERS_A_DAY, recordKey, type Transaction } from "../records/mod.ts";
import { RateLimit } from "../requests/requests.ts";
import { NEW_PEER, type OlmCiphertext, type OlmPeer, type OlmSessions } from "./olm_sessions.ts";
import { concat } from "@std/bytes/concat";
import { platform } from "../../base/platform/mod.ts";
import { RecentMap } from "../../base/recent_map.ts";
import type { UserID } from "../../types/ids.ts";

/** The result of opening a message. */
export type Opened =
  | {
    readonly kind: "opened";
    readonly plaintext: Uint8Array;
    /** Whether it started a session. */
    readonly isNewSession: boolean;
  }
  /** It is not to be read, and nothing is wrong with the sessions. */
  | { readonly kind: "dropped"; readonly reason: string }
  /** It can't be read: the sessions of the two sides do not fit any more. */
  | { readonly kind: "failed"; readonly reason: string };

/** Errors of the message itself: a new session would not help. */
const BAD_MESSAGE: ReadonlySet<VodozemacErrorCode> = new Set([
  "malformed",
  "unsupported_version",
  "bad_key",
  "bad_length",
  "identity_key_mismatch",
  "non_contributory_key",
  "too_long",
]);

/** What shows that the two sides have lost each other. */
const BAD_SESSION: ReadonlySet<VodozemacErrorCode> = new Set([
  "bad_mac",
  "bad_padding",
  "bad_state",
  "missing_message_key",
  "too_long_gap",
  "unknown_one_time_key",
]);

/** Returns whether an error is due to the message, or to the sessions that it belongs to. */
export function isAboutMessage({ code }: VodozemacError): boolean {
  return BAD_MESSAGE.has(code) || BAD_SESSION.has(code);
}

/** For how many users it is counted with how many new devices they begin sessions. */
const MAX_USERS = 10_000;

/** Decrypts messages, each once. */
export class OlmInbox {
  readonly #context: CryptoContext;
  readonly #ownKeys: OwnKeys;
  readonly #sessions: OlmSessions;
  /** Which messages came. */
  readonly seen: SeenMessages = new SeenMessages();
  readonly #newPeers: RateLimit;

  /** @param context What the parts share. */
  constructor(
    context: CryptoContext,
    { ownKeys, sessions }: { readonly ownKeys: OwnKeys; readonly sessions: OlmSessions },
  ) {
    this.#context = context;
    this.#ownKeys = ownKeys;
    this.#sessions = sessions;
    this.#newPeers = new RateLimit(context.clock, {
      times: NEW_PEERS_A_DAY,
      periodMs: DAY_MS,
      names: MAX_USERS,
    });
  }

  /** Decrypts a message. Changes of the sessions are kept, whatever its plaintext is. */
  async open(tx: Transaction, peer: OlmPeer, message: OlmCiphertext): Promise<Opened> {
    const hash = await this.seen.hash(message.body);
    if (await this.seen.has(tx, peer.curve25519, hash)) return dropped("it was here before");
    try {
      const opened = message.type === 0
        ? await this.#openPreKey(tx, peer, message)
        : await this.#openNormal(tx, peer, message);
      const { userId, curve25519 } = peer;
      const now = this.#context.clock.now();
      if (opened.kind === "opened") await this.seen.add(tx, curve25519, { hash, now, userId });
      return opened;
    } catch (error) {
      if (error instanceof VodozemacError) {
        if (BAD_MESSAGE.has(error.code)) return dropped(error.message);
        if (BAD_SESSION.has(error.code)) return { kind: "failed", reason: error.message };
      }
      throw error;
    }
  }

  /**
   * A pre-key message names its session: if that can't decrypt it, no other can, and it starts
   * none.
   */
  async #openPreKey(tx: Transaction, peer: OlmPeer, message: OlmCiphertext): Promise<Opened> {
    const { sessionId, identityKey } = this.#context.vodozemac.olm.readPreKeyMessage(message.body);
    if (identityKey !== peer.curve25519) return dropped("it names two different senders");
    const record = await this.#sessions.peer(tx, peer);
    const { sessions } = record;
    if (sessions.some(({ id }) => id === sessionId)) {
      const plaintext = await this.#sessions.decrypt(tx, peer, { id: sessionId, sessions, message });
      if (plaintext === undefined) return lost();
      return { kind: "opened", plaintext, isNewSession: false };
    }
    if (await this.#sessions.isGone(tx, peer, sessionId)) return dropped("its session was given up");
    if (record === NEW_PEER && !this.#newPeers.take(peer.userId)) {
      return dropped("its user begins sessions with too many devices");
    }
    const { session, plaintext } = this.#ownKeys.account.createInbound(tx, peer.curve25519, message);
    await this.#sessions.add(tx, peer, { session, inbound: true });
    return { kind: "opened", plaintext, isNewSession: true };
  }

  /** Any session may be the one, that of the last message most likely. None is started. */
  async #openNormal(tx: Transaction, peer: OlmPeer, message: OlmCiphertext): Promise<Opened> {
    const { sessions } = await this.#sessions.peer(tx, peer);
    for (const { id } of sessions) {
      try {
        const plaintext = await this.#sessions.decrypt(tx, peer, { id, sessions, message });
        if (plaintext !== undefined) return { kind: "opened", plaintext, isNewSession: false };
      } catch (error) {
        if (!(error instanceof VodozemacError) || !BAD_SESSION.has(error.code)) throw error;
      }
    }
    return lost();
  }
}

function dropped(reason: string): Opened {
  return { kind: "dropped", reason };
}

function lost(): Opened {
  return { kind: "failed", reason: "there is no session that it belongs to" };
}

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
  readonly #senders = new RecentMap<string, Sender>(MAX_SENDERS);

  /**
   * The name of a message.
   *
   * @param message Its bytes, without what it came wrapped in.
   */
  async hash(message: Uint8Array): Promise<Uint8Array> {
    const { createHash } = await platform.crypto();
    return new Uint8Array(createHash("sha256").update(message).digest().subarray(0, HASH_BYTES));
  }

  /** Returns whether a message was decrypted before. */
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
    tx.onAbort(() => this.#senders.remove(senderKey));
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
   * Returns when the last message of a sender came, in milliseconds since the epoch; undefined: unknown.
   */
  async lastAt(tx: Transaction, senderKey: string): Promise<number | undefined> {
    const { segments, current } = await this.#sender(tx, senderKey);
    return segments.get(current)?.at;
  }

  /** Returns whether all messages of a sender came under one user: a server may name any user. */
  async isOnlyOf(tx: Transaction, senderKey: string, userId: UserID): Promise<boolean> {
    const { segments, current } = await this.#sender(tx, senderKey);
    return segments.get(current)?.userId === userId;
  }

  /** Forgets which messages came of a sender. */
  async forget(tx: Transaction, senderKey: string): Promise<void> {
    const { segments } = await this.#sender(tx, senderKey);
    for (const number of segments.keys()) tx.delete(segmentKey(senderKey, number % SEGMENTS));
    this.#senders.remove(senderKey);
  }

  async #sender(tx: Transaction, senderKey: string): Promise<Sender> {
    const known = this.#senders.get(senderKey);
    if (known !== undefined) return known;
    const sender = await readSender(tx, senderKey);
    this.#senders.set(senderKey, sender);
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
