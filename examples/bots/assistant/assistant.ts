/** Answers with what a model says: a thread for each conversation, and it asks before it acts. */

import { type Bot, type Context, defineSession } from "@greenroom/matrix/bot";
import { complete, type Message, type Model, SilenceError } from "./model.ts";

const SYSTEM: Message = {
  role: "system",
  content: "You are a helpful assistant in a chat room, and answer in Markdown. To set the room's topic, " +
    "end your answer with a line of its own: TOPIC: and the new topic. Otherwise never write TOPIC.",
};
/** How many messages of a conversation the model is given. */
const REMEMBERED = 20;

const talks = defineSession({
  name: "talks",
  per: () => undefined,
  initial: () => ({ messages: new Array<Message>() }),
});

/** Has a bot answer in direct chats, where it is mentioned, and in threads that it has begun. */
export function assistant(bot: Bot, model: Model): void {
  bot.on("message:text", async (c) => {
    const root = c.thread ?? c.event.event_id;
    const isOngoing = (await bot.session(talks, root).read()) !== undefined;
    if (!isOngoing && !await isAddressed(c)) return;

    const talk = await c.getSession(talks, root);
    talk.messages.push({ role: "user", content: c.text });
    const asked = [SYSTEM, ...talk.messages.slice(-REMEMBERED)];
    let text = "";
    const words = async function* () {
      const asking = { signal: c.signal, clock: bot.client.api.clock };
      for await (const piece of complete(model, asked, asking)) {
        text += piece;
        yield piece;
      }
      if (text.trim() === "") throw new TypeError("The model has said nothing");
    };
    try {
      ({ text } = await c.stream(words(), { inThread: true }));
    } catch (error) {
      if (c.signal.aborted || text.trim() !== "") throw error; // what came is there, with a note
      c.log.warn("The model does not answer", { error });
      const why = error instanceof SilenceError
        ? "has not answered within a minute"
        : "can't be asked just now";
      await c.replyInThread(`Sorry, the model ${why}. Please try again later.`);
      return; // the question is remembered, and answered with the next one
    }
    talk.messages.push({ role: "assistant", content: text });

    const topic = /^TOPIC: (.{1,200})$/m.exec(text)?.[1];
    if (topic !== undefined && await c.confirm(`Shall I set the topic to “${topic}”?`)) {
      await c.setTopic(topic);
      await c.reply("Done.");
    }
  });
}

/** Whether a message is for the bot: it mentions it, or nobody else is there. */
async function isAddressed({ client, event, roomId: room }: Context): Promise<boolean> {
  const { "m.mentions": mentions } = event.content as { "m.mentions"?: { user_ids?: string[] } };
  if (mentions?.user_ids?.includes(client.mxid)) return true;
  return (await client.stateStore.getMembers(room, ["join", "invite"])).size === 2;
}
