/**
 * `GET /sync`.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3sync | GET /sync}
 * @module
 */

import type { JsonObject } from "../../types/json.ts";
import { type AuthedRequest, type Route, route } from "../http/http.ts";
import { type Answer, Failure, invalidParam, refused } from "../json/json.ts";
import { parseFilterJson, SyncFilter } from "../rooms/mod.ts";
import { PRESENCE_STATES, presenceContent, setPresence } from "../server/mod.ts";
import { Arrivals, deviceListsOf } from "./device_lists.ts";
import { roomsOf } from "./rooms.ts";
import { formatToken, parseToken, type SyncJob } from "./sync_job.ts";

export { deviceListsSince } from "./device_lists.ts";
export { pageToken, parseToken } from "./sync_job.ts";

/** The routes of this file. */
export const syncRoutes: readonly Route[] = [route("GET", "v3/sync", sync)];

/** An unlimited wait would outlive every timer. */
const LONGEST_WAIT = 24 * 60 * 60 * 1000;

async function sync(request: AuthedRequest): Promise<Answer> {
  const { server } = request;
  const key = cacheKey(request);
  const kept = server.syncCache.get(key, server.now);
  if (kept !== undefined) return kept;
  const answer = await syncNow(request);
  const { syncCache = 0 } = server.settings.quirks;
  // One that ends where it begins is not kept: a client that waits would spin.
  if (syncCache > 0 && answer.next_batch !== request.query("since")) {
    server.syncCache.keep(key, answer, { now: server.now, until: server.now + syncCache });
  }
  return answer;
}

/** What Synapse tells requests apart by. Neither the presence nor a name that it does not know is among it. */
function cacheKey(request: AuthedRequest): string {
  const { user, device } = request;
  const timeout = request.queryInteger("timeout") ?? 0;
  const flags = [request.queryFlag("full_state"), stateAfterName(request)];
  return JSON.stringify([
    user.id,
    device.id,
    timeout,
    request.query("since"),
    request.query("filter"),
    flags,
  ]);
}

async function syncNow(request: AuthedRequest): Promise<JsonObject> {
  const { server, user, device, raw } = request;
  const presence = request.queryOneOf("set_presence", PRESENCE_STATES) ?? "online";
  const timeout = Math.min(request.queryInteger("timeout") ?? 0, LONGEST_WAIT);
  const since = request.query("since");
  if (request.query("from") !== undefined) {
    throw refused("'from' is not a valid query parameter. Did you mean 'since'?");
  }
  const filter = readFilter(request);
  const plan: Omit<SyncJob, "until"> = {
    server,
    user,
    device,
    since: since === undefined ? undefined : parseToken(since),
    filter,
    fullState: request.queryFlag("full_state"),
    stateAfter: stateAfterName(request),
  };
  if (presence !== "offline" && user.presence?.state !== presence) {
    setPresence(server, user, presence, user.presence?.message);
  }
  if (server.appservices.isSender(user.id)) {
    // As on Synapse: only the other users of an application service sync.
    throw new Failure(500, "M_UNKNOWN", "Internal server error");
  }
  acknowledge(plan);
  const deadline = server.now + timeout;
  while (true) {
    const job = { ...plan, until: server.stream.position };
    const response = respond(job);
    if (response !== undefined) return response;
    if (plan.since === undefined || plan.fullState || server.now >= deadline || server.closed) {
      return finish(job, {});
    }
    await server.stream.wait(user.id, deadline - server.now, raw.signal);
    // The token may have been revoked while the client was waiting.
    if (!server.oauth?.find(request.token)) server.sessions.find(request.token);
  }
}

/** The parameter is part of the specification since 1.16; an older server does not know it. */
function stateAfterName(request: AuthedRequest): string | undefined {
  const isKnown = request.server.settings.versions.some((version) =>
    Number(/^v1\.(\d+)$/.exec(version)?.[1]) >= 16
  );
  if (isKnown && request.queryFlag("use_state_after")) return "state_after";
  return request.queryFlag("org.matrix.msc4222.use_state_after")
    ? "org.matrix.msc4222.state_after"
    : undefined;
}

function readFilter(request: AuthedRequest): SyncFilter {
  const filter = request.query("filter");
  if (filter === undefined) return new SyncFilter({});
  if (filter.startsWith("{")) return new SyncFilter(parseFilterJson(filter));
  const stored = /^\d+$/.test(filter) ? request.user.filters[Number(filter)] : undefined;
  if (stored === undefined) throw invalidParam("No such filter");
  return new SyncFilter(stored);
}

/** The response, or `undefined` if an incremental sync has nothing new. */
function respond(job: SyncJob): JsonObject | undefined {
  const arrivals = new Arrivals();
  const rooms = roomsOf(job, arrivals);
  const lists = deviceListsOf(job, arrivals);
  const sections: JsonObject = {
    account_data: accountDataOf(job),
    presence: presenceOf(job, arrivals),
    to_device: toDeviceOf(job).events,
  };
  const parts: JsonObject = {};
  for (const [name, events] of Object.entries(sections)) {
    if (Array.isArray(events) && events.length > 0) parts[name] = { events };
  }
  if (Object.keys(rooms).length > 0) parts.rooms = rooms;
  const changes = Object.entries(lists).filter(([, users]) => users.length > 0);
  if (changes.length > 0) parts.device_lists = Object.fromEntries(changes);
  return Object.keys(parts).length === 0 && job.since !== undefined ? undefined : finish(job, parts);
}

function finish(job: SyncJob, parts: JsonObject): JsonObject {
  return {
    next_batch: formatToken({ position: job.until, toDevice: toDeviceOf(job).position }),
    ...parts,
    device_one_time_keys_count: Object.fromEntries(job.device.oneTimeKeyCounts()),
    device_unused_fallback_key_types: job.device.unusedFallbackAlgorithms(),
  };
}

function accountDataOf({ user, filter, since, fullState }: SyncJob): JsonObject[] {
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
function acknowledge({ device, since }: Pick<SyncJob, "device" | "since">): void {
  if (since !== undefined) device.inbox = device.inbox.filter(({ position }) => position > since.toDevice);
}

/** Returns what comes after the client's token. */
function toDeviceOf({ device, since, until }: SyncJob): Portion {
  const left = device.inbox.filter(({ position }) => position > (since?.toDevice ?? 0));
  const portion = left.slice(0, PORTION);
  const last = portion.at(-1);
  const position = left.length > portion.length && last !== undefined ? last.position : until;
  return { events: portion.map(({ event }) => event), position };
}
