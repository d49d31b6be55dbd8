/**
 * What happened since a place, and the wait for it: the same in all ways of syncing.
 *
 * @module
 */

import type { JsonObject } from "../../types/json.ts";
import type { AuthedRequest } from "../http/http.ts";
import { presenceContent } from "../server/mod.ts";
import { Arrivals, deviceListsOf, formatToken, type SyncJob } from "./sync_job.ts";
import { roomsOf } from "./rooms.ts";

/** An unlimited wait would outlive every timer. */
const LONGEST_WAIT = 24 * 60 * 60 * 1000;

/** Answers as soon as there is something new, or when the time is over. */
export async function answerOf(
  request: AuthedRequest,
  plan: Omit<SyncJob, "until">,
  timeout: number,
): Promise<JsonObject> {
  return await longPoll(
    request,
    plan.since === undefined || plan.fullState ? 0 : timeout,
    (until, isOver) => {
      const job = { ...plan, until };
      return respond(job) ?? (isOver ? finish(job, {}) : undefined);
    },
  );
}

/**
 * Asks for an answer until there is one: now, and with each change.
 *
 * @param timeout How long, in milliseconds of the homeserver's clock.
 * @param ask Makes the answer up to a position; undefined:
 *   there is none yet, which it must not say once time is over.
 */
export async function longPoll<Answer>(
  { server, user, raw, token }: AuthedRequest,
  timeout: number,
  ask: (until: number, isOver: boolean) => Answer | undefined,
): Promise<Answer> {
  const deadline = server.now + Math.min(timeout, LONGEST_WAIT);
  while (true) {
    const answer = ask(server.stream.position, server.now >= deadline || server.closed);
    if (answer !== undefined) return answer;
    await server.stream.wait(user.id, deadline - server.now, raw.signal);
    // The token may have been revoked while the client was waiting.
    if (!server.oauth?.find(token)) server.sessions.find(token);
  }
}

/** The response, or `undefined` if an incremental sync has nothing new. */
function respond(job: SyncJob): JsonObject | undefined {
  const arrivals = new Arrivals();
  const rooms = roomsOf(job, arrivals);
  const sections: JsonObject = {
    account_data: accountDataOf(job),
    presence: presenceOf(job, arrivals),
    to_device: toDeviceOf(job, job.since?.toDevice ?? 0).events,
  };
  const found: JsonObject = {};
  for (const [name, events] of Object.entries(sections)) {
    if (Array.isArray(events) && events.length > 0) found[name] = { events };
  }
  if (Object.keys(rooms).length > 0) found.rooms = rooms;
  const moved = Object.entries(deviceListsOf(job, arrivals)).filter(([, users]) => users.length > 0);
  if (moved.length > 0) found.device_lists = Object.fromEntries(moved);
  return Object.keys(found).length === 0 && job.since !== undefined ? undefined : finish(job, found);
}

function finish(job: SyncJob, parts: JsonObject): JsonObject {
  const { position: toDevice } = toDeviceOf(job, job.since?.toDevice ?? 0);
  return {
    next_batch: formatToken({ position: job.until, toDevice }),
    ...parts,
    device_one_time_keys_count: Object.fromEntries(job.device.oneTimeKeyCounts()),
    device_unused_fallback_key_types: job.device.unusedFallbackAlgorithms(),
  };
}

/** What has changed of the account data that is of no room; all of it at first. */
export function accountDataOf({ user, filter, since, fullState }: SyncJob): JsonObject[] {
  const isFirst = fullState || since === undefined;
  const changes = user.accountData.since(isFirst ? 0 : since.position);
  return changes.filter(([type]) => filter.accountData.allows({ type }))
    .map(([type, content]) => ({ type, content }));
}

/** The presence that has changed, and that of users who have come. */
function presenceOf(job: SyncJob, { come }: Arrivals): JsonObject[] {
  const { server, user, filter } = job;
  const since = job.fullState ? undefined : job.since; // all of it, as at first
  const events: JsonObject[] = [];
  const isQuiet = server.latestPresence <= (since?.position ?? 0);
  for (const id of isQuiet ? come : server.acquaintancesOf(user).union(come)) {
    const other = server.users.get(id);
    const isNew = come.has(id) && other !== user;
    if (other === undefined) continue;
    if (!isNew && (other.presence === undefined || other.presence.position <= (since?.position ?? 0))) {
      continue;
    }
    if (!isNew && since === undefined && other.presence?.state === "offline") continue;
    if (!filter.presence.allows({ type: "m.presence", sender: id })) continue;
    events.push({ type: "m.presence", sender: id, content: presenceContent(server, other) });
  }
  return events;
}

/** How many messages one response carries at most. */
const PORTION = 100;

/** The messages of a response and the position of the last one. */
interface Portion {
  /** The messages. */
  readonly events: JsonObject[];
  /** The position of the last of them, or of the end of the stream if none is left. */
  readonly position: number;
}

/**
 * Deletes what the client has acknowledged by its token: once for each request, so that one which waits
 * deletes nothing that comes later, whatever its token.
 */
export function acknowledge({ device, since }: Pick<SyncJob, "device" | "since">): void {
  if (since !== undefined) device.inbox = device.inbox.filter(({ position }) => position > since.toDevice);
}

/** Returns what comes after a position. */
export function toDeviceOf({ device, until }: SyncJob, since: number): Portion {
  const left = device.inbox.filter(({ position }) => position > since);
  const portion = left.slice(0, PORTION);
  const last = portion.at(-1);
  const position = left.length > portion.length && last !== undefined ? last.position : until;
  return { events: portion.map(({ event }) => event), position };
}
