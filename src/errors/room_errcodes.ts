/**
 * Errors of rooms: their versions, aliases, members and power.
 *
 * @module
 */

import { ForbiddenError } from "./request_errcodes.ts";
import { MatrixRequestError } from "./request_error.ts";

/**
 * `M_ROOM_IN_USE`: the room alias is taken.
 *
 * Mend: Choose another alias, or resolve this one.
 */
export class RoomInUseError extends MatrixRequestError {}

/**
 * `M_INVALID_ROOM_STATE`: the initial state of the new room is invalid.
 *
 * Mend: Correct `initialState` and the other options of the room.
 */
export class InvalidRoomStateError extends MatrixRequestError {}

/**
 * `M_UNSUPPORTED_ROOM_VERSION`: the server does not support this room version.
 *
 * Mend: Choose a version that `getCapabilities()` lists.
 */
export class UnsupportedRoomVersionError extends MatrixRequestError {}

/**
 * `M_INCOMPATIBLE_ROOM_VERSION`: the server does not support the version of the room to be joined.
 *
 * Mend: Update the homeserver.
 */
export class IncompatibleRoomVersionError extends MatrixRequestError {}

/**
 * `M_BAD_STATE`: the change is not possible in the present state, like unbanning a user who is not
 * banned. Synapse refuses so what other servers refuse with `M_FORBIDDEN`: to join, or to be
 * invited, while banned.
 *
 * Mend: Look at the present state first: unban the user, for one.
 */
export class BadStateError extends ForbiddenError {}

/**
 * `M_CANNOT_LEAVE_SERVER_NOTICE_ROOM`: the server-notices room can't be left.
 *
 * Mend: Stay in it.
 */
export class CannotLeaveServerNoticeRoomError extends MatrixRequestError {}

/**
 * `M_INVITE_BLOCKED`: the invitee does not accept invites from the user.
 *
 * Mend: Ask the user to allow invitations.
 */
export class InviteBlockedError extends MatrixRequestError {}

/**
 * `M_UNABLE_TO_AUTHORISE_JOIN`: the server can't tell whether the restricted join is allowed;
 * another server may.
 *
 * Mend: Join through another server, by the option `servers`.
 */
export class UnableToAuthoriseJoinError extends MatrixRequestError {}

/**
 * `M_UNABLE_TO_GRANT_JOIN`: the server may not let the user join; another server may.
 *
 * Mend: Join through another server, by the option `servers`.
 */
export class UnableToGrantJoinError extends MatrixRequestError {}

/**
 * `M_BAD_ALIAS`: an alias in the event does not exist, or points to another room.
 *
 * Mend: Create the alias first, or leave it out.
 */
export class BadAliasError extends MatrixRequestError {}

/**
 * `M_DUPLICATE_ANNOTATION`: the user has reacted to this event with this key already.
 *
 * Mend: Take it for done.
 */
export class DuplicateAnnotationError extends MatrixRequestError {}

/**
 * `M_ALREADY_JOINED`: the user is in the room already.
 *
 * Mend: Take it for done.
 */
export class AlreadyJoinedError extends ForbiddenError {}

/**
 * `M_NOT_JOINED`: the user is not in the room.
 *
 * Mend: Join the room first.
 */
export class NotJoinedError extends ForbiddenError {}

/**
 * `M_INSUFFICIENT_POWER`: the user's power level is too low for this.
 *
 * Mend: Have the user given the power.
 */
export class InsufficientPowerError extends ForbiddenError {}
