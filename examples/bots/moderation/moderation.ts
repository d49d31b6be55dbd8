/** Bans whom a policy list names, removes messages, and follows rooms that are upgraded. */

import {
  type Bot,
  type Context,
  followUpgrade,
  POLICY_RULE_TYPES,
  PolicyLists,
  redactMessages,
  updateServerAcl,
} from "@greenroom/matrix/bot";
import type { MatrixEvent, RoomID, UserID } from "@greenroom/matrix/types";

type PolicyEvent = Parameters<PolicyLists["apply"]>[1];

/**
 * Adds everything to a bot.
 *
 * @param bot The bot, which needs the power to ban, to redact, and to send state.
 * @param policyRoom The room of the policy list, which the bot is in.
 */
export function moderation(bot: Bot, policyRoom: RoomID): void {
  const { client } = bot;
  const lists = new PolicyLists();
  let loading: Promise<void> | undefined;

  /** Reads the list, once; all who need it wait. */
  async function load(): Promise<void> {
    await (loading ??= read());
    if (lists.size === 0) loading = undefined; // the bot may not be in its room yet
  }

  async function read(): Promise<void> {
    try {
      for (const type of POLICY_RULE_TYPES) {
        for (const event of await client.stateStore.listState(policyRoom, type)) {
          lists.apply(policyRoom, event as PolicyEvent);
        }
      }
    } catch (error) {
      loading = undefined;
      throw error;
    }
  }

  /** Bans those whom a rule fits. What fails with one of them is only logged. */
  async function judge({ log, signal }: Context, room: RoomID, users: Iterable<UserID>): Promise<void> {
    await load();
    if (room === policyRoom) return;
    const listed = [...users].filter((user) => user !== client.mxid && lists.matches(user) !== undefined);
    if (listed.length === 0) return;
    if (!await client.stateStore.hasPowerLevel(room, client.mxid as UserID, "ban")) {
      return log.warn("The bot lacks the power to ban", { room, listed: listed.length });
    }
    for (const user of listed) {
      await client.banUser(room, user, { reason: lists.matches(user)?.reason }).catch((error) => {
        if (signal.aborted) throw error;
        log.warn("Cannot ban", { room, user, error });
      });
    }
  }

  /** Brings a room up to date with the list. */
  async function guard(c: Context, room: RoomID): Promise<void> {
    await load();
    if (room === policyRoom) return;
    await judge(c, room, (await client.stateStore.getMembers(room, ["join"])).keys());
    await updateServerAcl(client, room, lists).catch((error) => {
      if (c.signal.aborted) throw error;
      c.log.warn("No server ACL", { room, error });
    });
  }

  bot.on("member:join", (c) => judge(c, c.roomId, [c.event.state_key as UserID]));
  bot.on("m.room.power_levels", (c) => guard(c, c.roomId)); // it may have been given power

  bot.on([...POLICY_RULE_TYPES, "m.room.redaction"], async (c) => {
    if (c.roomId !== policyRoom) return;
    await load();
    const isNews = lists.apply(policyRoom, c.event as MatrixEvent as PolicyEvent); // a redaction ends a rule
    if (!isNews && c.event.type === "m.room.redaction") return;
    for (const room of await client.stateStore.getJoinedRooms()) await guard(c, room);
  });

  bot.on(
    "m.room.tombstone",
    (c) => followUpgrade(client, c.event as MatrixEvent as Parameters<typeof followUpgrade>[1]),
  );

  bot.command(
    "clear <user> [count]",
    { description: "Removes the last messages of a user", access: "admins" },
    async (c) => {
      if (!await client.stateStore.hasPowerLevel(c.roomId, client.mxid as UserID, "redact")) {
        await c.reply("I lack the power to remove messages in this room.");
        return;
      }
      const count = Math.min(Number(c.args.count ?? 10) || 10, 1_000);
      const { redacted } = await c.typing(
        redactMessages(client, c.roomId, c.args.user as UserID, { limit: count, signal: c.signal }),
      );
      await c.reply(`Removed ${redacted.length}.`);
    },
  );
}
