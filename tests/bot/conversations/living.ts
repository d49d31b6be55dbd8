/**
 * A bot in a client that a test starts, and crashes.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";

/** A bot that lives in the client of a process that crashes. */
export function living(client: Client): Bot {
  const forever = new Promise<void>(() => {});
  return new Bot({
    appservice: {
      botClient: client,
      fetch: () => Promise.reject(new TypeError("nobody asks")),
      start: () => forever,
      stop: () => Promise.resolve(),
      close: () => Promise.resolve(),
    },
  });
}
