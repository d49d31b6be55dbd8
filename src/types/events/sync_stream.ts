/**
 * Where in a sync response an event came from.
 *
 * @module
 */

/**
 * The parts of a sync response, as flags: an event of a joined room's timeline has
 * `SyncStream.JOINED_ROOM | SyncStream.TIMELINE`.
 *
 * @example Handle what was said while the bot was in the room
 * ```ts
 * import { SyncStream } from "@greenroom/matrix/types";
 *
 * const source = SyncStream.JOINED_ROOM | SyncStream.TIMELINE;
 * console.assert((source & SyncStream.TIMELINE) !== 0);
 * ```
 */
export const SyncStream = {
  /** Made by Greenroom, and not sent by the server. */
  INTERNAL: 1,
  /** Of a room the user is in. */
  JOINED_ROOM: 2,
  /** Of a room the user is invited to. */
  INVITED_ROOM: 4,
  /** Of a room the user left or was removed from. */
  LEFT_ROOM: 8,
  /** From the timeline: it happened, in this order. */
  TIMELINE: 16,
  /** From the state section: it holds, and happened at some time before. */
  STATE: 32,
  /** Not kept in the room: typing, receipts. */
  EPHEMERAL: 64,
  /** Private data of the user, global or of a room. */
  ACCOUNT_DATA: 128,
  /** Sent to this device alone. */
  TO_DEVICE: 256,
  /** Of a room the user knocked on. */
  KNOCKED_ROOM: 512,
  /** Whether another user is there. */
  PRESENCE: 1024,
  /**
   * From before the user came into the room, or from the time between two stays: only handlers with
   * `history: true` get it.
   */
  HISTORY: 2048,
  /**
   * Sent by a user of the own application service: only handlers with `own: true` get it.
   */
  OWN: 4096,
} as const;
/** One flag of {@linkcode SyncStream}, or several joined with `|`. */
export type SyncStream = number;
