/**
 * A dehydrated device whose private keys are here again: it decrypts what was sent to it.
 *
 * It lives for one step. Its sessions have a record each, so that a message of a later page finds the
 * session that one before has begun, whatever happens to the process in between.
 *
 * @module
 */

import { type Account, type OlmSession, VodozemacError } from "@greenroom/vodozemac-wasm";
import type { ToDeviceEvent } from "../../types/events/event.ts";
import type { CryptoContext, OwnDevice } from "../context/context.ts";
import { isAboutMessage, type OlmPeer, readOlmMessage } from "../olm/mod.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import type { RateLimit } from "../requests/mod.ts";

/** The kind of its sessions' records. */
export const SESSION_KIND = "rehydrated_session";

/** A session of the device, under its ID, which depends on the identity key of the other side. */
interface SessionRecord {
  /** Its state; secret. */
  readonly state: Uint8Array;
}

/** A message that was decrypted. */
export interface OpenedMessage {
  /** Who sent it, as the server says, and by which key. */
  readonly peer: OlmPeer;
  /** What it says. */
  readonly plaintext: Uint8Array;
}

/** What the device is made with. */
export interface RehydratedDeviceOptions {
  /** What the parts share. */
  readonly context: CryptoContext;
  readonly own: OwnDevice;
  /** Its account, which it disposes of. */
  readonly account: Account;
  /** Limits with how many sessions a user may begin. */
  readonly newSessions: RateLimit;
}

/** Decrypts messages in one step. */
export class RehydratedDevice implements Disposable {
  readonly #options: RehydratedDeviceOptions;
  readonly #sessions = new Map<string, OlmSession>();

  /** @param options What it is made with. */
  constructor(options: RehydratedDeviceOptions) {
    this.#options = options;
  }

  /** The state of its account, without the one-time keys that were used; secret. */
  get state(): Uint8Array {
    return this.#options.account.state();
  }

  /** Decrypts a message; returns the reason if it can't be read. */
  async open(tx: Transaction, event: ToDeviceEvent): Promise<OpenedMessage | string> {
    const { own } = this.#options;
    const received = readOlmMessage(event, own);
    if (typeof received === "string") return received;
    const { peer, message } = received;
    // Who has never got an answer begins the session with each message.
    if (message.type !== 0) return "it belongs to a session of another device";
    try {
      const plaintext = await this.#decrypt(tx, peer, message.body);
      return typeof plaintext === "string" ? plaintext : { peer, plaintext };
    } catch (error) {
      if (error instanceof VodozemacError && isAboutMessage(error)) return error.message;
      throw error;
    }
  }

  /** Frees the objects of vodozemac. */
  [Symbol.dispose](): void {
    for (const session of this.#sessions.values()) session[Symbol.dispose]();
    this.#sessions.clear();
    this.#options.account[Symbol.dispose]();
  }

  async #decrypt(tx: Transaction, peer: OlmPeer, body: Uint8Array): Promise<Uint8Array | string> {
    const { context: { vodozemac }, account, newSessions } = this.#options;
    const { sessionId, identityKey } = vodozemac.olm.readPreKeyMessage(body);
    if (identityKey !== peer.curve25519) return "it names two different senders";
    const known = await this.#session(tx, sessionId);
    if (known !== undefined) {
      const plaintext = known.decrypt({ type: 0, body });
      this.#write(tx, sessionId, known);
      return plaintext;
    }
    if (!newSessions.take(peer.userId)) return "its user begins too many sessions";
    const { session, plaintext } = account.createInboundSession(peer.curve25519, { type: 0, body });
    this.#sessions.set(sessionId, session);
    this.#write(tx, sessionId, session);
    return plaintext;
  }

  async #session(tx: Transaction, sessionId: string): Promise<OlmSession | undefined> {
    const live = this.#sessions.get(sessionId);
    if (live !== undefined) return live;
    const record = await tx.get(sessionKey(sessionId));
    if (record === undefined) return undefined;
    const session = this.#options.context.vodozemac.olm.restoreSession(record.state);
    this.#sessions.set(sessionId, session);
    return session;
  }

  #write(tx: Transaction, sessionId: string, session: OlmSession): void {
    tx.set(sessionKey(sessionId), { state: session.state() });
  }
}

function sessionKey(sessionId: string): RecordKey<SessionRecord> {
  return { ...recordKey<SessionRecord>(SESSION_KIND, sessionId), held: true, passing: true };
}
