/**
 * How a client is woken by its homeserver.
 *
 * @module
 */

import type { RequestOptions } from "../api/http/mod.ts";

/** How a homeserver wakes a client: the client's option `wake`. */
export interface WakeOptions {
  /**
   * A secret of your own, the same in all instances of the bot: at least 16 characters, random.
   * What the homeserver has to show to wake the bot is derived from it and the device; the secret
   * itself goes nowhere. With another secret, call `registerWake()` again.
   */
  secret: string;
  /**
   * How long an answer may take, in milliseconds, from 100 to 600,000: the time that a wake has for
   * handling what is new. Shorter than the homeserver waits, which is a minute for Synapse. Default:
   * 20,000.
   */
  passTimeout?: number;
}

/** How to ask the push gateway for wakes. */
export interface RegisterWakeOptions extends RequestOptions {
  /**
   * What wakes the bot. `all`: every event of the rooms that the account is in, by a push rule
   * `greenroom.wake` in front of all others. It counts every event as unread, in all clients of the
   * account: it is for accounts that belong to a bot. `notifying`: what notifies the user by their
   * own rules; that leaves out reactions, edits, notices, redactions and most changes of state.
   * Default: `all`.
   */
  events?: "all" | "notifying";
  /** The application's ID at the homeserver, at most 64 characters. Default: `greenroom.wake`. */
  appId?: string;
}

/** What `registerWake()` has found and done. */
export interface WakeRegistration {
  /** Whether something was missing or different, and is set now. */
  readonly isChanged: boolean;
  /**
   * Whether the user has turned all push notifications off (`.m.rule.master`): then nothing wakes the
   * bot, until they are turned on.
   */
  readonly isMuted: boolean;
}

/** Being woken. */
export interface WakeAPI {
  /**
   * Has the homeserver wake the bot at an address where {@linkcode WakeAPI.fetch} answers: sets an
   * HTTP pusher of the account, renews one that has changed, removes those of former secrets, and
   * sets the push rule. Call it when the bot is deployed, and from time to time: it is one or two
   * requests if everything is as it should be.
   *
   * The homeserver does not wake the bot for these; the next pass handles them, by another wake or
   * by cron: messages to the device (room keys that come late too), typing,
   * receipts, presence, account data, what the own user does with another device, and what Synapse
   * deletes with the events of a forgotten room.
   *
   * @param url The address, https; http only on this machine. A homeserver accepts no other path
   *   than `/_matrix/push/v1/notify`, which is added to an address without one; a query is kept.
   * @param options What wakes the bot.
   * @returns What was done.
   * @throws {ValueError} If the client has no `wake.secret`, or the address can't be used.
   * @see {@link https://spec.matrix.org/v1.16/push-gateway-api/ | Push gateway API}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function deployed(client: Client): Promise<void> {
   *   await client.registerWake("https://stage-bot.example.org");
   * }
   * ```
   */
  registerWake(url: string | URL, options?: RegisterWakeOptions): Promise<WakeRegistration>;
}
