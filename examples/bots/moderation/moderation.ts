/** Bans whom a policy list names, removes messages, and follows rooms that are upgraded. */

import {
  type Bot,
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
  let isLoaded = false;

  /** Reads the list, the first time. */
  async function load(): Promise<void> {
    if (isLoaded) return;
    isLoaded = true;
    for (const type of POLICY_RULE_TYPES) {
      for (const event of await client.stateStore.listState(policyRoom, type)) {
        lists.apply(policyRoom, event as PolicyEvent);
      }
    }
  }

  /** Bans a user whom a rule fits. */
  async function judge(room: RoomID, user: UserID): Promise<void> {
    await load();
    const rule = lists.matches(user);
    if (rule === undefined || user === client.mxid || room === policyRoom) return;
    await client.banUser(room, user, { reason: rule.reason });
  }

  bot.on("member:join", (c) => judge(c.room, c.event.state_key as UserID));

  bot.on(POLICY_RULE_TYPES as `${string}.${string}`[], async (c) => {
    if (c.room !== policyRoom) return;
    await load();
    lists.apply(policyRoom, c.event as MatrixEvent as PolicyEvent);
    for (const room of await client.stateStore.getJoinedRooms()) {
      if (room === policyRoom) continue;
      await updateServerAcl(client, room, lists).catch((error) =>
        c.log.warn("No server ACL", { room, error })
      );
      for (const user of (await client.stateStore.getMembers(room, ["join"])).keys()) await judge(room, user);
    }
  });

  bot.on(
    "m.room.tombstone",
    (c) => followUpgrade(client, c.event as MatrixEvent as Parameters<typeof followUpgrade>[1]),
  );

  bot.command(
    "clear <user> [count]",
    { description: "Removes the last messages of a user", access: "admins" },
    async (c) => {
      const count = Math.min(Number(c.args.count ?? 10) || 10, 1_000);
      const { redacted } = await c.typing(
        redactMessages(client, c.room, c.args.user as UserID, { limit: count, signal: c.signal }),
      );
      await c.reply(`Removed ${redacted.length}.`);
    },
  );
}
