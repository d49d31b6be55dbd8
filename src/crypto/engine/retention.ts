/**
 * For how long things are kept that nobody uses any more, and how much of what others make this device keep.
 *
 * @module
 */

const HOUR = 3_600_000;

/** A day, in milliseconds: what is not kept any more is looked for once a day. */
export const DAY_MS = 24 * HOUR;

/** How many records one step of letting go removes, about: it must not keep a message waiting. */
export const RECORDS_A_STEP = 300;

/**
 * How long, in days, the sessions with a device are kept, after its last message, that its user does not have any more. Messages of
 * it may be on their way: a server keeps them for whoever does not sync.
 */
export const GONE_PEER_DAYS = 30;

/**
 * How long, in days, the sessions with a user's devices are kept, after their last messages, when no encrypted room is shared any
 * more. The devices may be there still: should the user come back, keys come by the old sessions, and would be lost without them.
 */
export const LEFT_PEER_DAYS = 365;

/**
 * How long, in days, the devices of a user are kept with whom no encrypted room is shared any more. They are asked for anew when
 * there is a room again; until then they only tell whose an old event was, which its session remembers as well.
 */
export const LEFT_USER_DAYS = 30;

/**
 * How long, in days, the keys of a user's former devices are remembered after that, if nobody vouches for them: no cross-signing key
 * was ever seen, and the application has said nothing. Whoever could swap such a key could as well show a new device.
 */
export const UNVOUCHED_USER_DAYS = 365;

/** How many former devices of a user are remembered with whom no encrypted room is shared any more, the newest. */
export const FORMER_DEVICES = 100;

/**
 * How long, in milliseconds, it is known who had the key of a room's last session after that could last be used: so long may
 * somebody who had it ask for it again.
 */
export const IDLE_ROOM_MS = 30 * DAY_MS;

/** The longest time for which a session counts as in use, in milliseconds, whatever its room says. */
export const LONGEST_USE_MS = 365 * DAY_MS;

/**
 * How much older, in milliseconds, than the oldest key by which sessions can be begun the last message of a device must be for its
 * messages to be forgotten: a repetition of any of them then opens nothing. The server may have handed a key out before it was
 * known to have it.
 */
export const FALLBACK_MARGIN_MS = 7 * DAY_MS;

/**
 * With how many devices there may be sessions of which nobody knows whose they are: what they may send is room keys. Of one user as
 * many as the others leave. They do not grow old: a key that comes by such a session would be lost without it.
 */
export const UNKNOWN_DEVICES = 5_000;

/** With how many devices that had none before one user can begin sessions in a day: as many as a user may have. */
export const NEW_PEERS_A_DAY = 1_000;

/** How many group sessions of one user may wait for their first message; the one that came first goes first. */
export const UNUSED_OF_USER = 10_000;

/** How many group sessions may wait for their first message; those of the user with the most go first. */
export const UNUSED_IN_ALL = 200_000;
