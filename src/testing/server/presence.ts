/**
 * Presence.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#presence | Presence}
 * @module
 */

import type { JsonObject } from "../../types/json.ts";
import type { User } from "../users/mod.ts";
import type { ServerState } from "./server_state.ts";

/** The states that a user can be in. */
export const PRESENCE_STATES: readonly string[] = ["online", "offline", "unavailable"];

/** Sets the presence of a user, and notifies users who share a room with them. */
export function setPresence(
  server: ServerState,
  user: User,
  state: string,
  message: string | undefined,
): void {
  const old = user.presence;
  const changed = (old?.state ?? "offline") !== state || old?.message !== message;
  const position = changed ? server.stream.advance() : old?.position ?? 0;
  user.presence = { state, message, lastActive: state === "online" ? server.now : old?.lastActive, position };
  server.latestPresence = Math.max(server.latestPresence, position);
  if (changed) server.stream.wake(server.acquaintancesOf(user));
}

/** Activity that came sooner than this after other activity is nothing new, in milliseconds. */
const GRANULARITY = 60_000;

/** Notes that a user is active, though perhaps not online. */
export function bumpPresence(server: ServerState, user: User): void {
  const old = user.presence;
  const isNew = server.now - (old?.lastActive ?? 0) > GRANULARITY;
  const state = old?.state === "unavailable" ? "online" : old?.state ?? "offline";
  const changed = isNew || state !== old?.state;
  const position = changed ? server.stream.advance() : old.position;
  user.presence = { state, message: old?.message, lastActive: server.now, position };
  server.latestPresence = Math.max(server.latestPresence, position);
  if (changed) server.stream.wake(server.acquaintancesOf(user));
}

/** The body of `GET /presence/{userId}/status`. */
export function presenceContent(server: ServerState, user: User): JsonObject {
  const { presence } = user;
  if (presence === undefined) return { presence: "offline" };
  return {
    presence: presence.state,
    ...(presence.lastActive === undefined ? {} : { last_active_ago: server.now - presence.lastActive }),
    ...(presence.message === undefined || presence.message === "" ? {} : { status_msg: presence.message }),
    ...(presence.state === "online" ? { currently_active: true } : {}),
  };
}
