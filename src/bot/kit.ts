/**
 * What the functions of one bot share.
 *
 * @module
 */

import { type Client, defineSession, type SessionDefinition, ValueError } from "../../mod.ts";
import type { BotBehaviour } from "./bot_options.ts";
import { Conversations } from "./conversations.ts";
import { Later } from "./later.ts";
import { Access, Invitations, reportUnread } from "./policy/policy.ts";
import { BotSessions, Once, OwnRuns, Patience, type RunTime } from "./run/mod.ts";
import { Reminders, Timers } from "./timers/timers.ts";

type Behaviour = Pick<
  BotBehaviour,
  "encryptedOnly" | "help" | "rateLimit" | "saysFailures" | "unknownCommands"
>;

/** What the functions of one bot share: they are made with it, and it with nothing of theirs. */
export class Kit {
  /** Sends, and stores. */
  readonly client: Client;
  /** What commands begin with. */
  readonly prefix: string;
  /** What kind of messages it sends. */
  readonly msgtype: "m.notice" | "m.text";
  /** How the bot hears and speaks, but for what others here know. */
  readonly behaviour: Behaviour;
  /** Aborted when the bot is closed. */
  readonly signal: AbortSignal;
  readonly access: Access;
  readonly sessions: BotSessions;
  /** What functions have as `c.session`; undefined: nothing. */
  readonly session: SessionDefinition<object> | undefined;
  readonly once: Once;
  /** Does what is done outside of functions. */
  readonly outside: OwnRuns;
  readonly timers: Timers;
  readonly reminders: Reminders;
  readonly later: Later;
  readonly invitations: Invitations;
  readonly conversations: Conversations;
  /** Gives up functions that take too long. */
  readonly patience: Patience;

  /**
   * @param client Sends, and stores.
   * @param behaviour How the bot hears and speaks.
   * @param signal Aborted when the bot is closed.
   * @throws {ValueError} If an option can't be used.
   */
  constructor(client: Client, behaviour: BotBehaviour, signal: AbortSignal) {
    const { prefix = "!", msgtype = "m.notice", handlerTimeout: limit } = behaviour;
    if (typeof prefix !== "string" || /^\s*$|\s/.test(prefix)) {
      throw new ValueError('Cannot make a bot: prefix must be a text without spaces, like "!"');
    }
    [this.client, this.prefix, this.msgtype] = [client, prefix, msgtype];
    const { encryptedOnly, help, rateLimit, saysFailures, unknownCommands } = behaviour;
    // A copy: contexts show it when they are inspected, and the options may hold credentials.
    this.behaviour = { encryptedOnly, help, rateLimit, saysFailures, unknownCommands };
    this.signal = signal;
    this.access = new Access(client, behaviour);
    reportUnread(client, this.access, signal);
    this.sessions = new BotSessions(client, signal);
    const { session } = behaviour;
    this.session = session && defineSession({ name: "session", per: "room", ...session });
    this.once = new Once(client);
    this.outside = new OwnRuns(client, signal);
    this.reminders = new Reminders(client, behaviour.maxReminders);
    this.timers = new Timers(client, this.reminders);
    this.later = new Later(client, this.timers, this.reminders);
    this.invitations = new Invitations(client, this.timers, behaviour.inviteLimit);
    this.conversations = new Conversations(client, this);
    this.patience = new Patience(
      client.api.clock,
      limit,
      warnOfSlow,
    );
    function warnOfSlow({ what }: RunTime): void {
      if (what) client.log.warn("A function still runs after 30 seconds", what);
    }
  }
}
