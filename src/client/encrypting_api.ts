/**
 * Sending: in encrypted rooms, in rooms that are becoming encrypted, and by the queue of a room.
 *
 * Over 300 lines because all that decides how a send leaves is read together.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import type { CryptoHolder } from "../actors/crypto/crypto.ts";
import { type OpenStore, type StateStore, UPDATES } from "../actors/store/mod.ts";
import type { ClearRooms } from "../actors/syncer/syncer.ts";
import type { CoreAPI, EncryptedRoomsAPI } from "../api/api.ts";
import {
  identified,
  optionsOfEach,
  type OutgoingEvent,
  outgoingEvent,
  PATIENCE,
  type RequestOptions,
  requestOptions,
  type SendingUser,
} from "../api/http/mod.ts";
import { checkSendOptions, type SendOptions } from "../api/messages/mod.ts";
import { currentCall } from "../base/handler_call.ts";
import { Turns } from "../base/runs.ts";
import type { ShareReport } from "../crypto/sharing/mod.ts";
import type { CryptoMachine } from "../encryption/encryption.ts";
import { EncryptionError } from "../errors/encryption_error.ts";
import { NotFoundError } from "../errors/errcodes.ts";
import { permanent } from "../errors/matrix_error.ts";
import { MatrixRequestError, NetworkError } from "../errors/request_error.ts";
import { AcceptedError, ServiceResponseError } from "../errors/service_response_error.ts";
import type { RoomEncryptedContent } from "../types/content/encryption_content.ts";
import { typeName } from "../types/events/event_type.ts";
import type { EventID, RoomID } from "../types/ids.ts";
import { isAway, type SendQueues } from "./queue/queue.ts";
import type { Hold } from "./sessions_api.ts";

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

/** Has a send added to the queue of its room, where it is not to pass what is in that. */
const QUEUED = new NetworkError("Cannot send: what was to be sent before waits for the server");

/** So is one that waits this long for a limit of the server: it may outlive its function there. */
const LIMITED = { ms: 5_000, over: QUEUED };

/** What is sent as it is: what is encrypted already, and what a server has to read to do it. */
const ALWAYS_CLEAR: ReadonlySet<string> = new Set(["m.room.encrypted", "m.room.redaction"]);

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
  /** Has the queues of sends. Default: nothing is queued. */
  readonly passes?: {
    readonly queues: Pick<SendQueues, "closing" | "isDurable" | "isUnread" | "queue" | "read" | "waiting">;
  };
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
  const { hold = (work) => work(), ready, passes, ...user } = more;
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
    async sendMessageEvent(roomId, eventType, content, given = {}) {
      const type = typeName(eventType);
      checkSendOptions(given, "sendMessageEvent");
      const { disableEncryption = false, queue, ...others } = given;
      const queues = queue === undefined || others.asUserId !== undefined ? undefined : passes?.queues;
      const options = queues === undefined || others.retry === false
        ? others
        : { ...others, retry: { ...others.retry, [PATIENCE]: LIMITED } };
      const isClear = disableEncryption || isNeverEncrypted(type);
      if (isClear && queues === undefined) {
        return await core.sendMessageEvent(roomId, eventType, content, options);
      }
      // All find out at once what they need, and so fail together; but they leave in the order of the calls.
      const turn = isClear
        ? undefined
        : turns.keep({ of: `${roomId} ${options.asUserId ?? ""}`, signal: options.signal });
      let event: OutgoingEvent | undefined;
      let named: SendOptions | undefined;
      try {
        event = await outgoingEvent(eventType, "message", content);
        if (queue === "always" && queues?.isDurable === true) {
          named = options;
          throw QUEUED;
        }
        if (queues?.isUnread && currentCall() !== undefined) await queues.read(); // a handler has the store
        const isEncrypted = turn !== undefined &&
          (await isRoomEncrypted(roomId, options) ||
            (await turn.begun() && await stateStore.isEncrypted(roomId)));
        const outgoing = { roomId, type, content: event.content };
        if (!isEncrypted) {
          if (queues === undefined) {
            const sending = core.sendMessageEvent(roomId, type, event.content, options);
            turn?.end();
            return await sending;
          }
          named = await identified({ ...outgoing, inClear: true }, options, user);
          if (queues.waiting.has(roomId)) throw QUEUED;
          return await core.sendMessageEvent(roomId, type, event.content, named);
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
        const secret = named = await identified(outgoing, options, user);
        const { txnId, signal } = secret;
        return await hold(async () => {
          const crypto = machine(action); // of now: the actors may have been replaced
          const encrypted = await crypto.encrypt(roomId, type, outgoing.content, { txnId, signal });
          const sending = turn.begun().then(() => {
            if (queues?.waiting.has(roomId)) throw QUEUED;
            const leaving = core.sendMessageEvent(roomId, "m.room.encrypted", encrypted, secret);
            if (queues === undefined) turn.end(); // else it may come to be queued, before those behind it
            return leaving;
          });
          return await settled(sending, (outcome) => crypto.sent({ roomId, txnId, ...outcome }));
        });
      } catch (error) {
        if (queues === undefined || event === undefined || !isAway(error)) throw error;
        await turn?.begun();
        // A server that did not say whether the room is encrypted may be about to have it in clear.
        named ??= await identified({ roomId, type, content: event.content, inClear: true }, options, user);
        const { key, txnId, signal } = named;
        const { closing } = queues;
        const over = signal === undefined ? closing : AbortSignal.any([signal, closing]);
        over.throwIfAborted();
        const { sent } = queues.queue(roomId).sendMessageEvent(event.eventType, event.content, {
          ...{ key, txnId, disableEncryption },
        });
        turn?.end();
        return await abortable(sent, over);
      } finally {
        turn?.end();
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
