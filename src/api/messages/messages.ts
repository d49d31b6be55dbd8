/**
 * Sending into rooms and reading their history.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#sending-events-to-a-room | Sending events to a room}
 * @module
 */

import {
  CALL,
  calledAs,
  checkInteger,
  checkRequestOptions,
  endpoint,
  field,
  identified,
  outgoingEvent,
  type RequestOptions,
  requestOptions,
  type SendableContent,
  type Session,
  shaped,
  type TransactionOptions,
} from "../http/mod.ts";
import { clientEvent, clientStateEvent, eventList } from "../../types/checks/event_check.ts";
import { object, optional, text } from "../../types/checks/shape.ts";
import type { ClientEvent } from "../../types/events/event.ts";
import { PaginationDirection, PresenceState, RelationType } from "../../types/enums.ts";
import type { EventType } from "../../types/events/event_type.ts";
import type { Filter, RoomEventFilter } from "../../types/events/sync_response.ts";
import type { RelatesTo, RoomRedactionContent } from "../../types/content/message_content.ts";
import type { MessagesResponse } from "../../types/events/room_records.ts";
import type { EventID, RoomID, SyncToken, TransactionID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { checkIdentifier } from "../../types/identifiers.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import { roomExtrasAPI, roomStateAPI } from "../rooms/rooms.ts";
import { freshFilter, syncAPI } from "../server/server.ts";

const eventIdOf = field<EventID>("event_id", "string");

/** The type of events that redact. */
export const REDACTION = "m.room.redaction";
/**
 * Since when servers take a redaction as an event in rooms of all versions, and what that was called before.
 */
export const SENT_REDACTIONS = ["v1.18", "com.beeper.msc4169"] as const;

const SEND_PATH = "/_matrix/client/v3/rooms/{roomId}/send/{eventType}/{txnId}";
const send = endpoint("sendMessageEvent", "PUT", SEND_PATH, eventIdOf, { limit: "send", inOrder: true });
/** A reaction has a place by what it is to: no message waits for it. */
const sendReaction = endpoint("sendMessageEvent", "PUT", SEND_PATH, eventIdOf, { limit: "send" });
/**
 * As an event: the content has more than a reason only so, but on some servers in no room before version 11.
 */
const sendRedaction = endpoint("redact", "PUT", SEND_PATH, eventIdOf, { limit: "send", inOrder: true });
const redaction = endpoint(
  "redact",
  "PUT",
  "/_matrix/client/v3/rooms/{roomId}/redact/{eventId}/{txnId}",
  eventIdOf,
  { limit: "send", inOrder: true },
);
const event = endpoint(
  "getEvent",
  "GET",
  "/_matrix/client/v3/rooms/{roomId}/event/{eventId}",
  shaped(clientEvent),
);
const messages = endpoint(
  "getMessages",
  "GET",
  "/_matrix/client/v3/rooms/{roomId}/messages",
  shaped(object<MessagesResponse>({
    chunk: eventList(clientEvent),
    start: optional(text),
    end: optional(text),
    state: optional(eventList(clientStateEvent)),
  })),
);

/** Options of everything that sends a message event. */
export interface SendOptions extends TransactionOptions {
  /** Whether to send in clear even into an encrypted room. Default: false. */
  disableEncryption?: boolean;
  /**
   * Whether the room's queue has it: see {@link QueueAPI.queue}.
   *
   * - `"if-away"`: if the server is away when all tries have failed, or has it wait for a limit for more than
   *   five seconds; with the same transaction ID.
   *   What is sent so to a room whose queue is not empty is added to that.
   * - `"always"`: before it leaves, so that the next process sends it if this one ends. Without a `store`,
   *   the same as `"if-away"`.
   *
   * The call resolves when the queue has sent it. A `signal` ends the wait alone. It has no effect with
   * `asUserId`. Default: none has it.
   */
  queue?: "if-away" | "always";
}

/** Which event a message answers, and which thread it is part of. */
export interface ReplyPlace {
  /** The event that is answered. Default: none. */
  readonly replyTo?: EventID;
  /** The first event of the thread. Default: none. */
  readonly thread?: EventID;
}

/** Options of {@link MessagesAPI.redact}. */
export interface RedactOptions extends TransactionOptions {
  /** Why. Default: empty, none. */
  reason?: string;
  /**
   * More members of the redaction's content. Some homeservers before v1.18 leave them out. Default: none.
   */
  extraContent?: Readonly<JsonObject>;
}

/** Options of {@link MessagesAPI.getMessages}. */
export interface GetMessagesOptions extends RequestOptions {
  /** The token at which to stop. Default: at `limit` events, or where the history ends. */
  toToken?: SyncToken;
  /** How many events to return at most, at least 1. Default: the server's, which is 10. */
  limit?: number;
  /** Which events to return: a filter, or one as JSON text. Default: all. */
  filterJson?: RoomEventFilter | string;
}

/**
 * Operations on the messages of rooms.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, and `ValueError` before
 * anything is sent if an identifier can't be one.
 */
export interface MessagesAPI {
  /**
   * Sends a message event: any event of a room that is not state.
   *
   * The send is repeated, as the retry policy says, under one transaction ID: what arrives twice counts once.
   * A redaction is never encrypted. It is sent as it is if the homeserver takes it so in rooms of all
   * versions (v1.18, or `com.beeper.msc4169`), and else as by {@link MessagesAPI.redact}.
   *
   * @param roomId The room.
   * @param eventType The type. If the application defined it, the content is checked first.
   * @param content The content.
   * @param options Transaction ID, encryption, and request options.
   * @returns The ID of the event.
   * @throws {ForbiddenError} If the caller is not in the room, or lacks the power.
   * @throws {TooLargeError} If the event would exceed 64 KiB.
   * @throws {AcceptedError} If the homeserver accepts the event and does
   *   not say its ID: do not send it again.
   * @throws {ValueError} If the type is empty or not of messages, the content is refused, or a `query` asks
   *   for a delay.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidsendeventtypetxnid | PUT /rooms/{roomId}/send/{eventType}/{txnId}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendMessageEvent(roomId, "com.example.curtain", { open: true });
   * const event = await client.getEvent(roomId, eventId);
   * console.assert(event.content.open === true);
   * ```
   */
  sendMessageEvent<const T extends EventType>(
    roomId: RoomID,
    eventType: T,
    content: SendableContent<T, "message">,
    options?: SendOptions,
  ): Promise<EventID>;

  /**
   * Redacts an event: takes everything out of it that the server does not need. It can't be undone.
   *
   * Everyone may redact their own events; others' take the room's power level for redactions. It is
   * never encrypted.
   *
   * @param roomId The room.
   * @param eventId The event to redact.
   * @param options Reason, transaction ID, and request options.
   * @returns The ID of the redaction.
   * @throws {ForbiddenError} If the caller lacks the power.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidredacteventidtxnid | PUT /rooms/{roomId}/redact/{eventId}/{txnId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function removeSpam(client: Client, roomId: RoomID, eventId: EventID): Promise<void> {
   *   await client.redact(roomId, eventId, { reason: "Spam" });
   * }
   * ```
   */
  redact(roomId: RoomID, eventId: EventID, options?: RedactOptions): Promise<EventID>;

  /**
   * Gets an event.
   *
   * @param roomId The room.
   * @param eventId The event.
   * @param options Request options.
   * @returns The event, encrypted if it is.
   * @throws {NotFoundError} If there is no such event, or the caller may not see it.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomideventeventid | GET /rooms/{roomId}/event/{eventId}}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function senderOf(client: Client, roomId: RoomID, eventId: EventID): Promise<string> {
   *   return (await client.getEvent(roomId, eventId)).sender;
   * }
   * ```
   */
  getEvent(roomId: RoomID, eventId: EventID, options?: RequestOptions): Promise<ClientEvent>;

  /**
   * Reads a page of a room's history.
   *
   * @param roomId The room.
   * @param direction `b` from new to old, `f` from old to new.
   * @param fromToken Where to begin: a room's `prev_batch`, or `start` or `end` of another page;
   * undefined for the newest end (`b`) or the oldest (`f`), which is looked up first on servers
   * before version 1.3.
   * @param options Where to stop, how many and which events, and request options.
   * @returns The events in order of reading, and the tokens of both ends; without `end` there is
   *   nothing more to read.
   * @throws {ForbiddenError} If the caller may not see the history.
   * @throws {ValueError} If `limit` is no integer of at least 1.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3roomsroomidmessages | GET /rooms/{roomId}/messages}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.sendText(roomId, "Five minutes, please");
   * const { chunk } = await client.getMessages(roomId, "b", undefined, { limit: 1 });
   * console.assert(chunk[0]?.content.body === "Five minutes, please");
   * ```
   */
  getMessages(
    roomId: RoomID,
    direction: PaginationDirection,
    fromToken: SyncToken | undefined,
    options?: GetMessagesOptions,
  ): Promise<MessagesResponse>;
}

/**
 * Refuses options that a send has not, before anything is done for it.
 *
 * @throws {ValueError} If there is one.
 */
export function checkSendOptions(
  { disableEncryption: _clear, txnId: _id, key: _key, queue, ...requests }: SendOptions,
  operation: string,
): void {
  if (queue !== undefined && queue !== "if-away" && queue !== "always") {
    throw new ValueError(`Cannot ${operation}: queue must be "if-away" or "always"`);
  }
  checkRequestOptions(requests, operation);
}

/**
 * Returns the `m.relates_to` of a reply, of a message in a thread, or of both. In a thread, a message that
 * answers nothing is shown as a reply to the thread's first event by clients that know no threads.
 *
 * @param place The event that is answered, and the thread.
 * @returns The relation; undefined: none.
 * @throws {ValueError} If one of the two is no event ID.
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#threading | Threading}
 * @example
 * ```ts
 * import { relationTo } from "@greenroom/matrix";
 *
 * const content = { answers: ["tea"], "m.relates_to": relationTo({ replyTo: "$question" }) };
 * console.assert(content["m.relates_to"]?.["m.in_reply_to"]?.event_id === "$question");
 * ```
 */
export function relationTo({ replyTo, thread }: ReplyPlace): RelatesTo | undefined {
  for (const eventId of [replyTo, thread]) if (eventId !== undefined) checkIdentifier("eventId", eventId);
  const answered = replyTo ?? thread;
  if (answered === undefined) return undefined;
  const reply = { "m.in_reply_to": { event_id: answered } };
  if (thread === undefined) return reply;
  const fallback = replyTo === undefined ? { is_falling_back: true } : {};
  return { rel_type: RelationType.THREAD, event_id: thread, ...fallback, ...reply };
}

/** A redaction that is to be sent. */
interface Redaction {
  readonly roomId: RoomID;
  readonly eventId: EventID;
  readonly txnId: TransactionID;
  /** Its content, without what it redacts. */
  readonly body: JsonObject;
}

function requestRedaction(
  { http }: Session,
  { roomId, eventId, txnId, body }: Redaction,
  options: RequestOptions,
): Promise<EventID> {
  const path = { roomId, eventId: checkIdentifier("eventId", eventId), txnId };
  return http[CALL](redaction, { path, body }, options);
}

/**
 * Sends a redaction as an event, where the server takes one in rooms of all versions;
 * else by the request for it.
 */
async function redactAs(session: Session, event: Redaction, options: RequestOptions): Promise<EventID> {
  const { roomId, eventId, txnId, body } = event;
  checkIdentifier("eventId", eventId);
  checkRequestOptions(options, "redact");
  if (!await session.supports(...SENT_REDACTIONS, requestOptions(options))) {
    return await requestRedaction(session, event, options);
  }
  const path = { roomId, eventType: REDACTION, txnId };
  return await session.http[CALL](sendRedaction, { path, body: { ...body, redacts: eventId } }, options);
}

/** Makes the operations on the messages of rooms. */
export function messagesAPI(session: Session): MessagesAPI {
  const { http } = session;
  return {
    async sendMessageEvent(roomId, type, body, { disableEncryption: _clear, queue: _queue, ...given } = {}) {
      checkIdentifier("roomId", roomId);
      const { eventType, content } = await outgoingEvent(type, "message", body);
      const outgoing = { roomId, type: eventType, content, inClear: true };
      const { txnId, ...options } = await identified(outgoing, given, http);
      if (eventType === REDACTION) {
        const { redacts, ...body } = content as RoomRedactionContent;
        return await redactAs(session, { roomId, eventId: redacts as EventID, txnId, body }, options);
      }
      const sending = eventType === "m.reaction" ? sendReaction : send;
      return await http[CALL](sending, { path: { roomId, eventType, txnId }, body: content }, options);
    },
    async redact(roomId, eventId, { reason = "", extraContent, ...given } = {}) {
      const body = { ...extraContent, ...(reason !== "" && { reason }) };
      const outgoing = { roomId, type: `the redaction of ${eventId}`, content: body, inClear: true };
      const { txnId, ...options } = await identified(outgoing, given, http);
      const event = { roomId, eventId, txnId, body };
      return extraContent === undefined
        ? await requestRedaction(session, event, options)
        : await redactAs(session, event, options);
    },
    getEvent: (roomId, eventId, options) => http[CALL](event, { path: { roomId, eventId } }, options),
    async getMessages(roomId, direction, fromToken, { toToken, limit, filterJson, ...options } = {}) {
      checkIdentifier("roomId", roomId);
      checkInteger("limit", limit, 1);
      const filter = typeof filterJson === "object" ? JSON.stringify(filterJson) : filterJson;
      const from = fromToken ??
        await endOfHistory(session, roomId, direction, calledAs(options, "getMessages"));
      const query = { dir: direction, from, to: toToken, limit, filter };
      return await http[CALL](messages, { path: { roomId }, query }, options);
    },
  };
}

/** Lets nothing through but the token. */
const NOTHING: Filter = { account_data: { types: [] }, presence: { types: [] }, room: { rooms: [] } };

/**
 * Returns the token to read a whole history from, if the server needs one.
 *
 * @param session Whose homeserver it is.
 * @param roomId The room.
 * @param direction Which way it will be read: `b` begins at the newest end, `f` at the oldest.
 * @param options Request options.
 * @returns The token; undefined if the server needs none.
 */
async function endOfHistory(
  session: Session,
  roomId: RoomID,
  direction: PaginationDirection,
  options: RequestOptions,
): Promise<SyncToken | undefined> {
  if (await session.supports("v1.3", undefined, options)) return undefined;
  if (direction === PaginationDirection.BACKWARD) {
    const quietly = { timeout: 0, setPresence: PresenceState.OFFLINE, filterId: freshFilter(NOTHING) };
    return (await syncAPI(session).sync({ ...options, ...quietly })).next_batch;
  }
  const state = await roomStateAPI(session).getState(roomId, options);
  const create = state.find(({ type }) => type === "m.room.create");
  const around = create &&
    await roomExtrasAPI(session).getEventContext(roomId, create.event_id, { ...options, limit: 1 });
  if (around?.start) return around.start; // Dendrite's is empty where nothing comes before
  throw new ServiceResponseError(
    `Cannot read ${roomId} from its start: the homeserver, older than version 1.3, shows no token of its create event; give fromToken`,
  );
}
