/**
 * The lines of a trace: JSON, one after the other.
 *
 * @module
 */

import { ValueError } from "../errors/matrix_error.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";

/** The first line. */
export interface TraceStart {
  readonly line: "start";
  /** The version of the format. */
  readonly version: 1;
}

/** A room, before its first event. */
export interface TraceRoom {
  readonly line: "room";
  readonly room: string;
  /** Whether the bot was in it when the recording began. */
  readonly before: boolean;
  readonly state: readonly TraceState[];
}

/** One piece of a room's state. */
export interface TraceState {
  readonly type: string;
  readonly stateKey: string;
  readonly sender: string;
  readonly content: JsonObject;
}

/** An event, received or sent. */
export interface TraceEvent {
  readonly line: "event";
  readonly room: string;
  readonly id: string;
  readonly sender: string;
  readonly type: string;
  /** Undefined: it is no state event. */
  readonly stateKey?: string;
  readonly content: JsonObject;
  /** The event that it redacts. */
  readonly redacts?: string;
  /** How long after the start it was delivered, in milliseconds. */
  readonly at: number;
}

export type TraceLine = TraceStart | TraceRoom | TraceEvent;

/** What a user's own bot is called in a trace. */
export const OWN = "@bot:trace";

/**
 * Reads a trace. A last line that a crash cut off is left out.
 *
 * @throws {ValueError} If it is none.
 */
export function readTrace(text: string): readonly TraceLine[] {
  if (typeof text !== "string") {
    throw new ValueError(
      "Cannot read a trace: it must be a string; decode bytes, or read the file with Deno.readTextFile()",
    );
  }
  const texts = text.split("\n").filter((line) => line !== "");
  const isCut = texts.length > 1 && !text.endsWith("\n") && parsed(texts.at(-1)) === undefined;
  const lines = (isCut ? texts.slice(0, -1) : texts).map((line, index) => {
    const value = parsed(line);
    if (isLine(value)) return value;
    throw new ValueError(`Cannot read a trace: line ${index + 1} is not one of a trace`);
  });
  const [start] = lines;
  if (start?.line !== "start" || start.version !== 1) {
    throw new ValueError(
      "Cannot read a trace: it does not begin as one of version 1; give what recordTrace() wrote",
    );
  }
  const second = lines.findIndex(({ line }, index) => index > 0 && line === "start");
  if (second !== -1) {
    throw new ValueError(
      `Cannot read a trace: a second recording begins at line ${
        second + 1
      }; write each into a file of its own`,
    );
  }
  return lines;
}

function parsed(line = ""): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isLine(line: unknown): line is TraceLine {
  if (!isJsonObject(line)) return false;
  if (line.line === "start") return true;
  if (typeof line.room !== "string") return false;
  if (line.line === "room") return Array.isArray(line.state) && line.state.every(isState);
  const { id, sender, at } = line;
  return line.line === "event" && [id, sender].every((each) => typeof each === "string") &&
    typeof at === "number" && at >= 0 && isTyped(line);
}

function isState(state: unknown): boolean {
  return isJsonObject(state) && typeof state.stateKey === "string" && typeof state.sender === "string" &&
    isTyped(state);
}

function isTyped({ type, content }: JsonObject): boolean {
  return typeof type === "string" && isJsonObject(content);
}

/** The users, besides the bot, who are in a room before the first event of it. */
export function membersAtStart(
  state: readonly TraceState[],
  events: readonly TraceEvent[],
): ReadonlySet<string> {
  const joined = state.filter(({ type, content }) =>
    type === "m.room.member" && content.membership === "join"
  );
  const members = new Set(joined.map(({ stateKey }) => stateKey));
  const seen = new Set<string>();
  for (const { type, stateKey, sender, content: { membership } } of events) {
    const user = type === "m.room.member" && stateKey !== undefined ? stateKey : sender;
    if (seen.has(user)) continue;
    seen.add(user);
    const isLate = type === "m.room.member" && (membership === "join" || membership === "invite");
    if (isLate) members.delete(user);
    else members.add(user);
  }
  members.delete(OWN);
  return members;
}

/** Returns who makes the room: the user with the highest power level, or any. */
export function ownerOf(state: readonly TraceState[], members: ReadonlySet<string>): string {
  const users = state.find(({ type }) => type === "m.room.power_levels")?.content.users;
  const levels = isJsonObject(users) ? users : {};
  const [first = "@owner:trace"] = [...members].sort((one, other) =>
    Number(levels[other] ?? 0) - Number(levels[one] ?? 0)
  );
  return first;
}

/** The same with the members of each object in order. */
export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => one < other ? -1 : 1));
}
