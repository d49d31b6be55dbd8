/**
 * The names of the events that Greenroom makes itself.
 *
 * @module
 */

/**
 * What Greenroom reports to handlers besides the server's events; `InternalEvents` says with which
 * data.
 */
export const InternalEventType = {
  /** The sync loop starts; once per start, after the token was read. */
  SYNC_STARTED: "SYNC_STARTED",
  /** A sync failed, and the loop is about to wait. */
  SYNC_ERRORED: "SYNC_ERRORED",
  /** A sync response came in, and is about to be handled. */
  SYNC_SUCCESSFUL: "SYNC_SUCCESSFUL",
  /** The sync loop ended, for whatever reason. */
  SYNC_STOPPED: "SYNC_STOPPED",
  /** A user joined. */
  JOIN: "JOIN",
  /** A member changed name, avatar or another part of the member event. */
  PROFILE_CHANGE: "PROFILE_CHANGE",
  /** The own user was invited: to a room that can be joined now. */
  INVITE: "INVITE",
  /** Another user, that of the event's state key, was invited to a room that the own user is in. */
  USER_INVITED: "USER_INVITED",
  /** A user declined the invitation. */
  REJECT_INVITE: "REJECT_INVITE",
  /** A user's invitation was withdrawn. */
  DISINVITE: "DISINVITE",
  /** A member left. */
  LEAVE: "LEAVE",
  /** A member was removed. */
  KICK: "KICK",
  /** A user was banned. */
  BAN: "BAN",
  /** A user's ban was lifted. */
  UNBAN: "UNBAN",
  /** A user asked to be let in. */
  KNOCK: "KNOCK",
  /** Other users' devices changed, or users are no longer of interest. */
  DEVICE_LISTS: "DEVICE_LISTS",
  /** How many of this device's one-time keys the server has left. */
  DEVICE_OTK_COUNT: "DEVICE_OTK_COUNT",
  /**
   * Events between the timeline before and the one that came were left out: there were too many, or
   * the server did not give them.
   */
  GAP: "GAP",
  /** An encrypted event could not be decrypted, for now at least: it comes as soon as it can be. */
  UNDECRYPTABLE: "UNDECRYPTABLE",
  /** A message came in clear into an encrypted room, and was ignored. */
  UNENCRYPTED: "UNENCRYPTED",
  /** The content of an event is not what its type says. */
  MALFORMED: "MALFORMED",
  /**
   * The server shows keys of a user or a device that are not those it showed before, or can't be.
   */
  DEVICE_ALARM: "DEVICE_ALARM",
  /**
   * An event is left out for a time, since process after process has ended while it was handled:
   * see `client.quarantine`.
   */
  EVENT_QUARANTINED: "EVENT_QUARANTINED",
  /** A handler threw, or a promise that it did not await was rejected; and not because the client can't go on. */
  HANDLER_ERROR: "HANDLER_ERROR",
} as const;
/** A value of {@linkcode InternalEventType}. */
export type InternalEventType = typeof InternalEventType[keyof typeof InternalEventType];
