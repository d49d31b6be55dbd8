/**
 * What a bot runs with: options of the environment, its account, telemetry.
 *
 * @module
 */

export { BotAccount, noteDevice } from "./account.ts";
export { announcer } from "./announce.ts";
export { optionsFromEnv } from "./env.ts";
export { LazyStore } from "./lazy_store.ts";
export { isObserved, observed } from "./telemetry.ts";
export { untilBack } from "./until_back.ts";
