/**
 * `GET /sync`, and the requests for sliding sync, in the spelling that Synapse has, and in the one that was
 * merged into the proposals.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#get_matrixclientv3sync | GET /sync}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4186 | Proposal 4186}
 *
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import { type JsonObject, objectOf } from "../../types/json.ts";
import { type AuthedRequest, type Route, route } from "../http/http.ts";
import { type Answer, Failure, invalidParam, refused } from "../json/json.ts";
import { membershipOf, parseFilterJson, SyncFilter } from "../rooms/mod.ts";
import { PRESENCE_STATES, setPresence } from "../server/mod.ts";
import type { User } from "../users/mod.ts";
import { mergedState, requiredState } from "./required_state.ts";
import { slide } from "./sliding.ts";
import { acknowledge, answerOf } from "./sync_answer.ts";
import { parseToken, type SyncJob } from "./sync_job.ts";

export { deviceListsSince, pageToken, parseToken } from "./sync_job.ts";

const FEATURE = "org.matrix.simplified_msc3575";
/** The merged spelling: its positions are tokens for other requests, too. */
const MERGED = `${FEATURE}.stable`;
/** What was left to other proposals. */
const EXTENSIONS = {
  to_device: "org.matrix.msc4538",
  e2ee: "org.matrix.msc4543",
  account_data: "org.matrix.msc4548",
  receipts: "org.matrix.msc4551",
  typing: "org.matrix.msc4508",
} as const;
/** The routes of this file. */
const slidingRoutes: readonly Route[] = [
  route("POST", `unstable/${FEATURE}/sync`, unstable),
  route("POST", "v4/sync", merged),
];

/** As Synapse has it. */
async function unstable(request: AuthedRequest): Promise<Answer> {
  checkFeature(request, FEATURE);
  const { json } = request;
  const since = request.query("pos");
  if (since !== undefined && !/^\d+\/s\d/.test(since)) {
    throw new Failure(400, "M_UNKNOWN", "Invalid position");
  }
  const { pos, lists, rooms, extensions } = await slide(request, {
    pos: since,
    timeout: request.queryInteger("timeout") ?? 0,
    connection: String(json.conn_id ?? ""),
    lists: Object.entries(objectOf(json.lists)).map(([name, list]) => {
      const { ranges, timeline_limit: limit } = objectOf(list);
      return { name, limit: Number(limit ?? 0), ranges: Array.isArray(ranges) ? ranges.filter(isRange) : [] };
    }),
    subscriptions: Object.keys(objectOf(json.room_subscriptions)),
    state: requiredState(roomsAsked(json), request.user.id),
    extensions: objectOf(json.extensions),
  });
  const { number, at } = pos;
  const { e2ee } = extensions;
  return {
    pos: `${number}/${at}`,
    lists,
    rooms,
    extensions: {
      ...extensions,
      ...(e2ee !== undefined && since !== undefined && {
        e2ee: {
          ...objectOf(e2ee),
          device_lists: { changed: [], left: [], ...objectOf(objectOf(e2ee).device_lists) },
        },
      }),
    },
  };
}

/** As it was merged. */
async function merged(request: AuthedRequest): Promise<Answer> {
  checkFeature(request, MERGED);
  const { json, server, user } = request;
  const { pos: place, timeout, conn_id, set_presence: presence = "online" } = json;
  if (!PRESENCE_STATES.includes(presence as string)) throw invalidParam("set_presence is not valid");
  if (presence !== "offline" && user.presence?.state !== presence) {
    setPresence(server, user, presence as string, user.presence?.message);
  }
  const names = extensionNames(server.settings.unstableFeatures);
  const wanted = objectOf(json.extensions);
  const known = [...names].map(([name, sent]) => [name, objectOf(wanted[sent])] as const);
  if (known.some(([, { limit = 1 }]) => !Number.isSafeInteger(limit) || Number(limit) < 1)) {
    throw invalidParam("'limit' is not a positive integer");
  }
  const [, at, number] = typeof place === "string" ? /^(.*)~(\d+)$/.exec(place) ?? [] : [];
  const { pos, lists, rooms, extensions, hasNewKeys } = await slide(request, {
    pos: typeof place === "string" ? `${number}/${at}` : undefined,
    timeout: Number(timeout ?? 0),
    connection: String(conn_id ?? ""),
    lists: Object.entries(objectOf(json.lists)).map(([name, list]) => {
      const { range = [0, Infinity], timeline_limit: limit } = objectOf(list);
      return { name, limit: Number(limit), ranges: [range].filter(isRange) };
    }),
    subscriptions: Object.keys(objectOf(json.room_subscriptions)),
    state: mergedState(roomsAsked(json)),
    extensions: Object.fromEntries(known),
  });
  const counts = Object.entries(lists).map(([name, list]) => [name, { count: objectOf(list).count }]);
  const shown = Object.entries(rooms).map(([id, room]) => [id, mergedRoom(user, id, objectOf(room))]);
  const beside = Object.entries(extensions).flatMap(([name, part]) => {
    const merged = mergedPart(user, name, objectOf(part), hasNewKeys);
    return merged === undefined ? [] : [[names.get(name), merged]];
  });
  return {
    pos: `${pos.at}~${pos.number}`,
    lists: Object.fromEntries(counts),
    rooms: Object.fromEntries(shown),
    extensions: Object.fromEntries(beside),
  };
}

function mergedRoom(
  { memberships }: User,
  id: string,
  { timeline, invite_state: stripped, ...others }: JsonObject,
): JsonObject {
  return {
    ...others,
    membership: membershipOf(memberships.get(id as RoomID)),
    ...(timeline !== undefined && { timeline_events: timeline }),
    ...(stripped !== undefined && { stripped_state: stripped }),
  };
}

/**
 * A part beside rooms; undefined: nothing has changed.
 * Of receipts and typing it has only what is in the events.
 */
function mergedPart(
  { memberships }: User,
  name: string,
  part: JsonObject,
  hasNewKeys: boolean,
): JsonObject | undefined {
  if (name === "e2ee") return hasNewKeys || part.device_lists !== undefined ? part : undefined;
  if (name === "to_device") return isEmpty(part.events) ? undefined : part;
  if (name === "account_data") {
    const rooms = Object.fromEntries(
      Object.entries(objectOf(part.rooms)).filter(([, data]) => !isEmpty(data)),
    );
    return isEmpty(part.global) && isEmpty(rooms) ? undefined : { ...part, rooms };
  }
  const rooms = Object.entries(objectOf(part.rooms))
    .filter(([id]) => membershipOf(memberships.get(id as RoomID)) === "join")
    .map(([id, event]) => [id, objectOf(event).content]);
  return rooms.length === 0 ? undefined : { rooms: Object.fromEntries(rooms) };
}

/** Lists and rooms: each says what is asked for. */
function roomsAsked({ lists, room_subscriptions: rooms }: JsonObject): unknown[] {
  return [lists, rooms].flatMap((part) => Object.values(objectOf(part)));
}

function isEmpty(part: unknown): boolean {
  return Object.keys(part ?? {}).length === 0;
}

/** How the server calls the extensions that it has. */
function extensionNames(features: Readonly<Record<string, boolean>>): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(EXTENSIONS).flatMap(([name, proposal]) =>
      features[`${proposal}.stable`] === true
        ? [[name, name]]
        : features[proposal] === true
        ? [[name, `${proposal}.${name}`]]
        : []
    ),
  );
}

function checkFeature({ server }: AuthedRequest, feature: string): void {
  if (server.settings.unstableFeatures[feature] !== true) {
    throw new Failure(404, "M_UNRECOGNIZED", "Unrecognized request");
  }
}

function isRange(range: unknown): range is [number, number] {
  return Array.isArray(range) && range.length === 2 && range.every((end) => end >= 0);
}

/** The routes of this file. */
export const syncRoutes: readonly Route[] = [route("GET", "v3/sync", sync), ...slidingRoutes];

async function sync(request: AuthedRequest): Promise<Answer> {
  const { server } = request;
  const plan = begin(request);
  const timeout = request.queryInteger("timeout") ?? 0;
  const key = cacheKey(request, timeout);
  const kept = server.syncCache.get(key, server.now);
  if (kept !== undefined) return kept;
  acknowledge(plan);
  const answer = await answerOf(request, plan, timeout);
  const { syncCache = 0 } = server.settings.quirks;
  // One that ends where it begins is not kept: a client that waits would spin.
  if (syncCache > 0 && answer.next_batch !== request.query("since")) {
    server.syncCache.keep(key, answer, { now: server.now, until: server.now + syncCache });
  }
  return answer;
}

/**
 * What Synapse tells requests apart by. Neither the presence nor a name that it does not know is among it; of
 * an initial sync, whom the user ignores is.
 */
function cacheKey(request: AuthedRequest, timeout: number): string {
  const { user, device } = request;
  const since = request.query("since");
  const ignored = user.accountData.since(0).find(([type]) => type === "m.ignored_user_list");
  return JSON.stringify([
    ...[user.id, device.id, timeout, since, request.query("filter")],
    ...[request.queryFlag("full_state"), stateAfterName(request)],
    since === undefined && ignored?.[2],
  ]);
}

/** Reads a request, and notes the presence that comes with it. */
function begin(request: AuthedRequest): Omit<SyncJob, "until"> {
  const { server, user, device } = request;
  const presence = request.queryOneOf("set_presence", PRESENCE_STATES) ?? "online";
  const since = request.query("since");
  if (request.query("from") !== undefined) {
    throw refused("'from' is not a valid query parameter. Did you mean 'since'?");
  }
  const plan: Omit<SyncJob, "until"> = {
    server,
    user,
    device,
    since: since === undefined ? undefined : parseToken(since),
    filter: readFilter(request),
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
  return plan;
}

/** The parameter is in the specification since 1.16; an older server has it as a proposal, or not at all. */
function stateAfterName(request: AuthedRequest): string | undefined {
  const isKnown = request.server.settings.versions.some((version) =>
    Number(/^v1\.(\d+)$/.exec(version)?.[1]) >= 16
  );
  if (isKnown && request.queryFlag("use_state_after")) return "state_after";
  const { unstableFeatures } = request.server.settings;
  const isProposed = unstableFeatures["org.matrix.msc4222"] === true;
  return isProposed && request.queryFlag("org.matrix.msc4222.use_state_after")
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
