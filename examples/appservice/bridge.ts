/**
 * A bridge between a room and a network: who speaks on the network appears in the room as a ghost,
 * and what is said in the room goes to the network.
 *
 * @module
 */

import { Appservice, type AppserviceOptions } from "@greenroom/matrix/appservice";

/** The other network. Here it has one channel. */
export interface Network {
  /** Says something there, on behalf of somebody in the room. */
  say(name: string, text: string): void | Promise<void>;
}

/** A room that is bridged. */
export interface Bridge {
  /** The application service. */
  readonly appservice: Appservice;
  /** The alias by which people join. */
  readonly alias: `#${string}:${string}`;
  /** Somebody has said something on the network. */
  said(nick: string, text: string): Promise<void>;
}

const ALIAS = "toy_lobby";

/** Bridges the room of an alias. */
export function bridge(options: AppserviceOptions, network: Network): Bridge {
  const alias = `#${ALIAS}:${options.serverName}` as const;
  const appservice: Appservice = new Appservice({
    ...options,
    queries: {
      // The homeserver asks when somebody wants the alias, and there is no room yet.
      async room(asked) {
        if (asked !== alias) return false;
        await appservice.botClient.createRoom({
          aliasLocalpart: ALIAS,
          preset: "public_chat",
          name: "The lobby",
        });
        return true;
      },
    },
  });
  const lobby = async () => (await appservice.botClient.getRoomAlias(alias)).room_id;
  appservice.on("m.room.message", async ({ room_id, sender, content }) => {
    if (room_id === await lobby()) await network.say(sender, content.body);
  }, { sequential: true });
  return {
    appservice,
    alias,
    async said(nick, text) {
      const ghost = appservice.intent(`toy_${encodeURIComponent(nick).toLowerCase().replaceAll("%", "=")}`);
      await ghost.ensureProfile({ displayname: nick });
      await ghost.sendText(await lobby(), text);
    },
  };
}
