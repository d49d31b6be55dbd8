/**
 * Account data, tags and filters.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#client-config | Client config}
 * @module
 */

import type { RoomID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type AuthedRequest, parseUserId, type Route, route } from "../http/http.ts";
import { type Answer, Failure, forbidden, invalidParam, isRoomId, notFound, refused } from "../json/json.ts";
import { SyncFilter } from "../rooms/mod.ts";
import type { User } from "../users/mod.ts";

/** The routes of this file. */
export const accountDataRoutes: readonly Route[] = [
  route("GET", "v3/user/{userId}/account_data/{type}", getGlobal),
  route("PUT", "v3/user/{userId}/account_data/{type}", putGlobal),
  route("GET", "v3/user/{userId}/rooms/{roomId}/account_data/{type}", getOfRoom),
  route("PUT", "v3/user/{userId}/rooms/{roomId}/account_data/{type}", putOfRoom),
  route("GET", "v3/user/{userId}/rooms/{roomId}/tags", getTags),
  route("PUT", "v3/user/{userId}/rooms/{roomId}/tags/{tag}", putTag),
  route("DELETE", "v3/user/{userId}/rooms/{roomId}/tags/{tag}", deleteTag),
  route("POST", "v3/user/{userId}/filter", postFilter),
  route("GET", "v3/user/{userId}/filter/{filterId}", getFilter),
];

/** The longest tag, in bytes. */
const MAX_TAG = 255;

function getGlobal(request: AuthedRequest): Answer {
  request.requireSelf("Cannot get account data for other users.");
  const { user } = request;
  const type = request.param("type");
  const content = type === "m.push_rules" ? { global: user.pushRules.toJson() } : user.accountData.get(type);
  if (content === undefined) throw notFound("Account data not found");
  return content;
}

function putGlobal(request: AuthedRequest): void {
  request.requireSelf("Cannot add account data for other users.");
  const type = typeToWrite(request);
  const { user, json } = request;
  if (type === "m.ignored_user_list") checkIgnored(json, user.id);
  put(request, type, user.accountData);
}

/** Writes account data of a user or of a room. An empty content deletes nothing. */
function put({ server, user, json }: AuthedRequest, type: string, data: User["accountData"]): void {
  data.set(type, json, server.stream.advance());
  server.stream.wake([user.id]);
}

/** Users cannot ignore themselves. */
function checkIgnored({ ignored_users: ignored }: JsonObject, user: string): void {
  if (isJsonObject(ignored) && Object.hasOwn(ignored, user)) {
    throw invalidParam("You cannot ignore yourself");
  }
}

function getOfRoom(request: AuthedRequest): Answer {
  request.requireSelf("Cannot get account data for other users.");
  const content = request.user.roomAccountData.get(roomId(request))?.get(request.param("type"));
  if (content === undefined) throw notFound("Room account data not found");
  return content;
}

function putOfRoom(request: AuthedRequest): void {
  request.requireSelf("Cannot add account data for other users.");
  const room = roomId(request);
  put(request, typeToWrite(request), request.user.accountDataOf(room));
}

/** What has an endpoint of its own can't be written here. */
function typeToWrite(request: AuthedRequest): string {
  const type = request.param("type");
  if (type !== "m.fully_read" && type !== "m.push_rules") return type;
  throw new Failure(405, "M_BAD_JSON", `Cannot set ${type} through this API.`);
}

function roomId(request: AuthedRequest): RoomID {
  const id = request.roomId;
  if (!isRoomId(id)) throw invalidParam(`${id} is not a valid room ID`);
  return id as RoomID;
}

function getTags(request: AuthedRequest): Answer {
  request.requireSelf("Cannot get tags for other users.");
  return { tags: request.user.tags.get(request.roomId) ?? {} };
}

function putTag(request: AuthedRequest): void {
  request.requireSelf("Cannot add tags for other users.");
  const { user } = request;
  const [room, tag] = [request.roomId, request.param("tag")];
  if (new TextEncoder().encode(tag).byteLength > MAX_TAG) {
    throw invalidParam("tag parameter's length is over 255 bytes");
  }
  if (!user.memberships.has(room as RoomID)) throw forbidden(`User ${user.id} not in room ${room}`);
  setTags(request, room, { ...user.tags.get(room), [tag]: request.json });
}

function deleteTag(request: AuthedRequest): void {
  request.requireSelf("Cannot remove tags for other users.");
  const room = request.roomId;
  const { [request.param("tag")]: _, ...tags } = request.user.tags.get(room) ?? {};
  setTags(request, room, tags);
}

function setTags({ server, user }: AuthedRequest, room: string, tags: JsonObject): void {
  user.tags.set(room, tags, server.stream.advance());
  server.stream.wake([user.id]);
}

function postFilter(request: AuthedRequest): Answer {
  parseUserId(request.param("userId"));
  request.requireSelf("Cannot create filters for other users");
  const { user, json } = request;
  // Reading it once finds what is wrong with it.
  new SyncFilter(json);
  const text = JSON.stringify(json);
  const known = user.filters.findIndex((filter) => JSON.stringify(filter) === text);
  return { filter_id: String(known >= 0 ? known : user.filters.push(json) - 1) };
}

function getFilter(request: AuthedRequest): Answer {
  parseUserId(request.param("userId"));
  request.requireSelf("Cannot get filters for other users");
  const id = request.param("filterId");
  if (!/^\d+$/.test(id)) throw refused("Invalid filter_id");
  const filter = request.user.filters[Number(id)];
  if (filter === undefined) throw notFound("No such filter");
  return filter;
}
