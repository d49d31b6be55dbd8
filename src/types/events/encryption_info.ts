/**
 * How an event was encrypted, and where that is kept: on the event, but where no JSON can put it.
 *
 * A server, and the sender of an event, can give it any member that has a name. So what decryption found
 * out is kept under a symbol. A copy by `{ ...event }` has it; JSON and structured clone leave it out, so
 * that what goes into a store has it written down beside the event.
 *
 * @module
 */

import type { DeviceID, UserID } from "../ids.ts";
import { isJsonObject } from "../json.ts";
import type { ClientEventWithoutRoomID, MatrixEvent } from "./event.ts";
import type { InternalEventData } from "./internal_event.ts";

/**
 * How far the device that encrypted an event is to be trusted, from bad to good.
 *
 * - `mismatched-sender`: the key belongs to another user than the event's sender;
 * - `unknown-device`: the device that the key came from is unknown, or nothing proves that it is the one
 *   that is named, for which its user vouches;
 * - `unsigned-device`: its user does not vouch for the device, or for the one that is named;
 * - `verification-violation`: the user vouches for it, was verified and is not any more;
 *   or with an identity that was replaced before, or, of the own user, with one that was not accepted;
 * - `unverified-identity`: the user vouches for it, and nobody has verified the user;
 * - `verified`: the device has been verified.
 */
export type SenderTrust =
  | "mismatched-sender"
  | "unknown-device"
  | "unsigned-device"
  | "verification-violation"
  | "unverified-identity"
  | "verified";

/**
 * Where the key of an event came from: from the sending device itself, or by way of another device,
 * a file or a backup, none of which can prove whose key it is.
 */
export type KeySource = "direct" | "forwarded" | "backup" | "export" | "bundle";

/**
 * Where the `m.relates_to` of a content stood: inside of what was encrypted, so that it is the
 * sender's; or beside it, in clear, where the server can have put it or changed it. Servers need it
 * there, and some clients write it nowhere else.
 */
export type RelationSource = "encrypted" | "clear";

/** What is known of the device that encrypted something. */
export interface SenderInfo {
  /** How far the device is to be trusted. */
  readonly senderTrust: SenderTrust;
  /** Its Curve25519 identity key. */
  readonly senderKey: string;
  /** The device; undefined if it is unknown. */
  readonly senderDevice: DeviceID | undefined;
}

/**
 * What is known of how an event of a room was encrypted, and by whom. `senderKey` is of the device
 * that the key came from: hearsay unless `keySource` is `direct`.
 */
export interface EncryptionInfo extends SenderInfo {
  /** Where the key came from. */
  readonly keySource: KeySource;
  /**
   * Who has shared the key, if `keySource` is `bundle`: the user who invited this one, and who alone
   * says whose key it is. Else absent.
   */
  readonly sharedBy?: UserID;
  /** The Megolm session. */
  readonly sessionId: string;
  /** The event's place in the session, from 0. */
  readonly messageIndex: number;
  /**
   * Where its `m.relates_to` comes from; undefined if it has none. What is `clear` does not say to
   * which question a "yes" is the answer: the server could aim it at another.
   */
  readonly relation: RelationSource | undefined;
}

const ENCRYPTION = Symbol("encryption");

interface Marked {
  [ENCRYPTION]?: EncryptionInfo | SenderInfo;
}

/** How an event was encrypted, and the events that the server bundled with it: plain data. */
export interface Encryptions {
  /** How it was encrypted; absent if it came in clear. */
  readonly encryption?: EncryptionInfo | SenderInfo;
  /**
   * The same of the newest edit that came with it, and of the newest event of its thread; absent if
   * nothing came.
   */
  readonly bundled?: readonly (Encryptions | undefined)[];
}

/**
 * Returns how an event was encrypted, and by whom. Nothing but decryption by this library makes it: no
 * member of an event does, whatever its name and wherever the event came from.
 *
 * A copy made with `{ ...event }` has it too; one that went through JSON or `structuredClone()` has
 * not.
 *
 * @param event An event that a handler got, a bundled one within it, or what `crypto.decrypt()`
 *   made of one.
 * @returns Undefined if the event came in clear.
 * @example
 * ```ts
 * import { encryptionOf } from "@greenroom/matrix";
 * import type { MessageEvent } from "@greenroom/matrix/types";
 *
 * const isVouchedFor = (event: MessageEvent): boolean => encryptionOf(event)?.senderTrust === "verified";
 * console.assert(typeof isVouchedFor === "function");
 * ```
 */
export function encryptionOf(event: ClientEventWithoutRoomID): EncryptionInfo | undefined;
/**
 * Returns how an event of any kind was encrypted, a message to this device for one, and by whom.
 *
 * @param event An event that a handler got.
 * @returns Undefined if the event came in clear.
 */
export function encryptionOf(event: MatrixEvent | InternalEventData): SenderInfo | undefined;
export function encryptionOf(event: object): EncryptionInfo | SenderInfo | undefined {
  return (event as Marked)[ENCRYPTION];
}

/** Notes on an event how it was encrypted, and on those that are bundled with it. */
export function noteEncryption<Event extends object>(
  event: Event,
  { encryption, bundled }: Encryptions,
): Event {
  if (encryption !== undefined) (event as Marked)[ENCRYPTION] = encryption;
  if (bundled !== undefined) {
    for (const [index, inner] of bundledIn(event).entries()) {
      const found = bundled[index];
      if (found !== undefined && isJsonObject(inner)) noteEncryption(inner, found);
    }
  }
  return event;
}

/**
 * What is noted on an event of how it was encrypted, and on those that are bundled with it;
 * undefined: nothing.
 */
export function encryptionsOf(event: object): Encryptions | undefined {
  const { [ENCRYPTION]: encryption } = event as Marked;
  if (encryption === undefined) return undefined;
  const bundled = bundledIn(event).map((inner) => isJsonObject(inner) ? encryptionsOf(inner) : undefined);
  return bundled.some((found) => found !== undefined) ? { encryption, bundled } : { encryption };
}

/** Returns what the server bundled with an event: the newest edit, and the newest event of its thread. */
export function bundledIn(event: object): readonly [edit: unknown, latest: unknown] {
  const { unsigned } = event as { readonly unsigned?: unknown };
  const relations = isJsonObject(unsigned) ? unsigned["m.relations"] : undefined;
  if (!isJsonObject(relations)) return [undefined, undefined];
  const { "m.replace": edit, "m.thread": thread } = relations;
  return [edit, isJsonObject(thread) ? thread.latest_event : undefined];
}

/** Returns whether the server has bundled anything with an event. */
export function hasBundle({ unsigned }: { readonly unsigned?: unknown }): boolean {
  return isJsonObject(unsigned) && isJsonObject(unsigned["m.relations"]);
}
