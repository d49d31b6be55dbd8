/**
 * What a bot of the kit does in the stories: the same as one that is made with the client alone, and
 * conversations and reminders.
 *
 * @module
 */

import { type Bot, defineSession } from "@greenroom/matrix/bot";

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ heard: 0 }) });

/** How long a question of the bot waits, in milliseconds: for the whole story. */
const PATIENCE = 20 * 24 * 3_600_000;

/**
 * Adds its functions.
 *
 * @param note Called with what they are called with.
 */
export function teachKit(bot: Bot, note: (what: string) => void): void {
  bot.on("invite", () => note("invited"));
  bot.on("member:join", (c) => note(`welcome ${c.event.state_key}`));
  bot.command("order", async (c) => {
    const what = await c.ask("What?", { timeout: PATIENCE });
    const count = await c.ask("How many?", { timeout: PATIENCE });
    await c.reply(`${count} × ${what}`);
  });
  bot.command("remind <ms> <text...>", async (c) => {
    await c.remind({ in: Number(c.args.ms) }, c.args.text);
    await c.reply("I will");
  });
  bot.on("message:text", async (c) => {
    note(c.text);
    const room = await c.getSession(counter);
    room.heard++;
    if (c.text === "!leave") return void await c.client.leaveRoom(c.roomId);
    if (c.text === "!throw") throw new Error("The bot's author has made a mistake");
    await c.send(`${room.heard}: ${c.text}`);
  });
}
