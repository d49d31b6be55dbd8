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

/** A user says `!later`, is reminded a second after that, and a schedule of each minute has its time. */
export async function passTimes(tester: BotTester, reminded: string): Promise<void> {
  const room = await tester.room("alice");
  await room.say("!later");
  await tester.settle();
  await tester.pass(1_000);
  await room.expect(reminded);
  await tester.pass(60_000);
}
