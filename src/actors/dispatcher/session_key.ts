/**
 * Whose a session is: the key of its record.
 *
 * @module
 */

import { ValueError } from "../../errors/value_error.ts";
import type { KvKey } from "../../store/kv_store.ts";
import type { SessionDefinition } from "../../types/events/define_session.ts";
import type { MatrixEvent } from "../../types/events/event.ts";
import { isJsonObject } from "../../types/json.ts";
import { isName } from "../../types/checks/identifiers.ts";

/** The longest text that a function of the application's may make, in UTF-16 units: a store has a limit for keys. */
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
  { name, per }: Pick<SessionDefinition<object>, "name" | "per">,
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

/** The event that a thread begins with; empty outside of threads. Anybody can write anything there. */
function threadOf(content: unknown): string {
  const relation = isJsonObject(content) ? content["m.relates_to"] : undefined;
  if (!isJsonObject(relation) || relation.rel_type !== "m.thread") return "";
  const { event_id: root } = relation;
  return isName(root) ? root : "";
}
