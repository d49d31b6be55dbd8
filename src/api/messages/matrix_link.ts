/**
 * Links to users, rooms and events: `matrix:` URIs, and URLs of matrix.to.
 *
 * @see {@link https://spec.matrix.org/v1.19/appendices/#uris | URIs}
 * @module
 */

import { decoded } from "../http/mod.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { EventID, RoomAlias, RoomID, UserID } from "../../types/ids.ts";
import { type IdentifierName, isIdentifier, parseServerName } from "../../types/identifiers.ts";

/** What a link says. */
export interface MatrixLink {
  /** The user or the room that it leads to. */
  readonly id: UserID | RoomID | RoomAlias;
  /** The event in the room. Default: none, it leads to the room itself. */
  readonly eventId?: EventID;
  /**
   * Servers to join the room through, for `joinRoom()`; a room ID is of little use without.
   * Default: none.
   */
  readonly via?: readonly string[];
  /**
   * What to do there, once the user has agreed: `join` the room, or `chat` with the user. Default:
   * nothing but to show it. A URL of matrix.to does not say.
   */
  readonly action?: "join" | "chat";
}

/** A kind of thing that links lead to. */
interface Kind {
  readonly sigil: string;
  readonly name: IdentifierName;
  /** What it is called in `matrix:` URIs. */
  readonly type: string;
  /** What it was called in drafts, and is in links that are around. */
  readonly formerType?: string;
}

const USER: Kind = { sigil: "@", name: "userId", type: "u", formerType: "user" };
const ALIAS: Kind = { sigil: "#", name: "roomAlias", type: "r", formerType: "room" };
const ROOM: Kind = { sigil: "!", name: "roomId", type: "roomid" };
const EVENT: Kind = { sigil: "$", name: "eventId", type: "e", formerType: "event" };
const PLACES = [USER, ALIAS, ROOM];

/** The longest link to be read: an event's and a room's ID, each character escaped, and servers. */
const MAX_LENGTH = 16_384;
/**
 * A path and a query, behind an authority that means nothing as yet; a fragment means nothing
 * either.
 */
const MATRIX_URI = /^matrix:(?:\/\/[^/?#]*\/)?([^?#]*)(?:\?([^#]*))?(?:#.*)?$/is;
const MATRIX_TO = /^https?:\/\/(?:www\.)?matrix\.to\/#\/([^?]*)(?:\?(.*))?$/is;

/**
 * Reads a `matrix:` URI or a URL of matrix.to. A link is others' word: ask the user before `action`
 * is done.
 *
 * @param link The link. One of matrix.to need not be escaped, as clients of old did not.
 * @returns What it says. Unknown parameters and actions are left out.
 * @throws {ValueError} If it is no such link, or leads nowhere.
 * @see {@link https://spec.matrix.org/v1.19/appendices/#uris | URIs}
 * @example
 * ```ts
 * import { parseMatrixLink } from "@greenroom/matrix";
 *
 * const { id, eventId, via } = parseMatrixLink("matrix:roomid/stage:example.org/e/cue?via=elsewhere.ca");
 * console.assert(id === "!stage:example.org" && eventId === "$cue" && via?.[0] === "elsewhere.ca");
 * console.assert(parseMatrixLink("https://matrix.to/#/%40alice%3Aexample.org").id === "@alice:example.org");
 * ```
 */
export function parseMatrixLink(link: string): MatrixLink {
  const text = typeof link === "string" && link.length <= MAX_LENGTH ? link : "";
  const [, path, query] = MATRIX_URI.exec(text) ?? [];
  const [, place, search] = MATRIX_TO.exec(text) ?? [];
  const found = path === undefined ? idsOfUrl(place) : idsOfUri(path);
  if (found === undefined) {
    throw unreadable(link, "it is neither a matrix: URI nor a URL of matrix.to, or names nothing");
  }
  const { id, eventId } = found;
  const parameters = new URLSearchParams(query ?? search ?? "");
  const via = parameters.getAll("via");
  const action = parameters.get("action");
  const read: MatrixLink = {
    id: id as MatrixLink["id"],
    ...(eventId !== undefined && { eventId: eventId as EventID }),
    ...(via.length > 0 && { via }),
    ...(path !== undefined && action === actionOf(id) && { action: actionOf(id) }),
  };
  const why = fault(read);
  if (why !== undefined) throw unreadable(link, why);
  return read;
}

/**
 * Writes a `matrix:` URI.
 *
 * @param link The user, room or event that the link leads to.
 * @throws {ValueError} If an ID or a server name can't be one, or the parts do not go together.
 * @see {@link https://spec.matrix.org/v1.19/appendices/#matrix-uri-scheme | Matrix URI scheme}
 * @example
 * ```ts
 * import { matrixUri } from "@greenroom/matrix";
 *
 * console.assert(matrixUri({ id: "@alice:example.org", action: "chat" }) === "matrix:u/alice:example.org?action=chat");
 * ```
 */
export function matrixUri(link: MatrixLink): string {
  const { id, eventId, via, action } = checked(link);
  const segments = [id, ...(eventId === undefined ? [] : [eventId])].map((one) => {
    const escaped = encodeURIComponent(one.slice(1)).replaceAll("%3A", ":").replaceAll("%40", "@");
    return `${(one === id ? kindOf(id) : EVENT)?.type}/${escaped}`;
  });
  return `matrix:${segments.join("/")}${queryOf(via, action)}`;
}

/**
 * Writes a URL of matrix.to, which opens in any browser. It does not say what to do: `action` is
 * left out.
 *
 * @param link The user, room or event that the link leads to.
 * @throws {ValueError} If an ID or a server name can't be one, or the parts do not go together.
 * @see {@link https://spec.matrix.org/v1.19/appendices/#matrixto-navigation | matrix.to navigation}
 * @example
 * ```ts
 * import { matrixToUrl } from "@greenroom/matrix";
 *
 * console.assert(matrixToUrl({ id: "#stage:example.org" }) === "https://matrix.to/#/%23stage%3Aexample.org");
 * ```
 */
export function matrixToUrl(link: MatrixLink): string {
  const { id, eventId, via } = checked(link);
  const segments = eventId === undefined ? [id] : [id, eventId];
  return `https://matrix.to/#/${segments.map(encodeURIComponent).join("/")}${queryOf(via)}`;
}

interface FoundIds {
  readonly id: string;
  readonly eventId?: string;
}

/**
 * The IDs in the path of a `matrix:` URI, where a type stands in front of each, in place of its
 * sigil.
 */
function idsOfUri(path: string): FoundIds | undefined {
  const [type, id, eventType, eventId, ...more] = path.split("/").map(decoded);
  const kind = PLACES.find((kind) => isType(kind, type));
  if (kind === undefined || !id || more.length > 0) return undefined;
  if (eventType === undefined) return { id: kind.sigil + id };
  return isType(EVENT, eventType) && eventId
    ? { id: kind.sigil + id, eventId: EVENT.sigil + eventId }
    : undefined;
}

/**
 * The IDs in the fragment of a URL of matrix.to; IDs of events may have a slash, which is not
 * escaped in old links.
 */
function idsOfUrl(fragment: string | undefined): FoundIds | undefined {
  const [id, ...event] = fragment?.split("/") ?? [];
  if (!id) return undefined;
  const eventId = event.length === 0 ? undefined : decoded(event.join("/"));
  const place = decoded(id);
  return place === undefined || eventId === "" ? undefined : { id: place, eventId };
}

function isType({ type, formerType }: Kind, name: string | undefined): boolean {
  return name !== undefined && (name === type || name === formerType);
}

function kindOf(id: string): Kind | undefined {
  return PLACES.find(({ sigil }) => id.startsWith(sigil));
}

/** Reads what can be done with what a link leads to. */
function actionOf(id: string): "join" | "chat" {
  return id.startsWith(USER.sigil) ? "chat" : "join";
}

/** Says what is wrong with a link, if anything is. */
function fault({ id, eventId, via = [], action }: MatrixLink): string | undefined {
  const kind = typeof id === "string" ? kindOf(id) : undefined;
  if (kind === undefined || !isIdentifier(kind.name, id)) {
    return "it must lead to a user, a room ID or an alias";
  }
  if (eventId !== undefined && !isIdentifier("eventId", eventId)) return "its event ID is none";
  if (kind === USER && eventId !== undefined) return "a user has no events";
  if (!via.every((server) => parseServerName(server) !== undefined)) {
    return "one of its servers has no server name";
  }
  if (action !== undefined && action !== actionOf(id)) return "one joins rooms, and chats with users";
  return undefined;
}

const LINK: OptionNames<MatrixLink> = { id: true, eventId: true, via: true, action: true };

function checked(link: MatrixLink): MatrixLink {
  checkOptions(link, LINK, "write the link");
  const why = fault(link);
  if (why === undefined) return link;
  throw new ValueError(`Cannot write the link: ${why}`);
}

function queryOf(via: readonly string[] = [], action?: string): string {
  const query = new URLSearchParams(via.map((server) => ["via", server]));
  if (action !== undefined) query.append("action", action);
  return query.size === 0 ? "" : `?${query}`;
}

function unreadable(link: unknown, why: string): ValueError {
  const given = typeof link === "string" ? JSON.stringify(link.slice(0, 255)) : `a ${typeof link}`;
  return new ValueError(`Cannot read the link ${given}: ${why}`);
}
