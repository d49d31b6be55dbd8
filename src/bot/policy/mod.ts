/**
 * Whom a bot hears, how much of it, and whose invitations it accepts.
 *
 * @module
 */

export { Access, type AccessOptions, type Admins, isSendersWord, reportUnread } from "./access.ts";
export { type Invitation, Invitations, type Inviter } from "./invitations.ts";
export { joinLate, JoinQueue } from "./joining.ts";
export { type InviteLimit, InviteLimiter, type RateLimit, RateLimiter } from "./limits.ts";
