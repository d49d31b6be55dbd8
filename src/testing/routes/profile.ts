/**
 * Profiles, presence, account data, tags and filters.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#profiles | Profiles}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#client-config | Client config}
 *
 * Over 300 lines because it is a list of routes.
 *
 * @module
 */

import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import {
  type AuthedRequest,
  type MatrixRequest,
  openRoute,
  parseUserId,
  type Route,
  route,
} from "../http/http.ts";
import {
  type Answer,
  badRequest,
  Failure,
  forbidden,
  invalidParam,
  isRoomId,
  missingParam,
  notFound,
  refused,
} from "../json/json.ts";
import { type Room, SyncFilter } from "../rooms/mod.ts";
import {
  changeMembership,
  PRESENCE_STATES,
  presenceContent,
  type ServerState,
  setPresence,
} from "../server/mod.ts";
import type { User } from "../users/mod.ts";

/** The routes of this file. */
export const profileRoutes: readonly Route[] = [
  openRoute("GET", "v3/profile/{userId}", getProfile),
  openRoute("GET", "v3/profile/{userId}/{field}", getField),
  route("PUT", "v3/profile/{userId}/{field}", putField),
  route("DELETE", "v3/profile/{userId}/{field}", deleteField),
  route("GET", "v3/presence/{userId}/status", getPresence),
  route("PUT", "v3/presence/{userId}/status", putPresence),
];

/** The fields that rooms show of their members. */
const MEMBER_FIELDS = ["displayname", "avatar_url"];
const LONGEST_FIELD_NAME = 255;
const LARGEST_PROFILE = 65_536;
const LONGEST_DISPLAYNAME = 256;
const LONGEST_AVATAR_URL = 1000;

function getProfile(request: MatrixRequest): Answer {
  checkToken(request);
  const { profile } = userOf(request, "M_UNKNOWN");
  if (profile.size === 0) throw notFound("Profile was not found");
  return Object.fromEntries(profile);
}

/** The user whose profile is asked for. */
function userOf(request: MatrixRequest, errcode: string): User {
  const user = request.server.users.get(parseUserId(request.param("userId")));
  if (user === undefined) throw new Failure(404, errcode, "Profile was not found");
  return user;
}

/** Profiles are open to all, but not to those with a token that does not work. */
function checkToken(request: MatrixRequest): void {
  const { server, token } = request;
  if (token !== undefined && server.appservices.session(request) === undefined) server.sessions.find(token);
}

function getField(request: MatrixRequest): Answer {
  const field = request.param("field");
  checkToken(request);
  checkName(field);
  const { profile, isErased } = userOf(request, "M_NOT_FOUND");
  const value = profile.get(field);
  if (value !== undefined && value !== null) return { [field]: value };
  // Synapse answers {} for the two old fields of a profile that is not deleted, and 404 for the others.
  if (MEMBER_FIELDS.includes(field) && !isErased) return {};
  throw notFound("No value for the field");
}

function putField(request: AuthedRequest): void {
  const field = request.param("field");
  checkName(field);
  parseUserId(request.param("userId"));
  if (!Object.hasOwn(request.json, field)) throw missingParam(field);
  const value = request.json[field];
  if (field === "avatar_url") checkValue(field, value);
  checkOwner(request, field);
  checkValue(field, value);
  const profile: JsonObject = { ...Object.fromEntries(request.user.profile), [field]: value };
  if (JSON.stringify(profile).length > LARGEST_PROFILE) {
    throw badRequest("M_PROFILE_TOO_LARGE", "Profile too large");
  }
  setField(request, field, value);
}

function deleteField(request: AuthedRequest): void {
  const field = request.param("field");
  parseUserId(request.param("userId"));
  checkName(field);
  checkOwner(request, "displayname");
  setField(request, field, undefined);
}

/** Refuses to change the profile of another user. */
function checkOwner(request: AuthedRequest, field: string): void {
  const owner = request.param("userId");
  if (!request.server.reaches(owner)) {
    throw refused("User is not hosted on this homeserver");
  }
  if (owner === request.user.id) return;
  const status = MEMBER_FIELDS.includes(field) ? 400 : 403;
  throw new Failure(status, "M_FORBIDDEN", "Cannot set another user's profile");
}

function checkName(field: string): void {
  if (field === "") throw invalidParam("A profile field must have a name");
  if (new TextEncoder().encode(field).length > LONGEST_FIELD_NAME) {
    throw badRequest("M_KEY_TOO_LARGE", "Field name too long");
  }
  if (!MEMBER_FIELDS.includes(field) && !/^[a-z][a-z0-9_.-]*$/.test(field)) {
    throw invalidParam("Invalid profile field name");
  }
}

function checkValue(field: string, value: unknown): void {
  if (!MEMBER_FIELDS.includes(field)) return;
  if (typeof value !== "string") {
    throw invalidParam(`'${field}' must be a string`);
  }
  const longest = field === "displayname" ? LONGEST_DISPLAYNAME : LONGEST_AVATAR_URL;
  if (value.length > longest) {
    throw refused(`${field} is too long (max ${longest})`);
  }
}

function setField({ server, user }: AuthedRequest, field: string, value: unknown): void {
  if (value === undefined || value === null || (value === "" && MEMBER_FIELDS.includes(field))) {
    user.profile.delete(field);
  } else user.profile.set(field, value);
  if (!MEMBER_FIELDS.includes(field)) return;
  for (const id of user.roomsWith("join")) {
    const room = server.rooms.get(id);
    if (room !== undefined) tellRoom(server, room, user.id);
  }
}

/** Puts the new profile into a room, unless its rules are against it. */
function tellRoom(server: ServerState, room: Room, user: UserID): void {
  try {
    changeMembership(server, room, { sender: user, target: user, action: "join" });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}

function getPresence(request: AuthedRequest): Answer {
  const { server, user } = request;
  const id = parseUserId(request.param("userId"));
  if (id !== user.id && !server.shareRoom(user, id)) {
    throw forbidden("You are not allowed to see their presence.");
  }
  return presenceContent(server, server.user(id));
}

function putPresence(request: AuthedRequest): void {
  const { server, user } = request;
  if (parseUserId(request.param("userId")) !== user.id) {
    throw forbidden("Can only set your own presence state");
  }
  const { json } = request;
  if (typeof json.presence !== "string" || !PRESENCE_STATES.includes(json.presence)) {
    throw refused("Invalid presence state");
  }
  const { status_msg, presence: _, ...others } = json;
  if (Object.keys(others).length > 0) throw refused("Unable to parse state");
  if (status_msg !== undefined && typeof status_msg !== "string") {
    throw refused("status_msg must be a string");
  }
  setPresence(server, user, json.presence, status_msg);
}

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
  const room = roomId(request);
  const type = request.param("type");
  if (type === "m.push_rules") return {}; // as on Synapse: no room has any
  const content = request.user.roomAccountData.get(room)?.get(type);
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
