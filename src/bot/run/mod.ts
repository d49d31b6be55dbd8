/**
 * One run of a function of a bot: its event, its order, its record, its error, and what it does afterwards.
 *
 * @module
 */

import { type Client, encryptionOf, MatrixRequestError } from "../../../mod.ts";
import type {
  ClientEvent,
  EncryptionInfo,
  EventID,
  MatrixEvent,
  RoomID,
  SenderInfo,
  UserID,
} from "../../../types.ts";
import { memberOf, type ReadText, readText, textOf } from "../text/mod.ts";
import { queriesOf } from "./queries.ts";
import type { KeptEvent, Scene } from "./run_record.ts";
import type { EventPlace } from "./waits.ts";

export { type BotSession, BotSessions, foundSessionKey, sessionKeyFor } from "./bot_sessions.ts";
export { Locks } from "./locks.ts";
export { Once } from "./once.ts";
export {
  type Answer,
  checkReplayed,
  ConversationEndedError,
  type ConversationEnding,
  ConversationError,
  hasSaid,
  isCutOff,
  type KeptEvent,
  type RunEnd,
  type Scene,
  type Step,
  type Wait,
} from "./run_record.ts";
export { BotStore, type BotStoreEntry, type BotStoreKey } from "./bot_store.ts";
export { OwnRuns } from "./own_runs.ts";
export { ownRun, Run } from "./run.ts";
export { Patience, RunTime } from "./patience.ts";
export {
  type AnyMessage,
  type AnyPollEvent,
  checkQueries,
  type EventOfQuery,
  fullQuery,
  type ListenedQuery,
  type MessageOf,
  type OtherQueries,
  type Queries,
  type Query,
  type ShortQuery,
  typesOf,
} from "./queries.ts";
export { type EventPlace, fits, queueOf, type WaitEntry, Waits } from "./waits.ts";

/** An update: an event, and what it is to the bot. */
export interface Update<E extends MatrixEvent = MatrixEvent> {
  /** Its type, as `Client.on()` has it. */
  readonly type: string;
  readonly event: E;
  /** How it was encrypted; undefined: it was not. */
  readonly encryption: EncryptionInfo | SenderInfo | undefined;
  /** The queries that it fits. */
  readonly queries: ReadonlySet<string>;
  readonly room: RoomID;
  /** Who has sent it. */
  readonly sender: UserID;
  /** The first event of its thread; undefined: none. */
  readonly thread: EventID | undefined;
  /** The event that it edits; undefined: it is no edit. */
  readonly edits: EventID | undefined;
  /** The text of a message, and how it stands to others; undefined: it is none. */
  readonly read: ReadText | undefined;
  /** What its room and its sender are called; undefined: it was not read. */
  readonly scene?: Scene;
}

/** Reads an event as a bot sees it. */
export function updateOf<E extends MatrixEvent>(
  type: string,
  event: E,
  encryption: EncryptionInfo | SenderInfo | undefined = encryptionOf(event),
): Update<E> {
  const { room_id: room, sender, content } = event as MatrixEvent & {
    room_id: RoomID;
    sender: UserID;
    content: object;
  };
  // Its formatted text takes longer to read.
  const plain = "formatted_body" in content ? { ...content, formatted_body: undefined } : content;
  const read = type === "m.room.message" ? readText(plain) : undefined;
  const edits = read === undefined ? relationIn(content, "m.replace") : read.edits;
  const thread = read === undefined ? threadOf(content) : read.threadRoot;
  return { type, event, encryption, queries: queriesOf(type, event), room, sender, thread, edits, read };
}

/** The first event of the thread that an event says it is in; undefined: none. */
export function threadOf(content: object): EventID | undefined {
  return relationIn(content, "m.thread");
}

function relationIn(content: object, type: "m.thread" | "m.replace"): EventID | undefined {
  const relation = memberOf(content, "m.relates_to");
  const target = textOf(memberOf(relation, "event_id"));
  return memberOf(relation, "rel_type") === type && target?.startsWith("$") ? target as EventID : undefined;
}

/** The update of an event that was kept, with copies of what functions may change. */
export function keptUpdate({ type, event: kept, encryption, thread, scene }: KeptEvent): Update {
  const update = updateOf(type, structuredClone(kept), encryption as EncryptionInfo | undefined);
  return { ...update, thread: thread ?? update.thread, scene: scene && { ...scene } };
}

/** Returns what is kept of an update: functions may change the event that they get, and its room. */
export function keptOf({ type, event, encryption, edits, thread, scene }: Update): KeptEvent {
  const of = { type, event: { ...event, content: structuredClone(event.content) }, encryption };
  const kept = scene === undefined ? of : { ...of, scene: { ...scene } };
  return edits === undefined || thread === undefined ? kept : { ...kept, thread };
}

export function placeOf({ room, sender, thread, event, type }: Update): EventPlace {
  const relation = (event.content as { "m.relates_to"?: { event_id?: unknown } })["m.relates_to"];
  const reactionTo = type === "m.reaction" ? String(relation?.event_id) : undefined;
  return { room, sender, thread: thread ?? "", reactionTo };
}

/**
 * The event that an edit changes, if that is its own sender's. Servers hand on edits of others, too;
 * the server is asked for the original, whose sender and thread are in clear in encrypted rooms as well.
 *
 * @returns Undefined also if the server does not show the original.
 */
export async function editedEvent(
  client: Client,
  { room, sender, edits }: {
    readonly room: RoomID;
    readonly sender: UserID;
    /** What it edits; undefined: it does not say so. */
    readonly edits: EventID | undefined;
  },
): Promise<ClientEvent | undefined> {
  if (edits === undefined) return undefined;
  try {
    const original = await client.getEvent(room, edits);
    return original.sender === sender ? original : undefined;
  } catch (error) {
    if (error instanceof MatrixRequestError && (error.status === 404 || error.status === 403)) {
      return undefined;
    }
    throw error;
  }
}

/** Returns the log's details of a run that began with an event. */
export function runDetails(
  { type, event }: Omit<KeptEvent, "encryption">,
  command: string | undefined,
): Readonly<Record<string, unknown>> {
  const { room_id: room, sender, event_id: eventId }: Partial<Record<string, unknown>> = { ...event };
  return { command, type, room, sender, eventId };
}

/**
 * Reads what a room is called, and a user in it.
 *
 * @param sender The user. Default: none.
 */
export async function sceneOf(client: Client, room: RoomID, sender?: UserID): Promise<Scene> {
  const { stateStore } = client;
  const [name, topic, encrypted, member] = await Promise.all([
    stateStore.getState(room, "m.room.name"),
    stateStore.getState(room, "m.room.topic"),
    stateStore.isEncrypted(room),
    sender && stateStore.getState(room, "m.room.member", sender),
  ]);
  return {
    name: shownText(memberOf(name?.content, "name")),
    topic: shownText(memberOf(topic?.content, "topic")),
    isEncrypted: encrypted === true,
    displayName: shownText(memberOf(member?.content, "displayname")),
  };
}

/**
 * An update as functions get it: with what its room and its sender are called, as it was kept or else is now.
 */
export async function withScene(client: Client, update: Update): Promise<Update> {
  if (update.scene !== undefined) return update;
  const scene = await sceneOf(client, update.room, update.sender);
  const displayName = scene.displayName ?? nameBefore(update);
  return { ...update, scene: { ...scene, displayName } };
}

/**
 * What a user was called who has left: the event of that has no name any more, but says what was before it.
 */
function nameBefore({ event, sender }: Update): string | undefined {
  if (memberOf(event, "state_key") !== sender) return undefined;
  return shownText(memberOf(memberOf(memberOf(event, "unsigned"), "prev_content"), "displayname"));
}

/** A text that shows something; undefined: it does not. */
function shownText(text: unknown): string | undefined {
  return typeof text === "string" && text.trim() !== "" ? text : undefined;
}
