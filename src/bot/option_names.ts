/**
 * Which options a bot has.
 *
 * @module
 */

import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../../mod.ts";
import type { BotBehaviour, BotOptions, HostedBotOptions } from "./bot_options.ts";

const BEHAVIOUR: OptionNames<BotBehaviour> = {
  ...{ prefix: true, msgtype: true, help: true, unknownCommands: true, saysFailures: true, autoJoin: true },
  ...{ rateLimit: true, inviteLimit: true, maxReminders: true, handlerTimeout: true },
  ...{ allow: true, deny: true, rooms: true, admins: true, encryptedOnly: true },
};

const HOSTED: OptionNames<HostedBotOptions> = { appservice: true, ...BEHAVIOUR };

const ALONE: OptionNames<BotOptions> = {
  ...{ password: true, ...BEHAVIOUR },
  ...{ baseUrl: true, api: true, mxid: true, deviceId: true, store: true, lease: true, wake: true },
  ...{ encryption: true, encryptionBlacklist: true },
  ...{ fillMemberEventCallback: true, deliver: true, maxPendingHandlers: true, closeDeadline: true },
  ...{ token: true, refreshToken: true, expiresInMs: true, onTokensRefreshed: true, findTokens: true },
  ...{ fetch: true, log: true, clock: true, retry: true, requestTimeout: true, maxResponseSize: true },
  ...{ userAgent: true, asUserId: true, asDeviceId: true },
};

/**
 * Refuses options that a bot has not, as of a typing error.
 *
 * @throws {ValueError} If there is one.
 */
export function checkBotOptions(options: BotOptions | HostedBotOptions): void {
  if (options === undefined) throw new ValueError("Cannot make a bot: it has no options; see Bot.fromEnv()");
  checkOptions(options, "appservice" in options ? HOSTED : ALONE, "make a bot");
  if (options.inviteLimit !== false) {
    checkOptions(
      options.inviteLimit,
      { count: true, total: true, window: true },
      "make a bot",
      "inviteLimit.",
    );
  }
  if (options.rateLimit !== false) {
    checkOptions(options.rateLimit, { count: true, window: true }, "make a bot", "rateLimit.");
  }
}

/** The options that are those of the bot's client. */
export function clientsOptions(options: BotOptions): Omit<BotOptions, keyof BotBehaviour | "password"> {
  const { password: _, ...rest } = options;
  const entries = Object.entries(rest).filter(([name]) => !(name in BEHAVIOUR));
  return Object.fromEntries(entries) as Omit<BotOptions, keyof BotBehaviour | "password">;
}
