/** Reminds people, in the room in which they asked for it. */

import { ValueError } from "@greenroom/matrix";
import type { Bot } from "@greenroom/matrix/bot";

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time as people write it: `10m`, `2h30m`, or `2026-12-24T18:00Z`. */
const when = {
  "~standard": {
    version: 1,
    vendor: "reminders",
    validate(text: unknown) {
      const spans = /^(?:\d{1,6}[smhd])+$/.test(String(text)) ? String(text).match(/\d+[smhd]/g) ?? [] : [];
      const span = spans.reduce((sum, each) => sum + parseInt(each) * (UNITS[each.at(-1) ?? ""] ?? 0), 0);
      if (span > 0) return { value: { in: span } };
      const date = /^\d{4}-\d\d-\d\d/.test(String(text)) ? new Date(String(text)) : new Date(NaN);
      if (!isNaN(date.getTime())) return { value: date };
      return { issues: [{ message: "write 10m, 2h30m, 3d, or 2026-12-24T18:00Z" }] };
    },
  },
} as const;

/** Adds the commands to a bot. */
export function reminders(bot: Bot): void {
  bot.command(
    "remind <when> <text...>",
    { description: "Reminds you of something", args: { when } },
    async (c) => {
      try {
        await c.remind(c.args.when as Date | { in: number }, c.args.text);
      } catch (error) {
        if (!(error instanceof ValueError)) throw error;
        return void await c.reply("You have too many reminders here. Take one back with `!forget`.");
      }
      await c.react("👍");
    },
  );

  bot.command("reminders", { description: "Lists the reminders of this room" }, async (c) => {
    const pending = await bot.reminders.list({ roomId: c.roomId });
    const lines = pending.map(({ due, data }, index) =>
      `${index + 1}. ${due.toISOString().slice(0, 16).replace("T", " ")} UTC: ${data}`
    );
    await c.reply(lines.length === 0 ? "Nothing is due." : lines.join("\n"), { format: "plain" });
  });

  bot.command("forget <number>", { description: "Takes a reminder of the list back" }, async (c) => {
    const pending = await bot.reminders.list({ roomId: c.roomId });
    const chosen = pending[Number(c.args.number) - 1];
    if (chosen === undefined) return await c.reply("There is no such reminder.");
    if (chosen.by !== c.sender && !await c.isAdmin()) return await c.reply("It is not yours.");
    await bot.reminders.cancel(chosen.id);
    return await c.react("👍");
  });
}
