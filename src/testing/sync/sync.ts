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
import { PRESENCE_STATES, setPresence } from "../server/mod.ts";
import { slidingRoutes } from "./sliding_routes.ts";
import { acknowledge, answerOf } from "./sync_answer.ts";
import { parseToken, type SyncJob } from "./sync_job.ts";

export { deviceListsSince, pageToken, parseToken } from "./sync_job.ts";

/** The routes of this file. */
export const syncRoutes: readonly Route[] = [route("GET", "v3/sync", sync), ...slidingRoutes];

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
  const { server, user, device } = request;
  const presence = request.queryOneOf("set_presence", PRESENCE_STATES) ?? "online";
  const timeout = request.queryInteger("timeout") ?? 0;
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
  return await answerOf(request, plan, timeout);
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
