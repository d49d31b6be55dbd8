/**
 * What may be chosen about end-to-end encryption.
 *
 * @module
 */

import type { NewRecipient } from "../../crypto/sharing/approvals.ts";
import type { AcceptPolicy, SendPolicy } from "../../crypto/engine/policy.ts";
import type { RoomID } from "../../types/ids.ts";

/**
 * Is asked before users get a room's key for the first time, and again before they get one with another identity than the one
 * that they were approved with.
 *
 * @param roomId The room.
 * @param users Who never had a key of the room, each with the master key of the identity that is shown of them.
 * @returns `false` to refuse: what was to be sent is not sent, and the call rejects with an `EncryptionError`.
 */
export type OnNewRecipient = (
  roomId: RoomID,
  users: readonly NewRecipient[],
) => void | boolean | Promise<void | boolean>;

/** How a client encrypts, and what it accepts. */
export interface EncryptionOptions {
  /**
   * Which devices get the keys to what is sent: `all` of the room's members, those that are `cross-signed` by their user, or those
   * that are `verified`. A device that was blacklisted gets none. Own devices count as cross-signed once
   * `client.crypto.acknowledgeIdentity()` has said that the own identity is the user's: the server could have made it. Default:
   * `all`.
   */
  sendTo?: SendPolicy;
  /**
   * Which decrypted events reach handlers: `all`, only those of devices that are cross-signed by their user (`cross-signed`), or
   * also those whose device can't be known any more (`cross-signed-or-legacy`). The others are reported as `UNDECRYPTABLE`, and
   * delivered should their device become trusted. Default: `all`; `encryptionOf(event)` says how far each can be trusted.
   *
   * Encrypted messages to this device are held to it too; those of a device that is not accepted are dropped, which the log says.
   * Messages to this device that came in clear reach handlers in any case: anybody can have sent one, and `encryptionOf()` knows
   * nothing of it.
   */
  accept?: AcceptPolicy;
  /**
   * What becomes of messages that come in clear into an encrypted room: anyone on the way may have written them. They are
   * reported as `UNENCRYPTED` and otherwise ignored, or delivered like all others: `encryptionOf()` tells them apart.
   * Reactions, redactions and calls are always delivered. Default: `ignore`.
   */
  unencrypted?: "ignore" | "deliver";
  /** Whether own verified devices, and devices that had a key before, get it again when they ask. Default: false. */
  answerKeyRequests?: boolean;
  /** Is asked before users get a room's key for the first time. Default: nobody is asked. */
  onNewRecipient?: OnNewRecipient;
}
