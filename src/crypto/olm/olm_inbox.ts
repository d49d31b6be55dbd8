/**
 * How encrypted messages to this device are decrypted.
 *
 * @module
 */

import { VodozemacError, type VodozemacErrorCode } from "@greenroom/vodozemac-wasm";
import type { OwnKeys } from "../account/mod.ts";
import type { CryptoContext } from "../context/context.ts";
import { DAY_MS, NEW_PEERS_A_DAY, type Transaction } from "../records/mod.ts";
import { RateLimit } from "../requests/mod.ts";
import { NEW_PEER, type OlmPeer } from "./olm_peer.ts";
import type { OlmCiphertext, OlmSessions } from "./olm_sessions.ts";
import { SeenMessages } from "./seen_messages.ts";

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

/** Whether an error is due to the message, or to the sessions that it belongs to. */
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
  readonly #seen = new SeenMessages();
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

  /**
   * When the last message of a sender came, in milliseconds since the epoch; undefined: unknown.
   */
  async lastAt(tx: Transaction, senderKey: string): Promise<number | undefined> {
    return await this.#seen.lastAt(tx, senderKey);
  }

  /** Whether all messages that were encrypted with a peer's key came under the peer's user. */
  async isOnlyOf(tx: Transaction, { userId, curve25519 }: OlmPeer): Promise<boolean> {
    return await this.#seen.isOnlyOf(tx, curve25519, userId);
  }

  /** Forgets which messages came that were encrypted with a key. */
  async forget(tx: Transaction, senderKey: string): Promise<void> {
    await this.#seen.forget(tx, senderKey);
  }

  /** Decrypts a message. Changes of the sessions are kept, whatever its plaintext is. */
  async open(tx: Transaction, peer: OlmPeer, message: OlmCiphertext): Promise<Opened> {
    const hash = await this.#seen.hash(message.body);
    if (await this.#seen.has(tx, peer.curve25519, hash)) return dropped("it was here before");
    try {
      const opened = message.type === 0
        ? await this.#openPreKey(tx, peer, message)
        : await this.#openNormal(tx, peer, message);
      const { userId, curve25519 } = peer;
      const now = this.#context.clock.now();
      if (opened.kind === "opened") await this.#seen.add(tx, curve25519, { hash, now, userId });
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
