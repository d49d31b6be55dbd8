/**
 * Filter queries: short names for what a bot listens to, which type the event;
 * and what other libraries call them.
 *
 * Over 300 lines because two thirds of it are tables.
 *
 * @module
 */

import { ValueError } from "../../../mod.ts";
import type {
  EventOf,
  EventType,
  JsonObject,
  ListenedType,
  MemberEvent,
  MessageEvent,
  MessageTypeContents,
  RoomMessageContent,
  WriteInstead,
} from "../../../types.ts";
import { nearestName } from "../../errors/known_names.ts";
import { isObject, lacksPart, memberOf } from "../text/mod.ts";

/** A room's message whose content is that of a `msgtype`. */
export type MessageOf<Kind extends keyof MessageTypeContents> = MessageEvent<
  "m.room.message",
  MessageTypeContents[Kind]
>;

/** An `m.room.message` of any `msgtype`. */
export type AnyMessage = MessageEvent<"m.room.message", RoomMessageContent>;
/**
 * An event of a poll, which has no type of its own in Greenroom.
 *
 * @experimental It uses the unstable form of MSC3381: a minor version may change it.
 */
export type AnyPollEvent = MessageEvent<string, JsonObject>;

/**
 * What a bot can listen to, by its query, and the event that handlers get. Beside these, the type of
 * any event is a query, like `m.room.topic`: a type has a dot, and none of these has.
 *
 * Own events, history, and what was said before the bot's very first start reach no handler.
 */
export interface Queries {
  /** Any message except edits and notices. */
  "message": AnyMessage;
  /** What someone said, without notices and emotes. */
  "message:text": MessageOf<"m.text">;
  /** Text of a bot. Not part of `message`, so that bots do not answer one another. */
  "message:notice": MessageOf<"m.notice">;
  /** An action of the sender (`/me`). */
  "message:emote": MessageOf<"m.emote">;
  /** A picture, in clear or encrypted. */
  "message:image": MessageOf<"m.image">;
  /** An attachment that is none of the other kinds. */
  "message:file": MessageOf<"m.file">;
  /** A recording or voice message. */
  "message:audio": MessageOf<"m.audio">;
  /** A film, in clear or encrypted. */
  "message:video": MessageOf<"m.video">;
  /** A place on the map. */
  "message:location": MessageOf<"m.location">;
  /** A message that replaces an earlier one. */
  "edit": AnyMessage;
  /** Text that replaces an earlier message. */
  "edit:text": MessageOf<"m.text">;
  /** An emoji, or other text, under a message. */
  "reaction": EventOf<"m.reaction">;
  /** An event was redacted. */
  "redaction": EventOf<"m.room.redaction">;
  /** A sticker: an image that is an event of its own. */
  "sticker": EventOf<"m.sticker">;
  /** The bot was invited into a room. */
  "invite": MemberEvent;
  /** Anything about a member, the bot itself excepted. */
  "member": MemberEvent;
  /** A user joined. */
  "member:join": MemberEvent;
  /** A user left. */
  "member:leave": MemberEvent;
  /** A user was removed. */
  "member:kick": MemberEvent;
  /** A user was banned. */
  "member:ban": MemberEvent;
  /** Another user was invited. */
  "member:invite": MemberEvent;
  /** A user asks to be let in. */
  "member:knock": MemberEvent;
  /** A member changed name or picture. */
  "member:profile": MemberEvent;
  /**
   * A poll began.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   */
  "poll:start": AnyPollEvent;
  /**
   * A user voted in a poll.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   */
  "poll:vote": AnyPollEvent;
  /**
   * A poll ended.
   *
   * @experimental It uses the unstable form of MSC3381: a minor version may change it.
   */
  "poll:end": AnyPollEvent;
}

/** Kinds of messages and members by their own names, and what they are in full. */
const SHORT_QUERIES = {
  text: "message:text",
  notice: "message:notice",
  emote: "message:emote",
  image: "message:image",
  file: "message:file",
  audio: "message:audio",
  video: "message:video",
  location: "message:location",
  join: "member:join",
  leave: "member:leave",
  kick: "member:kick",
  ban: "member:ban",
  knock: "member:knock",
  profile: "member:profile",
} as const satisfies Readonly<Record<ShortQuery, keyof Queries>>;

/**
 * A kind of message, or what became of a member, by its own name: `image` is `message:image`, and `join` is
 * `member:join`. `invite` is the bot's own invitation, and `member:invite` another user's.
 */
export type ShortQuery =
  | ("text" | "notice" | "emote" | "image" | "file" | "audio" | "video" | "location")
  | ("join" | "leave" | "kick" | "ban" | "knock" | "profile");

/** A query, as {@linkcode Composer.on} takes it. */
export type Query = keyof Queries | ShortQuery | `${string}.${string}`;

export function fullQuery(query: Query): Query {
  return Object.hasOwn(SHORT_QUERIES, query) ? SHORT_QUERIES[query as ShortQuery] : query;
}

/**
 * A query that there can be; for a name that other libraries have, what to write; so too for a type of
 * event that Matrix does not have, and for any text.
 */
export type ListenedQuery<Q extends string> = Q extends keyof Queries | ShortQuery ? Q
  : Q extends keyof OtherQueries ? WriteInstead<OtherQueries[Q]>
  : [string extends Q ? never : Q & ListenedType<Q>] extends [never]
    ? WriteInstead<"a query like message:text, or a type of event like m.room.topic or org.example.thing">
  : Q;

/** The event that a query gives. */
export type EventOfQuery<Q extends string> = Q extends ShortQuery
  ? Queries[Extract<keyof Queries, `message:${Q}` | `member:${Q}`>]
  : Q extends keyof Queries ? Queries[Q]
  : Q extends EventType ? EventOf<Q>
  : never;

const POLL = ["m.poll.", "org.matrix.msc3381.poll."] as const;
/** Events about members, by Greenroom's names of them. */
const MEMBER: Readonly<Record<string, keyof Queries>> = {
  JOIN: "member:join",
  LEAVE: "member:leave",
  KICK: "member:kick",
  BAN: "member:ban",
  USER_INVITED: "member:invite",
  KNOCK: "member:knock",
  PROFILE_CHANGE: "member:profile",
};
/** The queries that messages and members have without a kind. */
const BY_PREFIX: Readonly<Record<string, readonly string[]>> = {
  message: ["m.room.message"],
  edit: ["m.room.message"],
  reaction: ["m.reaction"],
  redaction: ["m.room.redaction"],
  sticker: ["m.sticker"],
  invite: ["INVITE"],
  member: Object.keys(MEMBER),
};
const POLL_PARTS: Readonly<Record<string, string>> = { start: "start", vote: "response", end: "end" };

/** The kinds that messages and edits are of. */
const KINDS: Readonly<Record<string, readonly string[]>> = {
  message: ["text", "notice", "emote", "image", "file", "audio", "video", "location"],
  edit: ["text"],
};

/** All queries but types of events. */
const QUERIES: ReadonlySet<unknown> = new Set([
  ...Object.keys(SHORT_QUERIES),
  ...Object.keys(BY_PREFIX),
  ...Object.values(MEMBER),
  ...Object.entries(KINDS).flatMap(([prefix, kinds]) => kinds.map((kind) => `${prefix}:${kind}`)),
  ...Object.keys(POLL_PARTS).map((part) => `poll:${part}`),
]);

/** The types of event, as `Client.on()` takes them, that a query needs which there is. */
export function typesOf(query: Query): readonly string[] {
  if (query.includes(".")) {
    const part = pollPart(query);
    return part === undefined ? [query] : pollTypes(part);
  }
  const [prefix = "", kind] = query.split(":");
  if (prefix === "poll") return pollTypes(POLL_PARTS[kind ?? ""] ?? "");
  const found = Object.entries(MEMBER).find(([, name]) => name === query);
  return found === undefined ? BY_PREFIX[prefix] ?? [] : [found[0]];
}

/** Returns the part of an event in a poll, by its type; undefined: it is of no poll. */
function pollPart(type: string): string | undefined {
  const start = POLL.find((each) => type.startsWith(each));
  return start && type.slice(start.length);
}

/** Both types of a part of a poll: clients send the unstable one. */
function pollTypes(part: string): readonly string[] {
  return POLL.map((start) => start + part);
}

/**
 * Refuses queries that there are not.
 *
 * @param action What is done with them, as the error has it.
 * @throws {ValueError} If there is no such query, nor can there be such a type of event.
 */
export function checkQueries(queries: readonly Query[], action: string): void {
  for (const each of queries as readonly unknown[]) {
    if (QUERIES.has(each)) continue;
    if (typeof each !== "string") {
      throw new ValueError(`Cannot ${action} what is of type ${typeof each}: a query must be a string`);
    }
    const mend = mendOf(each);
    if (mend !== undefined) {
      throw new ValueError(`Cannot ${action} "${each}": there is no such query; ${mend}`);
    }
  }
}

/** Says how to mend a query that there is not; undefined: there is one. */
function mendOf(query: string): string | undefined {
  if (Object.hasOwn(OTHER_QUERIES, query)) {
    return `write ${OTHER_QUERIES[query as keyof OtherQueries]}`;
  }
  if (query.includes(".")) return undefined;
  const nearest = nearestName(query, [...QUERIES] as string[]);
  return nearest === undefined ? "it is no type of event either" : `did you mean ${nearest}?`;
}

/**
 * The queries that an event fits.
 *
 * @param type Its type, as `Client.on()` has it.
 * @param event The event.
 */
export function queriesOf(type: string, event: { readonly content?: unknown }): ReadonlySet<string> {
  if (type === "m.room.message") return messageQueries(event.content as Partial<RoomMessageContent>);
  const member = MEMBER[type];
  if (member !== undefined) return new Set(["member", member]);
  if (isReplacement(event)) return OTHER_EDIT;
  const part = pollPart(type);
  if (part !== undefined) {
    const kind = Object.keys(POLL_PARTS).find((name) => POLL_PARTS[name] === part);
    return new Set([...pollTypes(part), `poll:${kind}`]);
  }
  if (lacksPart(type, event.content)) return new Set([type]);
  const short = Object.keys(BY_PREFIX).find((name) => BY_PREFIX[name]?.includes(type));
  return new Set(short === undefined ? [type] : [type, short]);
}

/** An edit of what is no message: it is nothing new, and only functions for everything get it. */
const OTHER_EDIT: ReadonlySet<string> = new Set(["edit:other"]);

/** Returns whether an event says that it edits another; state edits nothing. */
function isReplacement(event: { readonly content?: unknown }): boolean {
  const relation = memberOf(event.content, "m.relates_to");
  return memberOf(relation, "rel_type") === "m.replace" && memberOf(event, "state_key") === undefined;
}

/** The queries of messages of the kinds above, which are most of what is said. */
const MESSAGES: ReadonlyMap<unknown, ReadonlySet<string>> = new Map(
  KINDS.message?.map((kind) => [`m.${kind}`, queriesOfKind(kind)]),
);

function messageQueries(content: Partial<RoomMessageContent>): ReadonlySet<string> {
  const isEdit = content["m.relates_to"]?.rel_type === "m.replace";
  const replacement: unknown = isEdit ? content["m.new_content"] : content;
  if (!isObject(replacement)) return new Set(["m.room.message"]); // an edit without new content edits nothing
  const { msgtype } = replacement;
  if (!isEdit && lacksPart(msgtype, content)) return new Set(["m.room.message", "message"]);
  const known = isEdit ? undefined : MESSAGES.get(msgtype);
  if (known !== undefined) return known;
  const kind = String(msgtype).replace(/^m\./, "");
  return isEdit ? new Set(["m.room.message", "edit", `edit:${kind}`]) : queriesOfKind(kind);
}

function queriesOfKind(kind: string): ReadonlySet<string> {
  return new Set(["m.room.message", ...(kind === "notice" ? [] : ["message"]), `message:${kind}`]);
}

const VERIFICATION = 'bot.client.on("VERIFICATION_REQUEST", …)';
const UNDECRYPTABLE = 'bot.client.on("UNDECRYPTABLE", …)';
const COMMAND = 'bot.command("name", …)';

/** By the name elsewhere. `docs/migration/guesses.md` has the commonest. */
export const OTHER_QUERIES = {
  photo: "message:image",
  document: "message:file",
  voice: "message:audio",
  "message:photo": "message:image",
  "message:document": "message:file",
  "message:voice": "message:audio",
  "message:sticker": "sticker",
  "message:edit": "edit",
  "message:reaction": "reaction",
  msg: "message",
  messages: "message",
  messageCreate: "message",
  "room.message": "message",
  "message.text": "message:text",
  "message.image": "message:image",
  "message.file": "message:file",
  edited: "edit",
  edited_message: "edit",
  messageUpdate: "edit",
  redact: "redaction",
  delete: "redaction",
  messageDelete: "redaction",
  messageReactionAdd: "reaction",
  message_reaction: "reaction",
  "room.invite": "invite",
  "member.join": "member:join",
  "member.leave": "member:leave",
  "room.join": "member:join",
  "room.leave": "member:leave",
  joined: "member:join",
  left: "member:leave",
  guildMemberAdd: "member:join",
  guildMemberRemove: "member:leave",
  poll: "poll:start",
  poll_start: "poll:start",
  poll_end: "poll:end",
  "poll.start": "poll:start",
  "poll.end": "poll:end",
  "poll.response": "poll:vote",
  vote: "poll:vote",
  poll_answer: "poll:vote",
  poll_response: "poll:vote",
  "poll:response": "poll:vote",
  "m.text": "message:text",
  "m.image": "message:image",
  "m.file": "message:file",
  "m.audio": "message:audio",
  "m.video": "message:video",
  verification: VERIFICATION,
  "verification:request": VERIFICATION,
  "verification.request": VERIFICATION,
  "crypto.verification.request": VERIFICATION,
  VERIFICATION_REQUEST: VERIFICATION,
  UNDECRYPTABLE,
  undecryptable: UNDECRYPTABLE,
  failed_decryption: UNDECRYPTABLE,
  decryption_error: UNDECRYPTABLE,
  "room.failed_decryption": UNDECRYPTABLE,
  "decryption.failed": UNDECRYPTABLE,
  command: COMMAND,
  "message:command": COMMAND,
  interactionCreate: COMMAND,
  error: "bot.catch(…)",
  reminder: "bot.reminder(…)",
  cron: "bot.every(…)",
  schedule: "bot.every(…)",
  ready: "await bot.client.ready",
  start: "await bot.client.ready",
} as const;

/** @internal What other libraries call queries, and what to write, for the compiler's messages. */
export type OtherQueries = typeof OTHER_QUERIES;
