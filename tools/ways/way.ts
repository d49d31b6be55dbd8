/**
 * The ways that are measured.
 *
 * @module
 */

/** How many messages more take a way the second time. */
export const REPEATS = 5;

/** What a message can go through, and from where to where it is followed. */
export const WAYS = {
  "message": "from `fetch` to the handler, `start()` and SQLite",
  "command": "from `fetch` to the request with the bot's reply, `start()` and SQLite",
  "transaction": "from the request to the handler of an application service, SQLite",
  "encrypted message": "as a message",
  "late key": "an encrypted message whose key comes after it",
  "send": "from `sendText()` to its answer",
  "encrypted send": "the same, with SQLite",
  "first encrypted send": "the same, the first message to a room",
} as const;

/** One of them. */
export type Way = keyof typeof WAYS;
