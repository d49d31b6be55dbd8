/**
 * Content of `m.room.power_levels`.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#mroompower_levels | m.room.power_levels}
 * @module
 */

import type { UserID } from "../ids.ts";

/**
 * Content of `m.room.power_levels`: who may do what. The defaults hold for a room that has the
 * event; in one that does not, everyone may send state, and all other defaults are the same.
 *
 * The creators of a room of version 12 and later stand above all levels, and are not listed.
 */
export type RoomPowerLevelsContent = {
  /** The levels of users. */
  users?: { [userId: UserID]: number };
  /** The level of a user not listed. Default: 0. */
  users_default?: number;
  /** The levels it takes to send events, by type. */
  events?: { [type: string]: number };
  /** The level it takes to send a message whose type is not listed. Default: 0. */
  events_default?: number;
  /** The level it takes to send state whose type is not listed. Default: 50. */
  state_default?: number;
  /** The level it takes to invite. Default: 0. */
  invite?: number;
  /** The level it takes to remove members, and to lift bans together with `ban`. Default: 50. */
  kick?: number;
  /** The level it takes to ban. Default: 50. */
  ban?: number;
  /** The level it takes to redact events of others. Default: 50. */
  redact?: number;
  /** The levels it takes to notify. */
  notifications?: NotificationPowerLevels;
};

/** The levels it takes to notify, by key; 50 where a key is not listed. */
export interface NotificationPowerLevels {
  /** The level it takes to notify everyone in the room. Default: 50. */
  room?: number;
  /** The level it takes for another kind of notification. Default: 50. */
  [key: string]: number | undefined;
}
