/**
 * A room with a user and a bot whose process ends, at each point at which it can.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { Client, ClientOptions } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { atEachCrashPoint } from "../../client/support/crash_points.ts";
import { begin, ENCRYPTED } from "../../client/support/encrypted_room.ts";
import { RestartingBot } from "../../client/support/restarting_bot.ts";
import { type ClientStage, clientStage, heard } from "../../client/support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** What is on the stage when the bot has joined the room. */
export interface CrashingRoom {
  readonly here: ClientStage;
  readonly alice: Client;
  /** What Alice has heard. */
  readonly texts: readonly string[];
  readonly bot: RestartingBot;
  readonly room: RoomID;
}

/** Alice has a bot count, which asks between. In the end it has said each number once. */
export async function countTwice({ alice, texts, bot, room }: CrashingRoom): Promise<void> {
  await alice.sendText(room, "!count");
  await bot.until(() => texts.at(-1) === "1, and then?");
  await bot.settle();
  await alice.sendText(room, "go on");
  await bot.until(() => texts.at(-1) === "2");
  await bot.settle();
  assertEquals(texts.filter((text) => /^\d/.test(text)), ["1, and then?", "2"], bot.crashes.join());
}

/**
 * Plays a story once for each point at which a process of the bot can end.
 *
 * @param setUp Makes the bot of each process, and starts it.
 * @param isEncrypted Whether the room is.
 * @param retry How its requests are tried again. Default: they are not.
 * @param story What happens in the room, and what has to be in the end.
 */
export async function atEachCrashInRoom(
  { setUp, isEncrypted, retry = false }: {
    readonly setUp: (client: Client) => void;
    readonly isEncrypted: boolean;
    readonly retry?: ClientOptions["retry"];
  },
  story: (stage: CrashingRoom) => Promise<void>,
): Promise<void> {
  await atEachCrashPoint(async (plan) => {
    await using here = clientStage();
    const encryption = isEncrypted && EVERYBODY;
    const alice = here.client("alice", { encryption });
    const texts = heard(alice);
    await begin(here, alice);
    const bot = new RestartingBot(here, { plans: [plan], setUp, client: { encryption, retry } });
    const { requests } = here.homeserver;
    await bot.until(() => requests.filter("GET", "/sync").some(({ user }) => user === "@bot:localhost"));
    const room = await alice.createRoom({
      invitees: ["@bot:localhost"],
      initialState: isEncrypted ? ENCRYPTED : [],
    });
    await bot.until(() => here.homeserver.room(room).membership("@bot:localhost") === "join");
    await bot.settle();
    await story({ here, alice, texts, bot, room });
    await bot.client.close();
    await here.clock.tick(10_000); // what crashed processes have begun has an end too
    return bot.log;
  });
}
