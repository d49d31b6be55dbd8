/**
 * The keys in a backup, out of the JSON of all of them, as its bytes come.
 *
 * Not a parser: it finds where the keys begin and end, so that each is bounded before `JSON.parse()`
 * gets it, however many there are. What else is in the JSON is passed over.
 *
 * @module
 */

import { concat } from "@std/bytes/concat";
import type { RoomID } from "../../types/ids.ts";
import type { RestoredKey } from "./backup_protocol.ts";

/** How long a key may be, in bytes: most take 1,000. */
const MAX_LENGTH = 65_536;
/** How deep a key may be, below the object that it is. */
const MAX_DEPTH = 16;
/** How long a name may be, in bytes: those of rooms and sessions are shorter. */
const MAX_NAME = 1_024;
/** The keys are so many objects deep: `{ "rooms": { ROOM: { "sessions": { SESSION: KEY } } } }`. */
const KEY_LEVEL = 4;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [BEGIN_OBJECT, END_OBJECT, BEGIN_LIST, END_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Reads the keys of a backup. */
export class RoomKeysReader {
  #depth = 0;
  #hasBegun = false;
  #string: "outside" | "inside" | "escaped" = "outside";
  /** The names of the members that are read, by depth. */
  readonly #names: string[] = [];
  /** How deep the outermost list is; 0: there is none. No key is in a list. */
  #list = 0;
  /** Whether a string would be a name. */
  #isName = false;
  /** The parts of the name, or of the key, that is read; undefined: none is. */
  #parts: Uint8Array[] | undefined;
  #length = 0;
  #isGood = true;
  #isKey = false;

  /**
   * Adds the next bytes.
   *
   * @returns The keys that end in them; one that is too long, too deep or no JSON has no data.
   */
  add(bytes: Uint8Array): RestoredKey[] {
    const found: RestoredKey[] = [];
    let start = 0;
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number; // within the bounds
      if (this.#string !== "outside") {
        if (this.#endsString(byte) && this.#isName) {
          this.#names[this.#depth] = this.#name(bytes.subarray(start, index + 1));
        }
        continue;
      }
      if (byte === QUOTE) {
        this.#string = "inside";
        if (this.#isName) start = this.#begin(index);
      } else if (byte === BEGIN_OBJECT || byte === BEGIN_LIST) {
        if (byte === BEGIN_OBJECT && this.#isAtKey) {
          start = this.#begin(index);
          this.#isKey = true;
        }
        this.#depth++;
        this.#hasBegun = true;
        if (byte === BEGIN_LIST && this.#list === 0) this.#list = this.#depth;
        this.#isName = this.#mayName;
        if (this.#depth > KEY_LEVEL + MAX_DEPTH) this.#isGood = false;
      } else if (byte === END_OBJECT || byte === END_LIST) {
        if (this.#list === this.#depth) this.#list = 0;
        this.#depth--;
        this.#isName = false;
        if (this.#isKey && this.#depth === KEY_LEVEL) found.push(this.#key(bytes.subarray(start, index + 1)));
      } else if (byte === COLON) this.#isName = false;
      else if (byte === COMMA) this.#isName = this.#mayName;
    }
    if (this.#parts !== undefined) this.#keep(bytes.slice(start));
    return found;
  }

  /** Whether it has come to its end. */
  get isWhole(): boolean {
    return this.#hasBegun && this.#depth === 0;
  }

  /** Whether there may be names where it is. */
  get #mayName(): boolean {
    return this.#depth <= KEY_LEVEL;
  }

  get #isAtKey(): boolean {
    return this.#depth === KEY_LEVEL && this.#list === 0 && this.#names[1] === "rooms" &&
      this.#names[3] === "sessions";
  }

  /** Begins to read a name or a key; returns where. */
  #begin(index: number): number {
    this.#parts = [];
    this.#length = 0;
    this.#isGood = true;
    return index;
  }

  #endsString(byte: number): boolean {
    if (this.#string === "escaped") this.#string = "inside";
    else if (byte === BACKSLASH) this.#string = "escaped";
    else if (byte === QUOTE) {
      this.#string = "outside";
      return true;
    }
    return false;
  }

  #keep(part: Uint8Array): void {
    this.#length += part.length;
    this.#isGood &&= this.#length <= (this.#isKey ? MAX_LENGTH : MAX_NAME);
    if (this.#isGood) this.#parts?.push(part);
    else this.#parts = [];
  }

  #finish(part: Uint8Array): unknown {
    this.#keep(part);
    const bytes = concat(this.#parts ?? []);
    this.#parts = undefined;
    this.#isKey = false;
    try {
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch {
      return undefined;
    }
  }

  #name(part: Uint8Array): string {
    const name = this.#finish(part);
    return typeof name === "string" ? name : ""; // which names nothing
  }

  #key(part: Uint8Array): RestoredKey {
    const [, , roomId = "", , sessionId = ""] = this.#names;
    return { roomId: roomId as RoomID, sessionId, data: this.#finish(part) }; // the restoring checks the IDs
  }
}
