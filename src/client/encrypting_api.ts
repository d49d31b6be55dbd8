/**
 * Sending in encrypted rooms, and in rooms that are becoming encrypted; and decrypting events that did not
 * come through the sync pipeline, the contract's DecryptionDispatcher.
 *
 * Over 300 lines because what is encrypted and decrypted beside the syncs is read together.
 *
 * @module
 */

import type { CryptoHolder } from "../actors/crypto/crypto.ts";
import { type OpenStore, type StateStore, UPDATES } from "../actors/store/mod.ts";
import type { ClearRooms } from "../actors/syncer/syncer.ts";
import type { CoreAPI, EncryptedRoomsAPI } from "../api/api.ts";
import {
  identified,
  optionsOfEach,
  outgoingEvent,
  type RequestOptions,
  requestOptions,
  type SendingUser,
} from "../api/http/mod.ts";
import { checkSendOptions } from "../api/messages/mod.ts";
import { Turns } from "../base/runs.ts";
import type { ShareReport } from "../crypto/sharing/mod.ts";
import type { Crypto, CryptoMachine } from "../encryption/encryption.ts";
import { DecryptionError, EncryptionError } from "../errors/encryption_error.ts";
import { NotFoundError } from "../errors/errcodes.ts";
import { permanent } from "../errors/matrix_error.ts";
import { MatrixRequestError, NetworkError } from "../errors/request_error.ts";
import { AcceptedError, ServiceResponseError } from "../errors/service_response_error.ts";
import { isRedacted } from "../types/checks/event_check.ts";
import type { RoomEncryptedContent } from "../types/content/encryption_content.ts";
import { defineEvent } from "../types/events/define_event.ts";
import { type MessageEvent, SyncStream } from "../types/events/event.ts";
import { InternalEventType, typeName } from "../types/events/event_type.ts";
import type { EventID, RoomID } from "../types/ids.ts";
import type { Dispatcher, SyncerAPI } from "./syncer_api.ts";

/** The operations of end-to-end encryption. */
export interface EncryptingAPI {
  /**
   * Encrypts an event for a room, creating and sharing a group session first if need be.
   *
   * @param roomId The room.
   * @param eventType The type of the event.
   * @param content Its content.
   * @returns The content of the `m.room.encrypted` event, to be sent with `sendMessageEvent()`. It
   *   differs each time, so that in a handler the send should have a `key`.
   * @throws {EncryptionError} If the client has no encryption, or it can't be done.
   *   Redactions are never encrypted, nor what is encrypted already.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sendSecret(client: Client, roomId: RoomID, body: string): Promise<void> {
   *   const content = await client.encrypt(roomId, "m.room.message", { msgtype: "m.text", body });
   *   await client.sendMessageEvent(roomId, "m.room.encrypted", content);
   * }
   * ```
   */
  encrypt(roomId: RoomID, eventType: string, content: object): Promise<RoomEncryptedContent>;
  /**
   * Creates a group session for a room and shares it with its members' devices, so that the first
   * message need not wait.
   *
   * @param roomId The room.
   * @returns Which devices have the key, and which do not get it and why.
   * @throws {EncryptionError} If the client has no encryption, or it can't be done.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function prepare(client: Client, roomId: RoomID): Promise<void> {
   *   if (await client.isRoomEncrypted(roomId)) await client.shareGroupSession(roomId);
   * }
   * ```
   */
  shareGroupSession(roomId: RoomID): Promise<ShareReport>;
  /**
   * Returns whether a room is encrypted: once a room was seen encrypted it counts as encrypted, even if the
   * server says otherwise later. The client asks the server if it does not know, unless syncs would
   * have shown it.
   *
   * @param roomId The room.
   * @param options Request options, for what has to be looked up.
   * @throws {MatrixError} If the server has to be asked, and can't say.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sendOnlyEncrypted(client: Client, roomId: RoomID, text: string): Promise<void> {
   *   if (await client.isRoomEncrypted(roomId)) await client.sendText(roomId, text);
   * }
   * ```
   */
  isRoomEncrypted(roomId: RoomID, options?: RequestOptions): Promise<boolean>;
}

/** What is sent as it is: what is encrypted already, and what a server has to read to do it. */
const ALWAYS_CLEAR: ReadonlySet<string> = new Set(["m.room.encrypted", "m.room.redaction"]);

/** Does some work while the device is held. */
export type Hold = <Result>(work: () => Promise<Result>) => Promise<Result>;

/** What encrypting sends need beside the core operations. */
interface EncryptingOptions extends SendingUser {
  /** Has the encryption of the client. */
  readonly encryption: CryptoHolder<CryptoMachine>;
  /** Says which rooms are encrypted. */
  readonly stateStore: StateStore;
  /** Says which rooms this client is making encrypted. */
  readonly encryptionSends: EncryptionSends;
  /** Says of which rooms it is known that they are not. */
  readonly clearRooms: Pick<ClearRooms, "has" | "asks">;
  /** Types of event that are never encrypted. */
  readonly blacklist: ReadonlySet<string>;
  /** Holds the device for the time of some work, where that commits to the store. Default: it is held. */
  readonly hold?: Hold;
  /** Opens the store, by new actors if others have failed. Default: it is open. */
  readonly ready?: OpenStore;
}

/**
 * Lets `sendMessageEvent()` encrypt in encrypted rooms.
 *
 * Nothing is sent in clear by mistake: a room that was seen encrypted stays so, and for any other
 * the server is asked, again when syncs may have left something out; if it does not answer, the send
 * fails. If this client is making the room encrypted, the send waits for that. Without encryption,
 * sending into a room that is known to be encrypted is refused.
 *
 * @param core The operations below.
 * @param options Encryption, and what else is needed.
 */
export function encryptingAPI(
  core: CoreAPI,
  options: EncryptingOptions,
): CoreAPI & EncryptingAPI & EncryptedRoomsAPI {
  const { encryption, stateStore, encryptionSends, clearRooms, blacklist, ...more } = options;
  const { hold = (work) => work(), ready, ...user } = more;
  /** @param asks Who is asked about a room that nothing is known of. Default: without encryption nobody. */
  const isRoomEncrypted = async (
    roomId: RoomID,
    options: RequestOptions,
    asks: "server" | "nobody" = encryption.crypto === undefined ? "nobody" : "server",
  ): Promise<boolean> => {
    await encryptionSends.settled(roomId);
    const known = await stateStore.isEncrypted(roomId);
    if (known === true || asks === "nobody") return known ?? false;
    const { crypto } = encryption;
    // While syncs follow, one would show that the room has become encrypted,
    // but for a server that was restored.
    const isFollowed = crypto === undefined || crypto.isFollowing && clearRooms.has(roomId);
    if (known === false && isFollowed) return false;
    // The state of rooms may be another client's: then nothing has waited yet for this one's actors.
    await ready?.(options.signal);
    // The room's own record may have been removed, by who has the disk: it is not all that says so.
    if (await encryption.crypto?.isRoomEncrypted(roomId)) return true;
    const noteClear = clearRooms.asks(roomId);
    try {
      await core.getStateEvent(roomId, "m.room.encryption", requestOptions(options));
      return true;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      await stateStore[UPDATES].setUnencrypted(roomId);
      noteClear();
      return await stateStore.isEncrypted(roomId) ?? false; // it may have become so in the meantime
    }
  };
  const turns = new Turns<string>();
  const isNeverEncrypted = (type: string) => blacklist.has(type) || ALWAYS_CLEAR.has(type);
  const machine = (action: string): CryptoMachine => {
    const { crypto } = encryption;
    if (crypto === undefined) {
      throw permanent(
        new EncryptionError(
          `Cannot ${action}: the client has no encryption; give it encryption, and a store that lasts (a bot: MATRIX_STORE)`,
        ),
      );
    }
    return crypto;
  };
  return {
    ...core,
    async sendMessageEvent(roomId, eventType, content, { disableEncryption = false, ...options } = {}) {
      const type = typeName(eventType);
      checkSendOptions(options, "sendMessageEvent");
      if (disableEncryption || isNeverEncrypted(type)) {
        return await core.sendMessageEvent(roomId, eventType, content, options);
      }
      // All find out at once what they need, and so fail together; but they leave in the order of the calls.
      const turn = turns.keep({ of: `${roomId} ${options.asUserId ?? ""}`, signal: options.signal });
      try {
        const event = await outgoingEvent(eventType, "message", content);
        const isEncrypted = await isRoomEncrypted(roomId, options) ||
          (await turn.begun() && await stateStore.isEncrypted(roomId));
        if (!isEncrypted) {
          const sending = core.sendMessageEvent(roomId, type, event.content, options);
          turn.end();
          return await sending;
        }
        if (options.asUserId !== undefined) {
          throw permanent(
            new EncryptionError(
              `Cannot send ${type} to the encrypted room ${roomId} as ${options.asUserId}: only the own user's device can encrypt`,
            ),
          );
        }
        const action = `send ${type} to the encrypted room ${roomId}`;
        machine(action); // refused before it gets a name
        const outgoing = { roomId, type, content: event.content };
        const named = await identified(outgoing, options, user);
        const { txnId, signal } = named;
        return await hold(async () => {
          const crypto = machine(action); // of now: the actors may have been replaced
          const encrypted = await crypto.encrypt(roomId, type, event.content, { txnId, signal });
          const sending = turn.begun().then(() => {
            const leaving = core.sendMessageEvent(roomId, "m.room.encrypted", encrypted, named);
            turn.end();
            return leaving;
          });
          return await settled(sending, (outcome) => crypto.sent({ roomId, txnId, ...outcome }));
        });
      } finally {
        turn.end();
      }
    },
    async isEncrypted(roomId, options, type) {
      if (type !== undefined && isNeverEncrypted(type)) return false;
      if (!await isRoomEncrypted(roomId, options)) return false;
      machine(`send to the encrypted room ${roomId}`);
      return true;
    },
    isRoomEncrypted: async (roomId, options = {}) =>
      await isRoomEncrypted(roomId, optionsOfEach(options, {}, "say whether a room is encrypted"), "server"),
    async encrypt(roomId, eventType, content) {
      if (ALWAYS_CLEAR.has(eventType)) {
        throw new EncryptionError(
          `Cannot encrypt ${eventType} for ${roomId}: encrypted it would do nothing; send it as it is`,
        );
      }
      return await hold(() => machine(`encrypt for ${roomId}`).encrypt(roomId, eventType, content));
    },
    shareGroupSession: async (roomId) =>
      await hold(() => machine(`share a group session of ${roomId}`).shareGroupSession(roomId)),
  };
}

/**
 * An encrypted event is stored until its send has ended: one whose send has failed must not be sent
 * by the next process.
 */
async function settled(
  sending: Promise<EventID>,
  note: (outcome: { readonly hasArrived: boolean }) => Promise<void>,
): Promise<EventID> {
  const result = await sending.catch(async (error) => {
    // The caller gets what the server said.
    await note({ hasArrived: error instanceof AcceptedError }).catch(() => {});
    throw error;
  });
  note({ hasArrived: true }).catch(() => {}); // the next process sends it again, with the same transaction ID
  return result;
}

/** Answers after which an earlier try may have succeeded. */
const UNSURE: readonly number[] = [408, 429];

/** A send of `m.room.encryption`. */
interface EncryptionSend<T> {
  /** Makes the request. */
  readonly send: () => Promise<T>;
  /**
   * Stores that the room is encrypted: called unless the server has refused, or nothing was sent.
   */
  readonly note: () => Promise<void>;
  /** Aborts the request. */
  readonly signal: AbortSignal | undefined;
}

/** The rooms that this client is making encrypted. */
export class EncryptionSends {
  readonly #underway = new Map<RoomID, Promise<void>>();

  /** Sends, and stores it: also after a failure, unless the room is surely as it was. */
  async run<T>(roomId: RoomID, request: EncryptionSend<T>): Promise<T> {
    const sending = sent(request);
    const settled = Promise.allSettled([this.#underway.get(roomId), sending]).then(() => {
      if (this.#underway.get(roomId) === settled) this.#underway.delete(roomId);
    });
    this.#underway.set(roomId, settled);
    return await sending;
  }

  /**
   * Resolves when all sends to a room that have begun have ended, and are stored; undefined: none has begun.
   */
  settled(roomId: RoomID): Promise<void> | undefined {
    return this.#underway.get(roomId);
  }
}

async function sent<T>({ send, note, signal }: EncryptionSend<T>): Promise<T> {
  signal?.throwIfAborted();
  try {
    const result = await send();
    await note();
    return result;
  } catch (error) {
    if (signal?.aborted || mayHaveArrived(error)) await note();
    throw error;
  }
}

/** Returns whether the server may have done what a request asks for, although it has failed. */
function mayHaveArrived(error: unknown): boolean {
  if (error instanceof MatrixRequestError) return error.status >= 500 || UNSURE.includes(error.status);
  return error instanceof NetworkError || error instanceof ServiceResponseError;
}

/** What it needs of a client. */
export interface DecryptingClient
  extends Pick<SyncerAPI, "addEventHandler" | "removeEventHandler" | "dispatchEvent" | "runInternalEvent"> {
  /** End-to-end encryption. */
  readonly crypto: Crypto | undefined;
}

/** Any encrypted event, malformed or not: decryption says what is wrong with it. */
const ENCRYPTED = defineEvent({ type: "m.room.encrypted", class: "message" });

/**
 * Decrypts encrypted events and dispatches them in plain text, with the same source.
 *
 * A client with encryption has one. Events of a sync are decrypted before they reach handlers, in
 * order; those that can't be decrypted are delivered once they can. This is for encrypted events
 * that the application dispatches.
 *
 * @example
 * ```ts
 * import { Client, DecryptionDispatcher } from "@greenroom/matrix";
 *
 * await using client = new Client({ baseUrl: "https://matrix.example.org", encryption: true });
 * console.assert(client.dispatchers.has(DecryptionDispatcher));
 * ```
 */
export class DecryptionDispatcher implements Dispatcher {
  readonly #client: DecryptingClient;
  readonly #handler = (event: MessageEvent<"m.room.encrypted">): Promise<void> => this.handle(event);

  /**
   * Makes a dispatcher; `client.addDispatcher(DecryptionDispatcher)` registers it too.
   *
   * @param client The client whose events it decrypts.
   */
  constructor(client: DecryptingClient) {
    this.#client = client;
  }

  /** Adds the handler of encrypted events. */
  register(): void {
    this.#client.addEventHandler(ENCRYPTED, this.#handler, { waitSync: true });
  }

  /** Removes the handler. */
  unregister(): void {
    this.#client.removeEventHandler(ENCRYPTED, this.#handler);
  }

  /**
   * Decrypts an event and dispatches it in plain text, with the same source. One that can't be
   * decrypted is reported as `UNDECRYPTABLE`; one that came with a sync is not decrypted again.
   *
   * @param event The encrypted event.
   * @returns Resolves when the handlers have settled.
   * @throws {EncryptionError} If the client has no encryption.
   */
  async handle(event: MessageEvent<"m.room.encrypted">): Promise<void> {
    const { crypto } = this.#client;
    if (crypto === undefined) {
      throw new EncryptionError(
        "Cannot decrypt an event: the client has no encryption; make it with encryption",
      );
    }
    if (crypto.isWaiting(event) || isRedacted(event)) return;
    const result = await crypto.decrypt(event);
    if ("event" in result) {
      await Promise.all(this.#client.dispatchEvent(result.event, event.source ?? SyncStream.INTERNAL));
      return;
    }
    const { code, withheld } = result;
    const data = { event, reason: new DecryptionError(result.reason), code, withheld };
    await this.#client.runInternalEvent(InternalEventType.UNDECRYPTABLE, data);
  }
}
