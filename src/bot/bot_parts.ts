/**
 * What the parts of a bot share.
 *
 * @module
 */

import type { Client } from "../../mod.ts";
import type { BotSessions, Once, Patience } from "./run/mod.ts";
import type { Conversations, WaitedTypes } from "./conversations/conversations.ts";
import type { Access, Inviters, JoinQueue } from "./policy/mod.ts";
import type { Timers } from "./timers/mod.ts";

/** What the parts of a bot share. */
export interface BotParts {
  /** Sends, and stores. */
  readonly client: Client;
  /** How the bot speaks. */
  readonly options: {
    /** What commands begin with. */
    readonly prefix: string;
    /** What kind of messages it sends. */
    readonly msgtype: "m.notice" | "m.text";
    /** Whether it tells a user that a command has failed. */
    readonly saysFailures: boolean;
  };
  /** What handlers remember. */
  readonly sessions: BotSessions;
  /** What handlers find out. */
  readonly once: Once;
  /** What handlers ask. */
  readonly conversations: Conversations;
  /** What handlers wait for. */
  readonly waited: WaitedTypes;
  /** What is due at a time. */
  readonly timers: Timers;
  /** Who may do what. */
  readonly access: Access;
  /** Who has invited the bot where. */
  readonly inviters: Inviters;
  /** Has joins by invitations wait for each other. */
  readonly joins: JoinQueue;
  /** Gives up what takes too long. */
  readonly patience: Patience;
  /**
   * Checks a reminder.
   *
   * @throws {ValueError} If there is no such time, or no such function.
   */
  readonly checkReminder: (due: number, name: string) => void;
}
