/**
 * Room keys on their way out of the backup: which sessions are asked for, what has come,
 * and the keys in the JSON of all of them, as its bytes come.
 *
 * A session is asked for when an event of it can't be read. What was asked for is not asked for
 * again before a while: most keys that are not in the backup never will be.
 *
 * @module
 */

import { type KeyReceivers, type KeysOutput, receiveKeys } from "../key_requests/key_requests.ts";
import type { ImportedRoomKey, UndecryptableEvents } from "../megolm/mod.ts";
import { type MegolmSessionRef, readSessionRef } from "../../types/identifiers.ts";
import type { Transaction } from "../records/mod.ts";
import { Retries } from "../requests/requests.ts";
import { decryptSession, type RestoredKey, type RestoredKeys } from "./session_data.ts";
import type { KeyBackup, UsedBackup } from "./key_backup.ts";
import { concat } from "@std/bytes/concat";
import type { RoomID } from "../../types/ids.ts";

/** How long until a session is asked for again, in milliseconds. */
const AGAIN = { base: 600_000, cap: 86_400_000 };

/** How many sessions that were asked for are remembered. */
const MAX_ASKED = 10_000;

/** Asks for keys, and receives them. */
export class BackupRestore {
  readonly #options;
  readonly #asked = new Retries<string>(AGAIN, MAX_ASKED);
  /** The version that was asked; another one may have what it did not. */
  #version: string | undefined;

  /** @param options The parts that it needs. */
  constructor(
    options: KeyReceivers & {
      /** The backup that is in use. */
      readonly backup: KeyBackup;
      /** The events that wait for keys. */
      readonly undecryptable: Pick<UndecryptableEvents, "retry" | "missing">;
    },
  ) {
    this.#options = options;
  }

  /** The backup in use, if it can be read. */
  get readable(): (UsedBackup & Required<Pick<UsedBackup, "privateKey">>) | undefined {
    const { used } = this.#options.backup;
    const { privateKey } = used ?? {};
    if (used === undefined || privateKey === undefined || used.phase !== "on") return undefined;
    if (used.version !== this.#version) this.#asked.clear();
    this.#version = used.version;
    return { ...used, privateKey };
  }

  /** A session that an event waits for, and that may be asked for. */
  next(now: number): MegolmSessionRef | undefined {
    if (this.readable === undefined) return undefined;
    for (const session of this.#options.undecryptable.missing()) {
      if (this.#mayAsk(session, now)) return session;
    }
    return undefined;
  }

  /** In how many milliseconds there is one, if nothing else changes; infinity: never. */
  nextIn(now: number): number {
    if (this.readable === undefined) return Infinity;
    let least = Infinity;
    for (const session of this.#options.undecryptable.missing()) {
      if (isUsable(session)) least = Math.min(least, this.#asked.wait(nameOf(session), now));
    }
    return least;
  }

  /** The version to ask for a session; undefined: it is not to be asked for now. */
  versionFor(session: MegolmSessionRef): string | undefined {
    const { version } = this.readable ?? {};
    return this.#mayAsk(session, this.#options.context.clock.now()) ? version : undefined;
  }

  /**
   * Receives keys; those of another version than the one in use are left out.
   *
   * @param restored The keys that were asked for, as the server shows them.
   */
  async receive(tx: Transaction, { version, keys }: RestoredKeys): Promise<KeysOutput> {
    const { context: { vodozemac, clock } } = this.#options;
    const used = this.readable;
    if (used?.version !== version) {
      return { added: 0, improved: 0, known: 0, refused: keys.length, recovered: [] };
    }
    const found: ImportedRoomKey[] = [];
    using key = vodozemac.pk.importDecryption(used.privateKey);
    for (const { roomId, sessionId, data } of keys) {
      const read = decryptSession(key, { roomId, sessionId }, data);
      if (read !== undefined) found.push(read);
    }
    tx.onCommit(() => keys.forEach((session) => this.#asked.failed(nameOf(session), clock.now())));
    tx.leadsToRequest = true;
    const output = await receiveKeys(tx, this.#options, found);
    return { ...output, refused: output.refused + keys.length - found.length };
  }

  #mayAsk(session: MegolmSessionRef, now: number): boolean {
    return isUsable(session) && this.#asked.isOver(nameOf(session), now);
  }
}

/** Returns whether a session can be in a backup: events may name anything. */
function isUsable({ roomId, sessionId }: MegolmSessionRef): boolean {
  return readSessionRef(roomId, sessionId) !== undefined;
}

function nameOf({ roomId, sessionId }: Pick<MegolmSessionRef, "roomId" | "sessionId">): string {
  return `${sessionId} ${roomId}`;
}

/** How long a key may be, in bytes: most take 1,000. */
const MAX_LENGTH = 65_536;
/** How deep a key may be, below the object that it is. */
const MAX_DEPTH = 16;
/** How long a name may be, in bytes: those of rooms and sessions are shorter. */
const MAX_NAME = 1_024;
/** The keys are so many objects deep: `{ "rooms": { ROOM: { "sessions": { SESSION: KEY } } } }`. */
const KEY_LEVEL = 4;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
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
        if (this.#endsString(byte) && this.#isNamed) {
          this.#names[this.#depth] = this.#name(bytes.subarray(start, index + 1));
        }
        continue;
      }
      if (byte === QUOTE) {
        this.#string = "inside";
        if (this.#isNamed) start = this.#begin(index);
      } else if (byte === BEGIN_OBJECT || byte === BEGIN_LIST) {
        if (byte === BEGIN_OBJECT && this.#isAtKey) {
          start = this.#begin(index);
          this.#isKey = true;
        }
        this.#depth++;
        this.#hasBegun = true;
        if (byte === BEGIN_LIST && this.#list === 0) this.#list = this.#depth;
        if (this.#depth > KEY_LEVEL + MAX_DEPTH) this.#isGood = false;
      } else if (byte === END_OBJECT || byte === END_LIST) {
        if (this.#list === this.#depth) this.#list = 0;
        this.#depth--;
        if (this.#isKey && this.#depth === KEY_LEVEL) found.push(this.#key(bytes.subarray(start, index + 1)));
      }
    }
    if (this.#parts !== undefined) this.#keep(bytes.slice(start));
    return found;
  }

  /** Whether it has come to its end. */
  get isWhole(): boolean {
    return this.#hasBegun && this.#depth === 0;
  }

  /**
   * Whether a string is read as a name. Values are, too, which does no harm: a name comes before each object.
   */
  get #isNamed(): boolean {
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
