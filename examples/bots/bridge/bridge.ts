/** A bridge between rooms and the channels of a toy network. */

import type { Appservice } from "@greenroom/matrix/appservice";
import { Bot, type Context, defineSession } from "@greenroom/matrix/bot";
import { MatrixRequestError } from "@greenroom/matrix";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import { Link } from "./link.ts";
import { BRIDGED, CHANNEL, type Connection, type Happening } from "./network.ts";

/** What the IDs of ghosts begin with. */
export const PREFIX = "toy_";
/** The room of a channel, and the messages of the network in it: their IDs there, and here. */
const CHANNELS = defineSession({
  name: "bridge.channels",
  per: () => undefined,
  initial: () => ({
    room: "" as RoomID | "",
    messages: new Array<{ id: string; event: EventID }>(),
  }),
});
/** The channel of a room. */
const ROOMS = defineSession({ name: "bridge.rooms", per: "room", initial: () => ({ channel: "" }) });
/** How many messages of a channel can be edited and removed. */
const REMEMBERED = 200;

/** A bridge. */
export interface Bridge {
  readonly bot: Bot;
  /** Runs the bot, and stays linked to the network, until the bot is stopped. */
  start(options?: { signals?: boolean }): Promise<void>;
}

/** Makes a bridge of an application service, and of what connects to the network. */
export function bridge(appservice: Appservice, connect: () => Promise<Connection>): Bridge {
  // Users who talk much are heard all the same; and those who moderate a room bridge it.
  const bot = new Bot({ appservice, rateLimit: false, admins: { powerLevel: 50 } });
  const { client } = bot;
  const link = new Link({ bot, connect, happened });

  bot.command("bridge <channel>", {
    description: "Bridges this room and a channel",
    access: "admins",
  }, async (c) => {
    const { channel } = c.args;
    if (!CHANNEL.test(channel)) return await c.reply("That is no name of a channel.");
    const here = await c.getSession(ROOMS);
    if (here.channel !== "") {
      return await c.reply(`This room is bridged to ${here.channel}; !unbridge it first.`);
    }
    const there = await c.getSession(CHANNELS, channel);
    if (there.room !== "") return await c.reply(`Another room is bridged to ${channel}.`);
    [here.channel, there.room] = [channel, c.roomId];
    return await c.reply(`This room is bridged to ${channel} now.`);
  });

  /** Ends the bridge of a room; its channel, if it had one. */
  async function end(room: RoomID): Promise<string> {
    const { channel } = await bot.session(ROOMS, room).read() ?? { channel: "" };
    if (channel === "") return "";
    await bot.session(CHANNELS, channel).end();
    await bot.session(ROOMS, room).end(); // last: until then it can be done again
    return channel;
  }

  bot.command("unbridge", { description: "Ends the bridge of this room", access: "admins" }, async (c) => {
    const channel = await end(c.roomId);
    return await c.reply(channel === "" ? "This room is not bridged." : `This room left ${channel}.`);
  });
  for (const type of ["KICK", "BAN"] as const) {
    client.on(type, async ({ state_key, room_id }) => {
      if (state_key === client.mxid) await end(room_id);
    });
  }

  // The ghosts' own messages are not heard, so nothing comes back from where it was sent to.
  bot.on(["message", "edit:text", "redaction"], async (c) => {
    const { channel } = await bot.session(ROOMS, c.roomId).read() ?? { channel: "" };
    if (channel === "") return;
    const id = c.event.event_id;
    const nick = `${await nameOf(c)}${BRIDGED}`;
    if (c.is("redaction")) {
      const { redacts } = c.event.content as { redacts?: string };
      const removed = redacts ?? (c.event as { redacts?: string }).redacts ?? "";
      const { messages } = await bot.session(CHANNELS, channel).read() ?? { messages: [] };
      const target = messages.find(({ event }) => event === removed)?.id ?? removed;
      await link.say({ id, nick, verb: "DEL", target, text: "" });
    } else if (c.is("edit:text")) {
      const { "m.relates_to": relation } = c.event.content as { "m.relates_to"?: { event_id?: string } };
      await link.say({ id, nick, verb: "EDIT", target: relation?.event_id ?? "", text: c.text });
    } else {
      const { msgtype, body = "" } = c.event.content as { msgtype?: string; body?: string };
      const said = c.is("message:text")
        ? c.text
        : msgtype === "m.emote"
        ? `* ${c.text}`
        : `(${msgtype?.slice(2)}: ${body})`;
      await link.say({ id, nick, verb: "SAY", target: channel, text: said });
    }
  });

  /** Does in the room of a channel what happened there. */
  async function happened({ id, nick, channel, verb, text }: Happening): Promise<void> {
    const { room, messages } = await bot.session(CHANNELS, channel).read() ?? { room: "", messages: [] };
    if (room === "" || nick.endsWith(BRIDGED)) return; // that came from here
    const ghost = appservice.intent(`${PREFIX}${localpartOf(nick)}`);
    const known = messages.find((each) => each.id === id);
    try {
      await ghost.ensureProfile({ displayname: nick });
      if (verb === "JOIN") await ghost.ensureJoined(room);
      if (verb === "PART") await ghost.leaveRoom(room);
      if (verb === "SAY" && text.trim() !== "") {
        const event = await ghost.sendText(room, text);
        await bot.session(CHANNELS, channel).update((state) => {
          const others = state.messages.filter((each) => each.id !== id);
          return state.room === ""
            ? null
            : { ...state, messages: [...others, { id, event }].slice(-REMEMBERED) };
        });
      }
      if (verb === "EDIT" && known !== undefined) {
        const content = { msgtype: "m.text", body: text } as const;
        const relation = { rel_type: "m.replace", event_id: known.event } as const;
        const edit = { ...content, body: `* ${text}`, "m.new_content": content, "m.relates_to": relation };
        await ghost.sendMessage(room, edit);
      }
      if (verb === "DEL" && known !== undefined) await ghost.redact(room, known.event);
    } catch (error) {
      if (!isRefused(error)) throw error; // it is tried again
      client.log.warn("The room does not take something of the network", { room, error });
    }
  }

  return {
    bot,
    async start(options) {
      const ended = new AbortController();
      const running = bot.start(options);
      const linked = Promise.race([client.ready, running]).then(() => link.run(ended.signal)).catch(() => {});
      try {
        await running;
      } finally {
        ended.abort();
        await linked;
      }
    },
  };
}

/** Whether the homeserver would say no again: ghosts may not speak in the room, for one. */
function isRefused(error: unknown): boolean {
  if (!(error instanceof MatrixRequestError)) return false;
  return error.status >= 400 && error.status < 500 && ![401, 408, 429].includes(error.status);
}

/** The name that somebody has in the room. */
async function nameOf({ client, roomId: room, sender }: Context): Promise<string> {
  const known = await client.stateStore.getMember(room, sender) ??
    await client.getStateEvent(room, "m.room.member", { stateKey: sender }).catch(() => undefined);
  return known?.displayname?.trim() || sender.slice(1, sender.indexOf(":"));
}

/** A nick as a part of a user ID: other nicks have others. */
function localpartOf(nick: string): string {
  return Array.from(new TextEncoder().encode(nick), (byte) => {
    const letter = String.fromCharCode(byte);
    return /[a-z0-9.-]/.test(letter) ? letter : `=${byte.toString(16).padStart(2, "0")}`;
  }).join("");
}
