/**
 * A request as the handlers of the in-process homeserver see it, and what several of them ask of it.
 *
 * @module
 */

import type { RoomAlias, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
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
import { canSee, membershipOf, type Room, type RoomEvent, type Viewer } from "../rooms/mod.ts";
import type { ServerState } from "../server/mod.ts";
import type { Device, Session, User } from "../users/mod.ts";

/** What arrived, before anyone has looked at the token. */
export interface RawRequest {
  /** The HTTP method, in capitals. */
  readonly method: string;
  /** The URL it was sent to. */
  readonly url: URL;
  /** The request headers. */
  readonly headers: Headers;
  /** The whole request body. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Aborted when the client no longer waits for an answer. */
  readonly signal: AbortSignal;
}

/** A request with its path parameters. */
export class MatrixRequest {
  /** The homeserver's state. */
  readonly server: ServerState;
  /** The request as it arrived. */
  readonly raw: RawRequest;
  readonly #params: Readonly<Record<string, string>>;
  #json: JsonObject | undefined;

  /** Wraps a request. */
  constructor(server: ServerState, raw: RawRequest, params: Readonly<Record<string, string>>) {
    this.server = server;
    this.raw = raw;
    this.#params = params;
  }

  /** The path parameter `name` of the route, decoded. */
  param(name: string): string {
    return this.#params[name] ?? "";
  }

  /** The path parameter `roomId`. */
  get roomId(): string {
    return this.param("roomId");
  }

  /** The room that it names, if there is one. */
  get room(): Room | undefined {
    return this.server.room(this.roomId);
  }

  /** The query parameter `name`. */
  query(name: string): string | undefined {
    const value = this.raw.url.searchParams.get(name) ?? undefined;
    // deno-lint-ignore no-control-regex -- ASCII begins with the control characters
    if (name !== "filter" && value !== undefined && !/^[\x00-\x7f]*$/.test(value)) {
      throw refused(`Query parameter '${name}' must be ascii`);
    }
    return value;
  }

  /** The query parameter `name`, which must be there. */
  requiredQuery(name: string): string {
    const value = this.query(name);
    if (value === undefined) {
      throw new Failure(400, "M_MISSING_PARAM", `Missing required string query parameter ${name}`);
    }
    return value;
  }

  /** The query parameter `name` as a number that is not negative. */
  queryInteger(name: string): number | undefined {
    const value = this.query(name);
    if (value === undefined) return undefined;
    if (!/^-?\d+$/.test(value)) throw invalidParam(`Query parameter ${name} must be an integer`);
    if (Number(value) < 0) throw invalidParam(`Query parameter ${name} must be a positive integer.`);
    return Number(value);
  }

  /** The query parameter `name` as a flag. */
  queryFlag(name: string): boolean {
    const value = this.query(name);
    if (value === undefined) return false;
    if (value !== "true" && value !== "false") {
      throw invalidParam(`Boolean query parameter '${name}' must be one of ['true', 'false']`);
    }
    return value === "true";
  }

  /** The query parameter `name`, one of `values`. */
  queryOneOf(name: string, values: readonly string[]): string | undefined {
    const value = this.query(name);
    if (value !== undefined && !values.includes(value)) {
      throw invalidParam(`Query parameter '${name}' must be one of [${values.join(", ")}]`);
    }
    return value;
  }

  /** The body, which must be a JSON object. */
  get json(): JsonObject {
    return this.jsonOr("M_BAD_JSON");
  }

  /** The body, which is refused with an errcode of the caller's choice if it is no JSON object. */
  jsonOr(errcode: string): JsonObject {
    this.#json ??= parseObject(this.raw.body, errcode);
    return this.#json;
  }

  /** The body, where an absent one counts as `{}`, and `null` too. */
  get jsonOrEmpty(): JsonObject {
    const isNothing = /^(null)?$/.test(new TextDecoder().decode(this.raw.body.subarray(0, 5)));
    return isNothing ? {} : this.json;
  }

  /**
   * The bearer token, from the header or, as old clients do, from the query; empty if the header is
   * there but has none.
   */
  get token(): string | undefined {
    const header = this.raw.headers.get("authorization");
    return header === null ? this.query("access_token") : /^Bearer ([^ ]+)$/.exec(header)?.[1] ?? "";
  }
}

/** A request of a user who has shown a valid access token. */
export class AuthedRequest extends MatrixRequest {
  /** The session that the token belongs to. */
  readonly session: Session;

  /** Adds the session to a request. */
  constructor(
    server: ServerState,
    raw: RawRequest,
    params: Readonly<Record<string, string>>,
    session: Session,
  ) {
    super(server, raw, params);
    this.session = session;
  }

  /** Who asks. */
  get user(): User {
    return this.session.user;
  }

  /** From which device. */
  get device(): Device {
    return this.session.device;
  }

  /** Refuses unless the path parameter `userId` names the caller. */
  requireSelf(message: string): void {
    if (this.param("userId") !== this.user.id) throw new Failure(403, "M_FORBIDDEN", message);
  }
}

function parseObject(bytes: Uint8Array<ArrayBuffer>, errcode: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badRequest("M_NOT_JSON", "Content not JSON.");
  }
  if (!isJsonObject(value)) throw badRequest(errcode, "Content must be a JSON object.");
  return value;
}

/** The keys that `object` lacks are refused together, as Synapse does. */
export function requireKeys(object: JsonObject, ...keys: string[]): void {
  for (const key of keys) if (object[key] === undefined) throw missingParam(key);
}

/** Returns who asks, for formatting events. */
export function viewerOf(request: AuthedRequest): Viewer {
  return { user: request.user.id, device: request.device, now: request.server.now };
}

/** The answer to a user who is not in the room of the path. */
export function notMember({ user, roomId }: AuthedRequest): Failure {
  return forbidden(`User ${user.id} not in room ${roomId}`);
}

/** The answer to a user who may not read the room of the path. */
export function notReadable({ user, roomId }: AuthedRequest): Failure {
  return forbidden(`User ${user.id} not in room ${roomId}, and room previews are disabled`);
}

/** Refuses unless the caller may see an event. */
export function requireSeen({ user }: AuthedRequest, room: Room, event: RoomEvent): void {
  if (canSee(room, user, event, { peeking: room.membership(user.id) !== "join" })) return;
  throw forbidden("You don't have permission to access that event.");
}

/** The room of the path parameter `roomId`, for a request that changes it. */
export function roomToWrite(request: AuthedRequest): Room {
  const room = request.room;
  // Synapse answers a user who is not in a room as one who asks for a room that does not
  // exist.
  if (room === undefined) throw notMember(request);
  return room;
}

/** What a caller may read of a room, and up to where. */
interface Reading {
  readonly room: Room;
  /** The last stream position that the caller may see state of: their leaving, or no end. */
  readonly until: number;
  /** Whether the caller is no member, and never was. */
  readonly peeking: boolean;
}

/**
 * The room of the path parameter `roomId`, for a request that reads it, by a member, a former
 * member up to when they left, or anyone if it is world readable.
 */
export function roomToRead(request: AuthedRequest): Reading {
  const { user, room } = request;
  if (room !== undefined) {
    const member = user.forgotten.has(room.id) ? undefined : room.members.get(user.id);
    const membership = member === undefined ? undefined : membershipOf(member);
    if (membership === "join") return { room, until: Infinity, peeking: false };
    if (member !== undefined && membership === "leave") {
      return { room, until: member.position, peeking: false };
    }
    const isOpen = room.historyVisibility() === "world_readable" && room.membersWith("join").length > 0;
    if (isOpen) return { room, until: Infinity, peeking: true };
  }
  throw notReadable(request);
}

/** Refuses unless the caller is joined. */
export function requireJoined(request: AuthedRequest, room: Room | undefined): Room {
  if (room?.membership(request.user.id) !== "join") throw notMember(request);
  return room;
}

/**
 * Runs a request with a transaction ID once per device: a repeated one gets the answer of the
 * first. In a room, as in Synapse, that is so whatever the two requests send.
 */
export function oncePerTransaction(
  request: AuthedRequest,
  action: () => Answer | Promise<Answer>,
  { inRoom = false } = {},
): Promise<Answer> {
  void request.json; // it must be there, also where it is not looked at again
  const scope = inRoom ? JSON.stringify([request.roomId, request.param("txnId")]) : request.raw.url.pathname;
  return request.device.once(scope, async () => await action());
}

export function resolveRoom(server: ServerState, idOrAlias: string): string {
  if (isRoomId(idOrAlias)) return idOrAlias;
  if (!/^#[^:]*:/.test(idOrAlias)) {
    throw refused(`${idOrAlias} was not legal room ID or room alias`);
  }
  const alias = server.aliases.get(idOrAlias as RoomAlias);
  if (alias === undefined) throw notFound(`Room alias ${idOrAlias} not found`);
  return alias.room;
}

/** A user ID that a client has sent. */
export function parseUserId(value: unknown): UserID {
  if (typeof value !== "string" || !/^@[^:]*:.+$/s.test(value)) {
    throw invalidParam("Expected UserID string to start with '@'");
  }
  return value as UserID;
}

/** The access token of a request; empty: it has none. */
export function bearerOf({ headers, url }: RawRequest): string {
  return headers.get("authorization")?.replace(/^Bearer /, "") ?? url.searchParams.get("access_token") ?? "";
}
