/**
 * What a handler is called with beside the event.
 *
 * @module
 */

import type { Hints } from "../../errors/hints.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { StoreKey } from "../../store/base/mod.ts";
import type { SessionDefinition, SessionKey } from "../../types/events/define_session.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import { isName, isReceivedRoomId, isReceivedUserId } from "../../types/identifiers.ts";
import { isJsonObject } from "../../types/json.ts";

const ROOM = "client.room(event.room_id)";
/** What handlers of other libraries, which are called with a room, do with it; and what to write here. */
export const HANDLER_CONTEXT_HINTS = {
  id: "event.room_id",
  roomId: "event.room_id",
  room: ROOM,
  name: `await ${ROOM}.getName()`,
  topic: `await ${ROOM}.getTopic()`,
  members: `await ${ROOM}.getMembers()`,
  getMembers: `${ROOM}.getMembers()`,
  member: `await ${ROOM}.getStateEvent("m.room.member", { stateKey: userId })`,
  getMember: `${ROOM}.getStateEvent("m.room.member", { stateKey: userId })`,
  send: `${ROOM}.sendText(text)`,
  sendText: `${ROOM}.sendText(text)`,
  reply: `${ROOM}.sendText(text, { replyTo: event.event_id })`,
} as const;

/** @internal Names of other libraries, for the compiler. */
export interface HandlerContextHints extends Hints<typeof HANDLER_CONTEXT_HINTS> {}

/** What a handler is called with beside the event. */
export interface HandlerContext<State = undefined> extends HandlerContextHints {
  /**
   * Names this delivery of this event to this handler: the same when a crash makes it come again,
   * so that the handler can do things elsewhere once (an idempotency key). The transaction IDs of
   * what it sends with the client are made of it. Undefined if the event never comes again: without
   * a `store`, none does.
   */
  readonly deliveryId: string | undefined;
  /**
   * What handlers remember from one event to the next; it may be changed, or replaced. Undefined if
   * the handler was added without the option `session`.
   *
   * @throws {ValueError} If the event has no such session, since it belongs to no room, for one; or the
   *   handler has settled: nothing would keep what becomes of it.
   */
  session: State;
  /**
   * Removes the session: the next event that has it starts a new one. Does nothing if the handler
   * was added without one.
   */
  endSession(): void;
  /**
   * Changes another session than the event's, in the commit that records that the handler has
   * settled: after a crash either both are there, or the handler is called again. A handler that
   * throws changes nothing.
   *
   * @param definition What the session is.
   * @param key Which one.
   * @param change What to make of it: see {@linkcode SessionChange}. It is called when the handler
   *   has settled, and all handlers that have that session have too.
   * @throws {ValueError} If the handler has a session of its own, has settled, or the definition
   *   has no such key.
   */
  updateSession<Other extends object>(
    definition: SessionDefinition<Other>,
    key: SessionKey,
    change: SessionChange<Other>,
  ): void;
  /**
   * Commits now what was changed with `updateSession()`, and records with it that the handler has
   * settled: whatever it does from then on is not done again after a crash. Without changes it does
   * nothing.
   *
   * @throws {ValueError} If the handler has a session of its own, or a change can't be used.
   */
  settle(): Promise<void>;
  /**
   * Says more of what this call of the handler does, as frameworks of commands know it.
   *
   * @param details Logged with its failure: a command's name, for one. Default: nothing is.
   * @param unawaited Gets what fails in the call and is not awaited, and says whether it has seen to that:
   *   otherwise the log and `HANDLER_ERROR` get it. It must not throw. Default: they do.
   */
  describe(details?: Readonly<Record<string, unknown>>, unawaited?: (error: unknown) => boolean): void;
  /**
   * The client, or another object of Greenroom's, for this call of the handler: with it a crash repeats no
   * send, whatever was awaited before. Browsers need that; elsewhere it is the object itself.
   *
   * @param value What to use in the call.
   *
   * @example
   * ```ts
   * import { Client, MemoryStore } from "@greenroom/matrix";
   *
   * const client = new Client({ baseUrl: "https://example.org", store: new MemoryStore() });
   * client.on("m.room.message", async ({ room_id, content }, context) => {
   *   const own = context.inside(client);
   *   if (content.body !== "!weather") return;
   *   const weather = await (await fetch("https://example.org/weather")).text();
   *   await own.sendText(room_id, weather);
   * }, { name: "weather" });
   * ```
   */
  inside<Value extends object>(value: Value): Value;
}

export type AnyContext = HandlerContext | HandlerContext<object> | HandlerContext<never>;

/**
 * Changes the state of a session, or returns another one; `null` ends the session. It is given the
 * initial state if there is no session, and must not wait for anything.
 */
export type SessionChange<State extends object> = (state: State) => State | null | void;

/** A change of a session that a handler has asked for. */
export interface SessionUpdate {
  /** What it is. */
  readonly definition: SessionDefinition<object>;
  /** Where it is kept. */
  readonly key: StoreKey;
  /** What is made of it. */
  readonly change: (state: never) => object | null | void;
}

/** What commits changes of sessions. */
export interface SessionCommits {
  /**
   * Makes changes, and records a delivery with them.
   *
   * @param updates The changes, in order.
   * @param deliveryId Names the delivery, if it may come again.
   */
  update(updates: readonly SessionUpdate[], deliveryId?: string): Promise<void>;
}

/** The part of a definition that says where. */
type Place = Pick<SessionDefinition<never>, "name" | "per">;

/**
 * The longest text that a function of the application's may make, in UTF-16 units: a store has a
 * limit for keys.
 */
const MAX_TEXT = 250;

/** Where sessions are kept, all of them. */
export const SESSIONS = "session";

/**
 * Returns the key of an event's session, relative to the account's keys.
 *
 * @returns Undefined if the event has none.
 * @throws {ValueError} If a function of the application's makes a text that is no key.
 */
export function sessionKey(
  { name, per }: Place,
  event: object,
): StoreKey | undefined {
  const parts = typeof per === "function" ? ownParts(name, per(event as MatrixEvent)) : partsOf(event)[per];
  return parts?.every((part) => part !== undefined) ? [SESSIONS, name, ...parts] : undefined;
}

function ownParts(name: string, text: unknown): [string] | undefined {
  if (text === undefined) return undefined;
  if (typeof text === "string" && text.length <= MAX_TEXT) return [text];
  throw new ValueError(
    `Cannot find the session "${name}" of an event: its function \`per\` must give a text of at most ${MAX_TEXT} characters, or undefined`,
  );
}

function partsOf(event: { room_id?: unknown; sender?: unknown; content?: unknown }) {
  const room = typeof event.room_id === "string" ? event.room_id : undefined;
  const user = typeof event.sender === "string" ? event.sender : undefined;
  return { room: [room], user: [user], member: [room, user], thread: [room, threadOf(event.content)] };
}

/**
 * The event that a thread begins with; empty outside of threads. Senders can write anything there.
 */
function threadOf(content: unknown): string {
  const relation = isJsonObject(content) ? content["m.relates_to"] : undefined;
  if (!isJsonObject(relation) || relation.rel_type !== "m.thread") return "";
  const { event_id: root } = relation;
  return isName(root) ? root : "";
}

/**
 * Returns the store's key of a session, relative to the account's keys.
 *
 * @param use Whether it only bounds a list. Default: it names a session.
 * @throws {ValueError} If the definition has no such sessions.
 */
export function sessionKeyOf(
  { name, per }: Place,
  key: SessionKey,
  use: "name" | "bound" = "name",
): StoreKey {
  const parts = Array.isArray(key) ? [...key] : [key];
  const isPair = per === "member" || per === "thread";
  const fits = parts.every((part) => typeof part === "string" && part.length <= MAX_PART) &&
    parts.length === (isPair ? 2 : 1) && parts[0] !== "" &&
    (use === "bound" || typeof per === "function" ||
      (per === "user" ? isReceivedUserId : isReceivedRoomId)(parts[0]));
  if (fits) return [SESSIONS, name, ...parts];
  const wanted = isPair
    ? `the room and the ${per === "member" ? "user" : "thread's first event"}`
    : typeof per === "function"
    ? "one text"
    : `a ${per} ID`;
  throw new ValueError(
    `Cannot find the session "${name}": its key must be ${wanted}, of 1 to ${MAX_PART} characters each`,
  );
}

/** The key of a session, as {@link sessionKeyOf} takes it. */
export function keyOfSession(key: StoreKey): SessionKey {
  const [first = "", second] = key.slice(2).map(String);
  return second === undefined ? first : [first, second];
}

/** The longest part of a key, in UTF-16 units; identifiers have at most 255 bytes. */
const MAX_PART = 255;
