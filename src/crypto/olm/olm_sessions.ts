/**
 * Olm sessions: the present ones, the one to send with, the IDs of removed ones; and their other ends, with
 * their records.
 *
 * Over 300 lines because a session and its other end have one record.
 *
 * @module
 */

import { type EncryptedOlmMessage, type OlmSession, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { UserID } from "../../types/ids.ts";
import type { CryptoContext } from "../context/context.ts";
import { ChangeLog, LiveObjects, type RecordKey, recordKey, type Transaction } from "../records/mod.ts";

/** How many sessions with a peer are kept. */
const MAX_SESSIONS = 8;
/** How many IDs of a peer's removed sessions are kept. */
const MAX_GONE = 256;
/** How many sessions are held in memory between steps: some ten kilobytes each. */
const LIVE_SESSIONS = 256;

/** A message of Olm, decoded. */
export interface OlmCiphertext {
  /** 0: it can start a session; 1: it can't. */
  readonly type: 0 | 1;
  /** The message. */
  readonly body: Uint8Array;
}

/**
 * Keeps the sessions. A message writes the session's state, and the peer only if the order of its
 * sessions changes.
 */
export class OlmSessions {
  readonly #context: CryptoContext;
  readonly #live = new LiveObjects<OlmSession>(LIVE_SESSIONS);
  #generation = 0;
  /** The users of whom a device has become reachable, or may have lost messages, once that is durable. */
  readonly changes: ChangeLog<UserID> = new ChangeLog<UserID>();

  /** @param context What the parts share. */
  constructor(context: CryptoContext) {
    this.#context = context;
  }

  /** Reads the state that is kept in memory. */
  async load(tx: Transaction): Promise<void> {
    const [generation, setBack] = await tx.getMany([generationKey(), rollbackKey()]);
    this.#generation = generation ?? 0;
    // Both are written together. Who removes the one must not have sessions used again that were given up.
    if (generation === undefined && setBack !== undefined) this.#begin(tx, this.#context.clock.now());
  }

  async peer(tx: Transaction, peer: OlmPeer): Promise<PeerRecord> {
    return await tx.get(peerKey(peer)) ?? NEW_PEER;
  }

  /** The same of several, in one go. */
  async peers(tx: Transaction, peers: readonly OlmPeer[]): Promise<PeerRecord[]> {
    return (await tx.getMany(peers.map(peerKey))).map((record) => record ?? NEW_PEER);
  }

  /** Writes something about a peer. */
  async note(tx: Transaction, peer: OlmPeer, facts: Partial<PeerRecord>): Promise<void> {
    const notedAt = this.#context.clock.now();
    tx.set(peerKey(peer), { ...await this.peer(tx, peer), ...facts, notedAt });
  }

  /** The records of all peers of a user, without changes of this step. */
  async peersOf(tx: Transaction, userId: UserID): Promise<[curve25519: string, record: PeerRecord][]> {
    const found = await tx.list<PeerRecord>(PEER_KIND, userId);
    return found.map(([[curve25519 = ""], record]) => [curve25519, record]);
  }

  /** Returns whether there is a session that can be sent with. */
  isUsable({ sessions }: PeerRecord): boolean {
    return this.#sending(sessions) !== undefined;
  }

  /** Reads what will be needed to send to several peers, in one go. */
  async prefetch(tx: Transaction, peers: readonly OlmPeer[]): Promise<void> {
    const records = await this.peers(tx, peers);
    await tx.getMany(peers.flatMap((peer, index) => {
      const entry = this.#sending(records[index]?.sessions ?? []);
      return entry === undefined ? [] : [sessionKey(peer, entry.id)];
    }));
  }

  /** The devices with which there is no session. */
  async withoutSession<Peer extends OlmPeer>(tx: Transaction, peers: readonly Peer[]): Promise<Peer[]> {
    const records = await this.peers(tx, peers);
    return peers.filter((_, index) => !this.isUsable(records[index] ?? NEW_PEER));
  }

  /**
   * How often a device may have lost messages: one side could not decrypt and began a new session,
   * or the device began one without ever having used that of this device. Other new sessions do not
   * count.
   */
  async wedgingIndex(tx: Transaction, peer: OlmPeer): Promise<number> {
    return (await this.peer(tx, peer)).wedgingIndex;
  }

  /** Returns whether to tell a device that there is no session with it: once, until there was one. */
  async shouldTellNoOlm(tx: Transaction, peer: OlmPeer): Promise<boolean> {
    return (await this.peer(tx, peer)).toldNoOlm !== true;
  }

  /** Encrypts with the session that a message came in last on; undefined if there is none. */
  async encrypt(tx: Transaction, peer: OlmPeer, plaintext: string): Promise<EncryptedOlmMessage | undefined> {
    for (;;) {
      const { sessions } = await this.peer(tx, peer);
      const entry = this.#sending(sessions);
      if (entry === undefined) return undefined;
      const key = sessionKey(peer, entry.id);
      const session = await this.#session(tx, key);
      if (session !== undefined) {
        try {
          const message = session.encrypt(plaintext);
          this.#changed(tx, key, session);
          return message;
        } catch (error) {
          if (!isCode(error, "non_contributory_key")) throw error;
        }
      }
      const broken = (each: SessionEntry) => each.id === entry.id ? { ...each, broken: true as const } : each;
      await this.note(tx, peer, { sessions: sessions.map(broken) });
      tx.onCommit(() => this.changes.note(peer.userId));
    }
  }

  /**
   * Adds a session as the one to send with; the least recently used one is removed if there are too
   * many.
   */
  async add(
    tx: Transaction,
    peer: OlmPeer,
    { session, inbound }: { readonly session: OlmSession; readonly inbound: boolean },
  ): Promise<void> {
    const key = sessionKey(peer, session.sessionId);
    this.#live.add(tx, key.id, session);
    tx.set(key, session.state());
    const record = await this.peer(tx, peer);
    const isSign = inbound && await this.#isUnanswered(tx, peer, record);
    const entry: SessionEntry = { id: session.sessionId, generation: this.#generation, inbound };
    const sessions = [entry, ...record.sessions];
    await this.#evict(tx, peer, sessions.splice(MAX_SESSIONS));
    await this.note(tx, peer, { sessions, toldNoOlm: false });
    if (!this.isUsable(record)) tx.onCommit(() => this.changes.note(peer.userId));
    if (isSign) await this.wedged(tx, peer);
  }

  /** Notes that a peer may have lost messages. */
  async wedged(tx: Transaction, peer: OlmPeer): Promise<void> {
    const { wedgingIndex } = await this.peer(tx, peer);
    await this.note(tx, peer, { wedgingIndex: wedgingIndex + 1 });
    tx.onCommit(() => this.changes.note(peer.userId));
  }

  /**
   * Decrypts with a session; undefined if it is not there.
   *
   * @param options.sessions The sessions of the peer.
   * @throws {VodozemacError} If it can't; then the session is as it was.
   */
  async decrypt(
    tx: Transaction,
    peer: OlmPeer,
    { id, sessions, message }: {
      readonly id: string;
      readonly sessions: readonly SessionEntry[];
      readonly message: OlmCiphertext;
    },
  ): Promise<Uint8Array | undefined> {
    const key = sessionKey(peer, id);
    const session = await this.#session(tx, key);
    if (session === undefined) return undefined;
    const plaintext = session.decrypt(message);
    this.#changed(tx, key, session);
    const [first] = sessions;
    if (first?.id !== id) {
      const used = sessions.filter((each) => each.id === id);
      await this.note(tx, peer, { sessions: [...used, ...sessions.filter((each) => each.id !== id)] });
    }
    return plaintext;
  }

  /** Returns whether a session with an ID was removed. A message that would start it again is a replay. */
  async isGone(tx: Transaction, peer: OlmPeer, sessionId: string): Promise<boolean> {
    return (await tx.get(goneKey(peer)))?.includes(sessionId) ?? false;
  }

  /** Removes all sessions with a peer; the IDs of those that the peer has begun are kept. */
  async dropSessions(tx: Transaction, peer: OlmPeer, { sessions }: PeerRecord): Promise<void> {
    if (sessions.length === 0) return;
    await this.#evict(tx, peer, sessions);
    tx.set(peerKey(peer), { ...await this.peer(tx, peer), sessions: [] });
  }

  /** Forgets a peer and its sessions; those that it has begun are remembered. */
  async forget(tx: Transaction, peer: OlmPeer, record: PeerRecord): Promise<void> {
    await this.dropSessions(tx, peer, record);
    tx.delete(peerKey(peer));
  }

  /** Forgets the IDs of a peer's removed sessions, which the same messages may then begin again. */
  async forgetGone(tx: Transaction, peer: OlmPeer): Promise<void> {
    if (await tx.get(goneKey(peer)) !== undefined) tx.delete(goneKey(peer));
  }

  /**
   * Stops sending with all present sessions: the store was set back,
   * and they may have been used further since.
   */
  rollback(tx: Transaction): void {
    this.#begin(tx, this.#generation + 1);
  }

  #begin(tx: Transaction, generation: number): void {
    const before = this.#generation;
    this.#generation = generation;
    tx.onAbort(() => this.#generation = before);
    tx.onCommit(() => this.changes.noteAll());
    tx.set(generationKey(), generation);
  }

  /** Frees the objects of vodozemac. */
  clear(): void {
    this.#live.clear();
  }

  #sending(sessions: readonly SessionEntry[]): SessionEntry | undefined {
    return sessions.find(({ generation, broken }) => generation === this.#generation && broken !== true);
  }

  /**
   * Returns whether a peer has never used the session to send with: its messages may never have arrived.
   */
  async #isUnanswered(tx: Transaction, peer: OlmPeer, { sessions }: PeerRecord): Promise<boolean> {
    const entry = this.#sending(sessions);
    if (entry === undefined || entry.inbound) return false;
    const session = await this.#session(tx, sessionKey(peer, entry.id));
    return session?.hasReceivedMessage === false;
  }

  async #session(tx: Transaction, key: RecordKey<Uint8Array>): Promise<OlmSession | undefined> {
    const state = await tx.get(key);
    if (state === undefined) return undefined;
    return this.#live.get(tx, key.id, () => this.#context.vodozemac.olm.restoreSession(state));
  }

  #changed(tx: Transaction, key: RecordKey<Uint8Array>, session: OlmSession): void {
    this.#live.changing(tx, key.id);
    tx.set(key, session.state());
  }

  /**
   * The peer's first message could start its session again while the fallback key exists: its ID is
   * kept.
   */
  async #evict(tx: Transaction, peer: OlmPeer, evicted: readonly SessionEntry[]): Promise<void> {
    for (const { id } of evicted) {
      tx.delete(sessionKey(peer, id));
      this.#live.evict(sessionKey(peer, id).id);
    }
    const inbound = evicted.filter((entry) => entry.inbound).map(({ id }) => id);
    if (inbound.length === 0) return;
    const gone = await tx.get(goneKey(peer)) ?? [];
    tx.set(goneKey(peer), [...gone, ...inbound].slice(-MAX_GONE));
  }
}

function isCode(error: unknown, code: VodozemacError["code"]): boolean {
  return error instanceof VodozemacError && error.code === code;
}

/** The other end of Olm sessions: a key, and the user who claims it. */
export interface OlmPeer {
  readonly userId: UserID;
  /** The Curve25519 identity key of the device, in unpadded base64. */
  readonly curve25519: string;
}

/** A session with a peer. */
export interface SessionEntry {
  /** The session's ID. */
  readonly id: string;
  /** Of which generation of the store it is: one of an earlier generation must not be sent with. */
  readonly generation: number;
  /** Whether the peer has started it. */
  readonly inbound: boolean;
  /** Whether it can't be sent with, for the peer's key makes no secret. */
  readonly broken?: true;
}

export interface PeerRecord {
  /** The sessions: first the one that a message came in last on, or that was made last. */
  readonly sessions: readonly SessionEntry[];
  /** How often the peer may have lost messages: a session did not fit any more and was replaced. */
  readonly wedgingIndex: number;
  /**
   * When a new session was last asked for because a message could not be decrypted, in milliseconds
   * since the epoch.
   */
  readonly unwedgedAt?: number;
  /** Whether the peer was told that there is no session, since there last was one. */
  readonly toldNoOlm?: boolean;
  /** When the record was written last, in milliseconds since the epoch; 0: never. */
  readonly notedAt: number;
}

/** A peer of which nothing is known. */
export const NEW_PEER: PeerRecord = { sessions: [], wedgingIndex: 0, notedAt: 0 };

/** The kind of record. */
export const PEER_KIND = "olm-peer";

/** Returns the key of a peer. */
export function peerKey({ userId, curve25519 }: OlmPeer): RecordKey<PeerRecord> {
  return recordKey(PEER_KIND, userId, curve25519);
}

/** Returns the key of a session's state. */
export function sessionKey({ userId, curve25519 }: OlmPeer, sessionId: string): RecordKey<Uint8Array> {
  return recordKey("olm-session", userId, curve25519, sessionId);
}

/** The key of the IDs of removed sessions that a peer had started, the oldest first. */
function goneKey({ curve25519 }: OlmPeer): RecordKey<readonly string[]> {
  return recordKey("olm-gone", curve25519);
}

/** Returns the key of the store's generation. */
function generationKey(): RecordKey<number> {
  return recordKey("olm-generation");
}

/**
 * Returns the key of the time at which the store was last found to be set back, in milliseconds since the
 * epoch.
 */
export function rollbackKey(): RecordKey<number> {
  return recordKey("rollback");
}
