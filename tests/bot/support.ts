/**
 * Bots to be tried.
 *
 * @module
 */

import { Bot, type BotOptions } from "@greenroom/matrix/bot";
import { BotTester } from "@greenroom/matrix/testing";

/** Tries a bot with some functions. */
export function trying(setUp: (bot: Bot) => void, options: Partial<BotOptions> = {}): BotTester {
  return new BotTester((given) => {
    const bot = new Bot({ ...given, ...options });
    setUp(bot);
    return bot;
  });
}
