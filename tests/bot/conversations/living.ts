/**
 * A bot in a client that a test starts, and crashes.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import { Bot, type BotHost } from "@greenroom/matrix/bot";

/** A bot that lives in the client of a process that crashes. */
export function living(client: Client): Bot {
  return new Bot({ appservice: hostOf(client) });
}

/** Such a client, for a bot with options. */
export function hostOf(client: Client): BotHost {
  const forever = new Promise<void>(() => {});
  return {
    botClient: client,
    fetch: () => Promise.reject(new TypeError("nobody asks")),
    start: () => forever,
    stop: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
