/**
 * Keeping servers out of rooms by policy lists.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#server-access-control-lists-acls-for-rooms | Server ACLs}
 * @module
 */

import { type Client, NotFoundError, ValueError } from "../../../mod.ts";
import type { EventID, RoomID, RoomServerAclContent, UserID } from "../../../types.ts";
import { checkOptions } from "../../errors/known_names.ts";
import { byteLength, memberOf, readGlob } from "../text/mod.ts";
import { type PolicyLists, type PolicyRule, withoutPort } from "./policy_lists.ts";

/** What a server ACL says: all members are there. */
export type ServerAcl = Required<RoomServerAclContent>;

/** The result of {@link serverAcl}. */
export interface BuiltServerAcl {
  /** The content of the `m.room.server_acl` event to send. */
  readonly content: ServerAcl;
  /** Rules that are left out, since they fit the own server, or no server at all. */
  readonly skipped: readonly PolicyRule[];
}

/** Options of {@link serverAcl}. */
export interface ServerAclOptions {
  /** The own server, which is never kept out. */
  ownServer: string;
  /** What the ACL says beside the rules: who may come in, and who may not. Default: all may. */
  base?: Readonly<Partial<RoomServerAclContent>>;
}

/** The grammar of what can fit a server name. */
const SERVER_GLOB = /^[0-9a-z.*?:[\]-]{1,255}$/i;
const IP_LITERAL = /^(?:\[.*\]|\d{1,3}(?:\.\d{1,3}){3})$/;
/** An ACL is an event, and has to fit into one. */
const MAX_BYTES = 60_000;
/** Names times globs, in characters, that are compared at most: it takes a fraction of a second. */
const MAX_COMPARED = 50_000_000;
/** A name that is longer is of no server. */
const MAX_NAME = 255;

/**
 * Makes a server ACL of the rules that say which servers to ban.
 *
 * The own server always stays in: rules that fit it are left out, and said in `skipped`; if `base`
 * does not let it in, it is added. Names that a wider glob covers are left out, as far as they are
 * found in a fraction of a second.
 *
 * @param lists The rules.
 * @param options The own server, and what else the ACL says.
 * @throws {ValueError} If the ACL would be larger than an event.
 * @example
 * ```ts
 * import { PolicyLists, serverAcl } from "@greenroom/matrix/bot";
 *
 * const { content } = serverAcl(new PolicyLists(), { ownServer: "example.org", base: { deny: ["spam.example"] } });
 * console.assert(content.allow.join() === "*" && content.deny.join() === "spam.example");
 * ```
 */
export function serverAcl(lists: PolicyLists, options: ServerAclOptions): BuiltServerAcl {
  checkOptions(options, { ownServer: true, base: true }, "make a server ACL");
  const { ownServer, base = {} } = options;
  const own = withoutPort(ownServer.toLowerCase());
  const isOwn = (pattern: string) => readGlob(pattern).matches(own);
  const skipped: PolicyRule[] = [];
  const deny = globs(base.deny).filter((pattern) => !isOwn(pattern));
  for (const rule of lists.rules("server")) {
    if (rule.recommendation !== "m.ban") continue;
    const pattern = withoutPort(rule.entity.toLowerCase());
    if (!SERVER_GLOB.test(pattern) || isOwn(pattern)) skipped.push(rule);
    else deny.push(pattern);
  }
  const allowed = base.allow === undefined ? ["*"] : globs(base.allow);
  const content: ServerAcl = {
    allow_ip_literals: (base.allow_ip_literals ?? true) || IP_LITERAL.test(own),
    allow: allowed.some(isOwn) ? allowed : [...allowed, own],
    deny: widest(deny),
  };
  checkFits(content);
  return { content, skipped };
}

function checkFits(content: { readonly deny: readonly string[] }): void {
  const size = byteLength(JSON.stringify(content));
  if (size <= MAX_BYTES) return;
  throw new ValueError(
    `Cannot make a server ACL of ${content.deny.length} servers: it would have ${size} bytes, ` +
      `more than the ${MAX_BYTES} that fit into an event; follow fewer lists, or lists with globs`,
  );
}

/** Reads a list of globs, in lower case: what else stands there, no server minds. */
function globs(patterns: unknown): string[] {
  const texts = Array.isArray(patterns) ? patterns.filter((pattern) => typeof pattern === "string") : [];
  return texts.map((pattern) => pattern.toLowerCase());
}

/** Those that no other one covers, each once, in order. */
function widest(patterns: readonly string[]): string[] {
  const unique = [...new Set(patterns)].sort();
  const wide = unique.filter(isGlob);
  checkFits({ deny: wide }); // they all stay
  const isCovered = coveredBy(wide);
  const kept: string[] = [];
  let size = 0;
  for (const one of unique) {
    if (size > MAX_BYTES) kept.push(one); // it is too large already
    else if (isGlob(one) || !isCovered(one)) {
      kept.push(one);
      size += one.length;
    }
  }
  return kept;
}

const isGlob = (pattern: string) => /[*?]/.test(pattern);

/** Tells whether a name is covered by one of some globs: most of these are a star and an end. */
function coveredBy(wide: readonly string[]): (name: string) => boolean {
  const isEnd = (pattern: string) => /^\*[^*?]*$/.test(pattern);
  const ends = new Set(wide.filter(isEnd).map((pattern) => pattern.slice(1)));
  const others = wide.filter((pattern) => !isEnd(pattern)).map((pattern) => ({
    length: pattern.length,
    glob: readGlob(pattern),
  }));
  let compared = 0;
  return (name) => {
    if (name.length > MAX_NAME) return false; // it would use up what is compared of the others
    for (let at = 0; at <= name.length && compared <= MAX_COMPARED && ends.size > 0; at++) {
      compared += name.length - at;
      if (ends.has(name.slice(at))) return true;
    }
    for (const { length, glob } of others) {
      compared += length * name.length;
      if (compared > MAX_COMPARED) return false;
      if (glob.matches(name)) return true;
    }
    return false;
  };
}

/** Options of {@link updateServerAcl}. */
export interface UpdateServerAclOptions {
  /**
   * What the ACL says beside the rules. Default: what it says now. So servers that others have kept
   * out stay out, and those whose rule has ended too.
   */
  base?: Readonly<Partial<RoomServerAclContent>>;
}

/**
 * Brings the server ACL of a room up to date with policy lists, if it is not. The user needs the
 * power to send it.
 *
 * @param client The client.
 * @param roomId The room.
 * @param lists The rules.
 * @param options What else the ACL says.
 * @returns The event that was sent, if one was, and the rules that were left out.
 * @throws {ValueError} If the ACL would be larger than an event, or the client does not know its user.
 * @throws {ForbiddenError} If the user lacks the power.
 */
export async function updateServerAcl(
  client: Pick<Client, "mxid" | "getStateEvent" | "sendStateEvent">,
  roomId: RoomID,
  lists: PolicyLists,
  options: UpdateServerAclOptions = {},
): Promise<{ readonly eventId?: EventID; readonly skipped: readonly PolicyRule[] }> {
  checkOptions(options, { base: true }, "update a server ACL");
  const { base } = options;
  if (client.mxid === "") {
    throw new ValueError("Cannot update the server ACL: the client does not know its user");
  }
  const now = await client.getStateEvent(roomId, "m.room.server_acl").catch((error) => {
    if (error instanceof NotFoundError) return undefined;
    throw error;
  });
  const kept = base ?? (now?.allow === undefined ? undefined : now);
  const { content, skipped } = serverAcl(lists, { ownServer: serverOf(client.mxid), base: kept });
  if (isSame(now ?? {}, content)) return { skipped };
  return { eventId: await client.sendStateEvent(roomId, "m.room.server_acl", content), skipped };
}

export function serverOf(userId: UserID): string {
  return userId.slice(userId.indexOf(":") + 1);
}

/** Returns whether two ACLs let in the same, as far as they say so in the same words. */
function isSame(now: object, then: ServerAcl): boolean {
  const sorted = (patterns: unknown) => JSON.stringify(globs(patterns).sort());
  return (memberOf(now, "allow_ip_literals") ?? true) === then.allow_ip_literals &&
    sorted(memberOf(now, "allow")) === sorted(then.allow) &&
    sorted(memberOf(now, "deny")) === sorted(then.deny);
}
