/**
 * Where sessions are kept: by the event they belong to, or by what an application names them.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import type { KvKey } from "../../store/base/mod.ts";
import type { SessionDefinition, SessionKey } from "../../types/events/define_session.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import { isName } from "../../types/identifiers.ts";
import { isJsonObject } from "../../types/json.ts";

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
 * Where the session of an event is kept, relative to the account's keys.
 *
 * @returns Undefined if the event has none.
 * @throws {ValueError} If a function of the application's makes a text that is no key.
 */
export function sessionKey(
  { name, per }: Place,
  event: object,
): KvKey | undefined {
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
 * Where the session of a key is kept, relative to the account's keys.
 *
 * @throws {ValueError} If the definition has no such sessions.
 */
export function sessionKeyOf({ name, per }: Place, key: SessionKey): KvKey {
  const parts = Array.isArray(key) ? [...key] : [key];
  const isPair = per === "member" || per === "thread";
  const fits = parts.every((part) => typeof part === "string" && part.length <= MAX_PART) &&
    parts.length === (isPair ? 2 : 1) && parts[0] !== "";
  if (fits) return [SESSIONS, name, ...parts];
  const wanted = isPair
    ? `the room and the ${per === "member" ? "user" : "thread's first event"}`
    : "one text";
  throw new ValueError(
    `Cannot find the session "${name}": its key must be ${wanted}, of 1 to ${MAX_PART} characters each`,
  );
}

/** The key of a session, as {@link sessionKeyOf} takes it. */
export function keyOfSession(key: KvKey): SessionKey {
  const [first = "", second] = key.slice(2).map(String);
  return second === undefined ? first : [first, second];
}

/** The longest part of a key, in UTF-16 units; identifiers have at most 255 bytes. */
const MAX_PART = 255;
