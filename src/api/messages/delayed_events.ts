/**
 * Events that the homeserver sends later, unless they are cancelled before.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4140 | MSC4140}
 * @module
 */

import {
  CALL,
  checkInteger,
  checkRequestOptions,
  type ContentAs,
  endpoint,
  field,
  identified,
  nothing,
  outgoingEvent,
  type RequestOptions,
  requestOptions,
  type SendableContent,
  type Session,
  shaped,
  type TransactionOptions,
} from "../http/mod.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { anyObject, list, number, object, optional, roomId as room, text } from "../../types/checks/shape.ts";
import { REDACTION, SENT_REDACTIONS } from "./messages.ts";
import { roomStateAPI } from "../rooms/rooms.ts";
import type { EventType } from "../../types/events/event_type.ts";
import type { RoomID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

const ROOM = "/_matrix/client/v3/rooms/{roomId}";
const DELAYED = "/_matrix/client/unstable/org.matrix.msc4140/delayed_events";
const DELAY = "org.matrix.msc4140.delay";

const delayIdOf = field<string>("delay_id", "string");
const createMessage = endpoint("createDelayedEvent", "PUT", `${ROOM}/send/{eventType}/{txnId}`, delayIdOf);
// Without a transaction ID: a second one would be another event.
const createState = endpoint("createDelayedEvent", "PUT", `${ROOM}/state/{eventType}/{stateKey}`, delayIdOf, {
  idempotent: false,
});
const listAll = endpoint(
  "listDelayedEvents",
  "GET",
  DELAYED,
  shaped(object<{ delayed_events: DelayedEvent[] }>({
    delayed_events: list(object<DelayedEvent>({
      delay_id: text,
      room_id: room,
      type: text,
      state_key: optional(text),
      delay_ms: number,
      delayed_since_ts: number,
      content: anyObject,
    })),
  })),
);
const cancel = endpoint("cancelDelayedEvent", "POST", `${DELAYED}/{delayId}/cancel`, nothing);
const restart = endpoint("restartDelayedEvent", "POST", `${DELAYED}/{delayId}/restart`, nothing, {
  idempotent: true, // it begins at the second request
});
const send = endpoint("sendDelayedEvent", "POST", `${DELAYED}/{delayId}/send`, nothing);

/** What is known of an event, without what else a server says: it could pass for what this library notes. */
function known(
  { delay_id, room_id, type, state_key, delay_ms, delayed_since_ts, content }: DelayedEvent,
): DelayedEvent {
  const place = state_key === undefined ? {} : { state_key };
  return { delay_id, room_id, type, ...place, delay_ms, delayed_since_ts, content };
}

/** An event that the homeserver will send. */
export interface DelayedEvent {
  /** Names it for the other operations. */
  delay_id: string;
  /** Where it will be sent. */
  room_id: RoomID;
  /** What it is: a type of event. */
  type: string;
  /** Its state key; absent of what is no state. */
  state_key?: string;
  /** After how long it is sent, in milliseconds. */
  delay_ms: number;
  /** Since when that time runs, in milliseconds since the epoch. */
  delayed_since_ts: number;
  /** What it will say. */
  content: JsonObject;
}

/** Options of {@link DelayedEventsAPI.createDelayedEvent}. */
export interface CreateDelayedEventOptions extends TransactionOptions {
  /** After how long it is sent, in milliseconds, at least 1; Synapse says how long at most. */
  delay: number;
  /** The state key, of an event that is state. Default: it is none. */
  stateKey?: string;
  /** Whether to send in clear into an encrypted room. Default: false. */
  disableEncryption?: boolean;
}

/**
 * Operations on events that the homeserver sends later. It sends them though the client has ended: a bot can
 * say so that it is gone, by an event that it restarts while it runs.
 *
 * `client.supports("org.matrix.msc4140")` says whether the homeserver has them. Synapse has them with
 * `max_event_delay_duration` in its configuration.
 *
 * @experimental It uses the unstable form of MSC4140: a minor version may change it.
 */
export interface DelayedEventsAPI {
  /**
   * Has the homeserver send an event later.
   *
   * @param roomId The room.
   * @param eventType The type.
   * @param content The content.
   * @param options The delay, the state key of state, and request options.
   * @returns The ID of the delay, which is no event's.
   * @throws {ForbiddenError} If the homeserver sends nothing later.
   * @throws {EncryptionError} If the room is encrypted, and the event is no state: a message is
   *   encrypted when it leaves. Use a reminder, or give the content of `client.encrypt()` as
   *   `m.room.encrypted`. Redactions, and what `client.encryptionBlacklist` names (reactions, by
   *   default), are not encrypted, and can be sent later.
   * @throws {UnsupportedFeatureError} If it is a redaction in a room before version 11,
   *   and the homeserver takes none there as an event.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sayGone(client: Client, roomId: RoomID): Promise<string> {
   *   const content = { msgtype: "m.notice", body: "The bot is gone." } as const;
   *   return await client.createDelayedEvent(roomId, "m.room.message", content, { delay: 60_000 });
   * }
   * ```
   */
  createDelayedEvent<T extends EventType>(
    roomId: RoomID,
    eventType: T,
    content: SendableContent<T, "message"> | ContentAs<T, "state">,
    options: CreateDelayedEventOptions,
  ): Promise<string>;

  /**
   * Lists the events that the homeserver will send for the user.
   *
   * @param options Request options.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function cancelAll(client: Client): Promise<void> {
   *   for (const { delay_id } of await client.listDelayedEvents()) await client.cancelDelayedEvent(delay_id);
   * }
   * ```
   */
  listDelayedEvents(options?: RequestOptions): Promise<DelayedEvent[]>;

  /**
   * Cancels an event that has not been sent.
   *
   * @param delayId The ID of its delay.
   * @param options Request options.
   * @throws {NotFoundError} If it was sent or cancelled.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function isCancelled(client: Client, delayId: string): Promise<boolean> {
   *   return await client.cancelDelayedEvent(delayId).then(() => true, () => false);
   * }
   * ```
   */
  cancelDelayedEvent(delayId: string, options?: RequestOptions): Promise<void>;

  /**
   * Has the time of an event begin again.
   *
   * @param delayId The ID of its delay.
   * @param options Request options.
   * @throws {NotFoundError} If it was sent or cancelled.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function stayAlive(client: Client, delayId: string): Promise<void> {
   *   await client.restartDelayedEvent(delayId); // call it again and again
   * }
   * ```
   */
  restartDelayedEvent(delayId: string, options?: RequestOptions): Promise<void>;

  /**
   * Has an event sent now.
   *
   * @param delayId The ID of its delay.
   * @param options Request options.
   * @throws {NotFoundError} If it was sent or cancelled.
   * @experimental It uses the unstable form of MSC4140: a minor version may change it.
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function leaveNow(client: Client, delayId: string): Promise<void> {
   *   await client.sendDelayedEvent(delayId);
   *   await client.close();
   * }
   * ```
   */
  sendDelayedEvent(delayId: string, options?: RequestOptions): Promise<void>;
}

/**
 * Refuses a redaction that the homeserver can't send later:
 * of most, in rooms before version 11 the content does not say what is redacted.
 */
async function checkRedaction(session: Session, roomId: RoomID, options: RequestOptions): Promise<void> {
  checkRequestOptions(options, "createDelayedEvent");
  const each = requestOptions(options);
  if (await session.supports(...SENT_REDACTIONS, each)) return;
  const create = await roomStateAPI(session).getStateEvent(roomId, "m.room.create", each);
  if (/^(?:[1-9]|10)$/.test(create.room_version ?? "1")) {
    await session.needs(SENT_REDACTIONS, "have a redaction sent later in a room before version 11", each);
  }
}

/**
 * Makes the operations on events that are sent later.
 *
 * @param session Who acts.
 * @param isEncrypted Whether messages to a room are encrypted. Default: they are not.
 */
export function delayedEventsAPI(
  session: Session,
  isEncrypted?: (roomId: RoomID, options: RequestOptions, type: string) => Promise<boolean>,
): DelayedEventsAPI {
  const { http } = session;
  return {
    async createDelayedEvent(roomId, type, body, given) {
      if (given?.delay === undefined) {
        throw new ValueError("Cannot createDelayedEvent: it has no delay; give one");
      }
      const { delay, stateKey, disableEncryption = false, ...rest } = given;
      checkIdentifier("roomId", roomId);
      checkInteger("delay", delay, 1);
      const { eventType, content } = await outgoingEvent(
        type,
        stateKey === undefined ? "message" : "state",
        body,
      );
      const query = { [DELAY]: delay };
      if (stateKey !== undefined) {
        const { txnId: _id, key: _key, ...options } = rest; // state has none
        return await http[CALL](
          createState,
          { path: { roomId, eventType, stateKey }, query, body: content },
          options,
        );
      }
      const { txnId, ...options } = await identified(
        { roomId, type: eventType, content, inClear: true },
        rest,
        http,
      );
      if (eventType === REDACTION) await checkRedaction(session, roomId, options);
      if (!disableEncryption && await isEncrypted?.(roomId, requestOptions(options), eventType)) {
        throw new EncryptionError(
          `Cannot send ${eventType} later to the encrypted room ${roomId}: it is encrypted when it leaves; ` +
            "use a reminder, or the content of client.encrypt() as m.room.encrypted",
        );
      }
      return await http[CALL](
        createMessage,
        { path: { roomId, eventType, txnId }, query, body: content },
        options,
      );
    },
    listDelayedEvents: async (options) =>
      (await http[CALL](listAll, { path: {} }, options)).delayed_events.map(known),
    cancelDelayedEvent: (delayId, options) => http[CALL](cancel, { path: { delayId } }, options),
    restartDelayedEvent: (delayId, options) => http[CALL](restart, { path: { delayId } }, options),
    sendDelayedEvent: (delayId, options) => http[CALL](send, { path: { delayId } }, options),
  };
}
