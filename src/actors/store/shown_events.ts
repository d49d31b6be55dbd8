/**
 * The latest events of each room that the server has shown, and the log of those that were handled: what
 * comes again is not delivered again.
 *
 * The end of the log is a part of the position: a record for each room would be one more page that
 * each response writes, a fifth of what a small one costs. What has become old in the log moves to
 * a record of the room.
 *
 * @module
 */

import type { MatrixEvent } from "../../types/events/event.ts";
import type { RoomID } from "../../types/ids.ts";
import type { ShownLogEnd, ShownRecord } from "../../store/device/mod.ts";
import type { StoreMutation } from "../../store/base/mod.ts";
import { set, type StoreWriter } from "./writer.ts";

/**
 * Names of a room's latest events, from old to new, each between spaces. One string is kept, copied
 * and looked through in a fraction of the time of a list, and takes a fraction of its memory.
 */
export type ShownEvents = string;

/** What has been shown of a room. */
export interface ShownRoom {
  readonly roomId: RoomID;
  /** Its latest events. */
  readonly shown: ShownEvents;
  /** Those of them that are new: their names, with a space between two. */
  readonly added: string;
}

/** How many events are remembered of a room: what servers show again is what came last. */
const REMEMBERED = 64;
/**
 * Since room version 3 an ID is a hash, of which a part distinguishes events: 12 characters of 6
 * bits.
 */
const HASH_LENGTH = 44;
const PART = 12;
/** Names may be longer, in old rooms: fewer are remembered then. */
const MAX_LENGTH = REMEMBERED * (PART + 1) + 1;
const NOTHING: ReadonlySet<never> = new Set();

/** What events are to those that have been shown before. */
export interface Looked<Event> {
  /** Those that have been shown, or that come twice among these. */
  readonly again: ReadonlySet<Event>;
  /**
   * The names of the others, with a space between two: of the latest, if there are more than are remembered.
   */
  readonly added: string;
}

/** Looks at events in the order in which they came. */
export function lookAt<Event extends MatrixEvent>(
  shown: ShownEvents,
  events: readonly Event[],
): Looked<Event> {
  const [first] = events;
  if (first === undefined) return { again: NOTHING, added: "" };
  if (events.length === 1 && shown === "") return { again: NOTHING, added: nameOf(first) };
  const names: string[] = [];
  const seen = events.length > FEW ? new Set<string>() : undefined;
  let again: Set<Event> | undefined;
  for (const event of events) {
    const name = nameOf(event);
    if (hasName(shown, name) || (seen === undefined ? names.includes(name) : seen.has(name))) {
      (again ??= new Set()).add(event);
    } else {
      names.push(name);
      seen?.add(name);
    }
  }
  return { again: again ?? NOTHING, added: names.slice(-REMEMBERED).join(" ") };
}

/** Up to this many events, their names are compared faster than a set of them is made. */
const FEW = 32;

/** Returns whether an event has been shown. That says nothing of the events around it. */
export function wasShown(shown: ShownEvents, event: MatrixEvent): boolean {
  return shown !== "" && hasName(shown, nameOf(event));
}

/**
 * Remembers more events, in the order in which they were shown, and forgets the oldest if there are
 * too many.
 */
export function withShown(shown: ShownEvents, names: string): ShownEvents {
  if (names === "") return shown;
  const all = `${shown === "" ? " " : shown}${names} `;
  const excess = all.length - MAX_LENGTH;
  return excess <= 0 ? all : all.slice(all.indexOf(" ", excess));
}

/** The name alone is looked for first: nothing is made for it, and hardly any has been shown. */
function hasName(shown: ShownEvents, name: string): boolean {
  return shown.indexOf(name) >= 0 && shown.includes(` ${name} `); // `includes` takes twice the time
}

function nameOf(event: MatrixEvent): string {
  const id = (event as { readonly event_id?: string }).event_id ?? "";
  return id.length === HASH_LENGTH && !id.includes(":") ? id.slice(-PART) : id.replaceAll(/[ ;]/g, "_");
}

/** The longest text beside the position, so that the position stays within one page of a file. */
const PORTION = 700;
/** How many portions are stored: some 16,000 events in 400 kB. */
const PORTIONS = 512;
/** A response with more than this bypasses the log: it would displace everything else. */
const MANY_ROOMS = 32;
const MANY_EVENTS = 400;
/**
 * How many characters of its ID stand for a room. Two rooms with the same characters share their
 * events.
 */
const TAG = 8;

/** What the log has of a room. */
interface Logged {
  readonly shown: ShownEvents;
  /** Whether these are all; otherwise there may be older ones in the room's record. */
  readonly isWhole: boolean;
  /** The latest portion that has events of it. */
  readonly portion: number;
}

const EMPTY: ShownLogEnd = { text: "", from: 0, to: 0 };

/** Stores which events have been handled. */
export class ShownLog {
  readonly #writer: StoreWriter;
  #end: ShownLogEnd = EMPTY;
  /** The portions of the log, from old to new. */
  readonly #portions = new Map<number, string>();
  /** By tag, the rooms that are in the log. */
  readonly #rooms = new Map<string, Logged>();

  /** @param writer Reads and writes. */
  constructor(writer: StoreWriter) {
    this.#writer = writer;
  }

  /** Reads the log. */
  async load(end: ShownLogEnd = EMPTY): Promise<void> {
    this.#end = end;
    const prefix = this.#writer.keys.shownLog();
    for (const [index, text] of (await this.#writer.list<string>(prefix)).entries()) {
      this.#read(end.from + index, text);
    }
    this.#read(end.to, end.text);
  }

  /** The latest events of a room: `first` are those of the very first response. */
  async of(
    rooms: readonly { readonly roomId: RoomID; readonly first: ShownEvents }[],
  ): Promise<ShownEvents[]> {
    const tags = rooms.map(({ roomId }) => tagOf(roomId));
    const records = await this.#records(tags);
    return rooms.map(({ first }, index) => {
      const [to, record] = records[index] ?? [0, ""];
      const before = record.startsWith(first) ? record : withShown(first, record.trim());
      const logged = this.#rooms.get(tags[index] ?? "");
      if (logged === undefined || logged.portion < to) return before;
      return logged.isWhole ? logged.shown : withShown(before, logged.shown.trim());
    });
  }

  /**
   * Comes before `note`: moves out what that may displace and was read in part.
   * Undefined: it displaces nothing.
   */
  makeRoom(): Promise<void> | undefined {
    return this.#isFull ? this.#makeRoom() : undefined;
  }

  async #makeRoom(): Promise<void> {
    const parts = this.#displaced().filter(([, { isWhole }]) => !isWhole);
    const records = await this.#records(parts.map(([tag]) => tag));
    for (const [index, [tag, { shown }]] of parts.entries()) {
      this.#moveOut(tag, withShown(records[index]?.[1] ?? "", shown.trim()));
    }
  }

  /** Adds events that have been shown and handled. Returns the new end of the log. */
  note(rooms: readonly ShownRoom[]): ShownLogEnd {
    const isMuch = rooms.length > MANY_ROOMS;
    let { text } = this.#end;
    for (const { roomId, shown, added } of rooms) {
      const tag = tagOf(roomId);
      if (isMuch || added.length > MANY_EVENTS) {
        if (this.#rooms.has(tag)) text += `;${tag} `; // what the log has of it is older than the record
        this.#moveOut(tag, shown);
      } else {
        text += `;${tag} ${added}`;
        this.#rooms.set(tag, { shown, isWhole: true, portion: this.#end.to });
      }
    }
    this.#end = { ...this.#end, text };
    if (text.length > PORTION) this.#turnOver();
    return this.#end;
  }

  forget(roomId: RoomID, mutations: StoreMutation[]): void {
    const tag = tagOf(roomId);
    this.#rooms.delete(tag);
    mutations.push({ type: "delete", key: this.#writer.keys.shownRoom(tag) });
  }

  /** Forgets everything. */
  async clear(mutations: StoreMutation[]): Promise<void> {
    const { keys } = this.#writer;
    for (const key of await this.#writer.keysBelow(keys.shown(), Infinity)) {
      mutations.push({ type: "delete", key });
    }
    this.#end = EMPTY;
    this.#portions.clear();
    this.#rooms.clear();
  }

  /** Begins another portion, and removes the oldest if there are too many. */
  #turnOver(): void {
    const { text, from, to } = this.#end;
    const { keys } = this.#writer;
    this.#portions.set(to, text);
    this.#writer.defer(set(keys.shownLog(to), text));
    const displaced = this.#displaced();
    const isFull = this.#isFull;
    this.#end = { text: "", from: isFull ? from + 1 : from, to: to + 1 };
    if (!isFull) return;
    for (const [tag, { shown }] of displaced) this.#moveOut(tag, shown);
    this.#portions.delete(from);
    this.#writer.defer({ type: "delete", key: keys.shownLog(from) });
  }

  get #isFull(): boolean {
    return this.#end.to - this.#end.from >= PORTIONS;
  }

  /** The rooms whose latest events the next portion displaces. */
  #displaced(): [string, Logged][] {
    const { from } = this.#end;
    if (!this.#isFull) return [];
    const tags = new Set(entriesOf(this.#portions.get(from) ?? "").map(([tag]) => tag));
    return [...tags].flatMap((tag) => {
      const logged = this.#rooms.get(tag);
      return logged?.portion === from ? [[tag, logged]] : [];
    });
  }

  async #records(tags: readonly string[]): Promise<(ShownRecord | undefined)[]> {
    return await this.#writer.getMany<ShownRecord>(tags.map((tag) => this.#writer.keys.shownRoom(tag)));
  }

  /** Moves the events of a room to a record of its own. */
  #moveOut(tag: string, shown: ShownEvents): void {
    this.#rooms.delete(tag);
    const record: ShownRecord = [this.#end.to, shown];
    this.#writer.defer(set(this.#writer.keys.shownRoom(tag), record));
  }

  #read(portion: number, text: string): void {
    if (portion < this.#end.to) this.#portions.set(portion, text);
    for (const [tag, names] of entriesOf(text)) {
      const before = names === "" ? "" : this.#rooms.get(tag)?.shown ?? "";
      this.#rooms.set(tag, { shown: withShown(before, names), isWhole: false, portion });
    }
  }
}

/** The entries of a portion, by tag: names of events, or nothing where a room was moved out. */
function entriesOf(text: string): [string, string][] {
  return text.split(";").slice(1).map((entry) => {
    const end = entry.indexOf(" ");
    return [entry.slice(0, end), entry.slice(end + 1)];
  });
}

function tagOf(roomId: RoomID): string {
  const end = roomId.indexOf(":");
  return roomId.slice(1, end < 0 ? undefined : end).slice(-TAG).replaceAll(/[ ;]/g, "_");
}
