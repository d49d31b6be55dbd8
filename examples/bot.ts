/**
 * The bot of the demo: joins where it is invited, answers a few commands, and welcomes who comes.
 *
 * @module
 */

import type { Client } from "@greenroom/matrix";
import type { EventOf } from "@greenroom/matrix/types";

/** Teaches a client to be the bot. */
export function teach(bot: Client, roll: () => number = () => 1 + Math.floor(Math.random() * 6)): void {
  bot.on("INVITE", (invite) => bot.joinRoom(invite.room_id));

  bot.on("JOIN", async ({ room_id, state_key, content }) => {
    if (state_key === bot.mxid) return;
    await bot.sendNotice(room_id, `Welcome, ${content.displayname ?? state_key}!`);
  });

  bot.on("m.room.message", async (event) => {
    if (event.sender === bot.mxid || event.content.msgtype !== "m.text") return;
    const [command] = event.content.body.split(" ");
    if (command === "!help") await bot.sendNotice(event.room_id, "I know !ping, !dice and !topic.");
    if (command === "!ping") await bot.react(event.room_id, event.event_id, "🏓");
    if (command === "!dice") await reply(bot, event, `${event.sender} rolls a ${roll()}.`);
    if (command === "!topic") await setTopic(bot, event);
  }, { sequential: true });
}

type TextEvent = EventOf<"m.room.message">;

async function reply(bot: Client, event: TextEvent, text: string): Promise<void> {
  await bot.sendNotice(event.room_id, text, { relatesTo: { "m.in_reply_to": { event_id: event.event_id } } });
}

async function setTopic(bot: Client, event: TextEvent): Promise<void> {
  const action = { event: "m.room.topic", state: true };
  if (!await bot.stateStore.hasPowerLevel(event.room_id, event.sender, action)) {
    return await reply(bot, event, "Only who may set the topic can ask me to.");
  }
  if (!bot.mxid || !await bot.stateStore.hasPowerLevel(event.room_id, bot.mxid, action)) {
    return await reply(bot, event, "I would, but I may not: give me the power to.");
  }
  await bot.sendStateEvent(event.room_id, "m.room.topic", {
    topic: event.content.body.slice("!topic ".length),
  });
}
