/**
 * Decrypted events and messages: plain data, with their encryption beside it;
 * and encrypted events that the server bundles with the event that they relate to.
 *
 * The server chooses what it bundles: each event has to name the other one inside its encrypted
 * payload.
 *
 * @module
 */

import {
  bundledIn,
  type EncryptionInfo,
  type Encryptions,
  hasBundle,
  type SenderInfo,
} from "../../types/events/encryption_info.ts";
import type { UndecryptableCode } from "../../types/events/internal_event.ts";
import type { MessageEvent, ToDeviceEvent } from "../../types/events/event.ts";
import type { EventID, RoomID, UserID } from "../../types/ids.ts";
import type { VerificationEvent } from "../../types/content/encryption_content.ts";
import type { DeviceAlarm } from "../../types/api/device_keys.ts";
import { isJsonObject, type JsonObject, objectOf } from "../../types/json.ts";

/** The clear event, with what is known of its encryption. */
export interface DecryptedEvent extends Encryptions {
  /** The event in plain text, with the envelope of the encrypted one. */
  readonly event: MessageEvent;
  /** How it was encrypted, and by which device. */
  readonly encryption: EncryptionInfo;
}

/** A message to this device that is left for handlers. */
export interface ToDeviceMessage {
  /** The message in plain text. */
  readonly event: ToDeviceEvent;
  /** Which device encrypted it, and how far that is to be trusted; absent if it came in clear. */
  readonly encryption?: SenderInfo;
}

/** The name of an event that waits for its key. */
export interface UndecryptableEventRef {
  readonly roomId: RoomID;
  readonly eventId: EventID;
}

/** What became of an encrypted event. */
export type Decryption =
  | DecryptedEvent
  | {
    /** Why it can't be decrypted, for now at least. */
    readonly code: UndecryptableCode;
    /** The same in words: which event, session and room, and what to do. */
    readonly reason: string;
    /** The code of the reason that the sender gave for withholding the key, if it did. */
    readonly withheld?: string;
  };

/** The same, within the client. */
export type JudgedEvent = Decryption & {
  /** Whether a better key of its session would have it heard, and is to be asked for. */
  readonly isKeyWanted?: true;
  /** What it says of a verification, if its device is not trusted enough for anything else. */
  readonly verifying?: VerificationEvent;
};

/** An event that waited for its key and can be decrypted now. */
export interface RecoveredEvent extends DecryptedEvent {
  /** The record that it waits under; it is kept until the event has been handled. */
  readonly ref: UndecryptableEventRef;
}

/** What follows from an answer of the server. */
export interface AnswerOutput {
  /** Events that can be decrypted now. */
  readonly recovered: readonly RecoveredEvent[];
  /** Keys that are not what they should be. */
  readonly alarms: readonly DeviceAlarm[];
}

/** An event of a thread can have been edited; nothing goes deeper. */
const MAX_DEPTH = 2;

const RELATIONS = "m.relations";

/** Codes of events that may well be what the server says they are. */
const LOCKED: ReadonlySet<UndecryptableCode> = new Set(["MISSING_KEY", "WITHHELD", "KEY_TOO_NEW"]);

/** The encrypted events that are bundled with an event, with the objects that the server sent. */
export function bundledWith(
  event: MessageEvent,
  depth = MAX_DEPTH,
): [sent: JsonObject, event: MessageEvent][] {
  return bundledIn(event).filter(isJsonObject).flatMap((sent) => {
    const { type, room_id = event.room_id, event_id, sender, origin_server_ts, content } = sent;
    if (type !== "m.room.encrypted" || room_id !== event.room_id || !isJsonObject(content)) return [];
    const { unsigned } = sent;
    const bundled = {
      type,
      content,
      event_id,
      sender,
      origin_server_ts,
      room_id,
      source: event.source,
      state_key: sent.state_key,
      ...(isJsonObject(unsigned) && { unsigned }),
      // As the server sent it: what decrypts it looks at every member before it uses it.
    } as MessageEvent;
    return [
      [sent, bundled] as [JsonObject, MessageEvent],
      ...(depth > 1 ? bundledWith(bundled, depth - 1) : []),
    ];
  });
}

/**
 * An event with its bundled events in plain text. One without a key stays as it is; one in clear,
 * or one that does not belong to the event, is removed.
 *
 * @param decrypted The event in plain text.
 * @param decryptions The results of the bundled events, by the objects that the server sent.
 */
export function withBundle(
  decrypted: DecryptedEvent,
  decryptions: ReadonlyMap<unknown, Decryption>,
): DecryptedEvent {
  const { event } = decrypted;
  if (!hasBundle(event)) return decrypted;
  // hasBundle() has looked at both.
  const relations = { ...(event.unsigned as JsonObject)[RELATIONS] as JsonObject };
  const [sentEdit, sentLatest] = bundledIn(event);
  const edit = replaced(sentEdit, decryptions, (found) => isEditOf(found, event));
  if (edit === undefined) delete relations["m.replace"];
  else relations["m.replace"] = edit.event;
  const latest = replaced(sentLatest, decryptions, (found) => isInThreadOf(found, event));
  if (latest === undefined) delete relations["m.thread"];
  else relations["m.thread"] = { ...relations["m.thread"] as JsonObject, latest_event: latest.event };
  return {
    ...decrypted,
    event: { ...event, unsigned: { ...event.unsigned, [RELATIONS]: relations } },
    bundled: [edit, latest].map(encryptionsIn),
  };
}

/** What takes the place of what the server has bundled. */
interface Replacement extends Encryptions {
  readonly event: unknown;
}

function encryptionsIn(replacement: Replacement | undefined): Encryptions | undefined {
  return replacement && { encryption: replacement.encryption, bundled: replacement.bundled };
}

function replaced(
  sent: unknown,
  decryptions: ReadonlyMap<unknown, Decryption>,
  belongs: (found: MessageEvent) => boolean,
): Replacement | undefined {
  const decryption = decryptions.get(sent);
  if (decryption === undefined) return undefined;
  if ("event" in decryption) {
    const isVouchedFor = decryption.encryption.relation === "encrypted";
    return isVouchedFor && belongs(decryption.event) ? withBundle(decryption, decryptions) : undefined;
  }
  return LOCKED.has(decryption.code) ? { event: sent } : undefined;
}

function relationOf({ content }: MessageEvent): JsonObject {
  return objectOf(content["m.relates_to"]);
}

function isEditOf(found: MessageEvent, original: MessageEvent): boolean {
  const { rel_type, event_id } = relationOf(found);
  const sender: UserID = original.sender;
  return found.sender === sender && found.type === original.type && rel_type === "m.replace" &&
    event_id === original.event_id && isJsonObject(found.content["m.new_content"]);
}

function isInThreadOf(found: MessageEvent, root: MessageEvent): boolean {
  const { rel_type, event_id } = relationOf(found);
  return rel_type === "m.thread" && event_id === root.event_id;
}
