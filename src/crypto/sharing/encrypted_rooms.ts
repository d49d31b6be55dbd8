/**
 * The encrypted rooms: their settings and their members.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import { type StateEvent, SyncStream } from "../../types/events/event.ts";
import { isUserId } from "../../types/identifiers.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import { permanent } from "../../errors/matrix_error.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { CryptoContext } from "../context/context.ts";
import {
  historyVisibilityOf,
  type RoomDescription,
  type RoomSettings,
  type RoomStateInput,
  sameSettings,
  withEncryption,
} from "./outbound_record.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import { type MemberKind, RoomMembers } from "./room_members.ts";

export interface RoomChanges {
  readonly roomId: RoomID;
  /** Users who left, or may have left unseen, even if they are back. */
  readonly left: readonly UserID[];
  /** Whether the algorithm or the history visibility of an encrypted room has changed. */
  readonly settingsChanged: boolean;
  /** Users whose devices have to be tracked from now on. */
  readonly track: readonly UserID[];
  /** Users who have just joined: devices that came while they were invited were not announced. */
  readonly joined: readonly UserID[];
}

/**
 * Keeps the encrypted rooms. Their settings are durable; their members are only in memory, and
 * requested once per process.
 */
export class EncryptedRooms {
  readonly #own: UserID;
  readonly #clock: Clock;
  readonly members: RoomMembers = new RoomMembers();
  readonly #settings = new Map<RoomID, RoomSettings>();

  /** @param context What the parts share. */
  constructor(context: CryptoContext) {
    this.#own = context.own.userId;
    this.#clock = context.clock;
  }

  /** Reads which rooms are encrypted. */
  async load(tx: Transaction): Promise<void> {
    this.#settings.clear();
    for (const [[roomId = ""], settings] of await tx.list<RoomSettings>(KIND)) {
      this.#settings.set(roomId as RoomID, settings); // it was written under a room ID
    }
  }

  /** Notes rooms in which something was sent encrypted: the record that says so may have been removed. */
  restore(tx: Transaction, roomIds: Iterable<RoomID>): void {
    for (const roomId of roomIds) {
      if (this.isEncrypted(roomId)) continue;
      const after = withEncryption(undefined, { algorithm: EncryptionAlgorithm.MEGOLM_V1 });
      this.#write(tx, roomId, { before: undefined, after });
    }
  }

  /** The encryption settings of a room; undefined if it is not known to be encrypted. */
  settings(roomId: RoomID): RoomSettings | undefined {
    return this.#settings.get(roomId);
  }

  /** Returns whether a room is known to be encrypted; once it is, it stays so. */
  isEncrypted(roomId: RoomID): boolean {
    return this.#settings.has(roomId);
  }

  /**
   * The recipients of what is sent: members and, unless history is for members only, invited users;
   * undefined: unknown.
   */
  recipients(roomId: RoomID): ReadonlySet<UserID> | undefined {
    return this.members.recipients(roomId, this.#settings.get(roomId)?.historyVisibility);
  }

  /** Notes that a description has been requested: later changes are applied to it. */
  expectDescription(roomId: RoomID): void {
    this.members.ask(roomId, this.#clock.now());
  }

  /**
   * Makes members out of date that were requested before a time; returns the time of the request.
   */
  outdate(roomId: RoomID, since: number): number {
    return this.members.outdate(roomId, { since, now: this.#clock.now() });
  }

  /** Drops the members of all rooms: the next sync does not show who has left. */
  forgetMembers(tx: Transaction): void {
    tx.onCommit(() => this.members.clear());
  }

  /** Receives state that came with a sync. */
  receiveState(tx: Transaction, state: RoomStateInput): RoomChanges {
    const { roomId, events } = state;
    const before = this.settings(roomId);
    let after = before;
    for (const event of events) {
      if (event.type === "m.room.encryption" && event.state_key === "") {
        after = withEncryption(after, event.content);
      } else if (event.type === "m.room.create" && event.state_key === "") {
        after ??= this.#settingsToInherit(event.content);
      }
    }
    if (after === undefined) return { roomId, left: [], settingsChanged: false, track: [], joined: [] };
    for (const event of events) {
      if (event.type !== "m.room.history_visibility" || event.state_key !== "") continue;
      after = { ...after, historyVisibility: historyVisibilityOf(event.content) };
    }
    this.#write(tx, roomId, { before, after });
    return { roomId, settingsChanged: isOther(before, after), ...this.#receiveMembers(tx, state) };
  }

  /**
   * Receives the description of a room, which the server was asked for. A room that is known to be encrypted
   * stays so if the server shows it as one that is not.
   *
   * @throws {EncryptionError} If nothing says that the room is encrypted.
   */
  describe(tx: Transaction, description: RoomDescription): RoomChanges {
    const { roomId, members } = description;
    const before = this.settings(roomId);
    if (before === undefined && description.encryption === undefined) {
      throw permanent(
        new EncryptionError(
          `Cannot encrypt for ${roomId}: the room is not encrypted; send it m.room.encryption first`,
        ),
      );
    }
    const since = this.members.visibilitySince(roomId);
    const after: RoomSettings = {
      ...withEncryption(before, description.encryption),
      historyVisibility: since === undefined
        ? historyVisibilityOf(description.historyVisibility)
        : since.value,
    };
    this.#write(tx, roomId, { before, after });
    const described = members.filter(({ userId }) => isUserId(userId));
    const left = this.members.missing(roomId, described);
    tx.onCommit(() => this.members.put(roomId, described));
    return {
      roomId,
      left, // other former members with a key are found before the next event
      settingsChanged: isOther(before, after),
      track: described.map(({ userId }) => userId),
      joined: [],
    };
  }

  /** The successor of an encrypted room is encrypted. */
  #settingsToInherit({ predecessor }: JsonObject): RoomSettings | undefined {
    const roomId = isJsonObject(predecessor) ? predecessor.room_id : undefined;
    const settings = this.#settings.get(roomId as RoomID); // nothing is known of what is none
    return settings && { ...settings, historyVisibility: undefined };
  }

  #write(
    tx: Transaction,
    roomId: RoomID,
    { before, after }: { before: RoomSettings | undefined; after: RoomSettings },
  ): void {
    if (before === after || before !== undefined && sameSettings(before, after)) return;
    tx.set(settingsKey(roomId), after);
    this.#settings.set(roomId, after); // immediately, so that the rest of the step uses it
    tx.onAbort(() => {
      if (before === undefined) this.#settings.delete(roomId);
      else this.#settings.set(roomId, before);
    });
    tx.onCommit(() => {
      if (before?.historyVisibility === after.historyVisibility) return;
      this.members.visibilityChanged(roomId, after.historyVisibility);
    });
  }

  #receiveMembers(tx: Transaction, state: RoomStateInput): Pick<RoomChanges, "left" | "track" | "joined"> {
    const { roomId, events, limited, lossy } = state;
    const changes = new Map<UserID, MemberKind | undefined>();
    const left = new Set<UserID>();
    const track = new Set<UserID>();
    const joined = new Set<UserID>();
    let hasEntered = false;
    for (const event of events) {
      const { type, state_key: userId, content, unsigned } = event;
      if (type !== "m.room.member" || !isUserId(userId)) continue;
      const membership = isJsonObject(content) ? content.membership : undefined;
      const kind = membership === "join" || membership === "invite" ? membership : undefined;
      changes.set(userId, kind);
      if (kind !== undefined) track.add(userId);
      if (kind === "join" && isNew(event)) joined.add(userId);
      hasEntered ||= userId === this.#own && unsigned?.prev_content?.membership !== "join";
      // In a gap, a user may have joined and left again before this event.
      if (kind === undefined || (limited && kind !== "join")) left.add(userId);
    }
    // Who asks about members while it is none is told of those of the time when it left.
    const forget = lossy || left.has(this.#own) || hasEntered;
    tx.onCommit(() => {
      if (forget) this.members.forget(roomId);
      else if (changes.size > 0) this.members.change(roomId, changes);
    });
    return { left: [...left], track: [...track], joined: [...joined] };
  }
}

/** Returns whether an event makes a user a member who was none, as far as it says that. */
function isNew({ source, unsigned }: StateEvent): boolean {
  return (source & SyncStream.TIMELINE) !== 0 && unsigned?.prev_content?.membership !== "join";
}

const KIND = "room_settings";

function settingsKey(roomId: RoomID): RecordKey<RoomSettings> {
  return { ...recordKey<RoomSettings>(KIND, roomId), held: true };
}

function isOther(before: RoomSettings | undefined, after: RoomSettings): boolean {
  return before !== undefined &&
    (before.algorithm !== after.algorithm || before.historyVisibility !== after.historyVisibility);
}
