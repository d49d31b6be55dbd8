import { assertEquals } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { isSlide } from "../../support/sliding.ts";
import { newUser, synapseTest } from "../support/synapse.ts";

/** More than the first answer has. */
const ROOMS = 22;

synapseTest(
  "By sliding sync a room that is followed comes with the first answer",
  async ({ baseUrl, ...server }) => {
    const alice = await newUser({ baseUrl, ...server }, "alice", { unlimited: "people" });
    const { userId, accessToken } = await newUser({ baseUrl, ...server }, "bot", { unlimited: "people" });
    await using person = new Client({ baseUrl, accessToken: alice.accessToken, log: false });
    await using joiner = new Client({ baseUrl, accessToken, log: false });
    const rooms: RoomID[] = [];
    for (let index = 0; index < ROOMS; index++) {
      const room = await person.createRoom({ invitees: [userId] });
      await joiner.joinRoom(room);
      await person.sendText(room, `in ${index}`);
      rooms.push(room);
    }
    const shown: string[][] = [];
    const watching: typeof fetch = async (...request) => {
      const response = await fetch(...request);
      if (isSlide(new URL(new Request(...request).url))) {
        shown.push(Object.keys((await response.clone().json()).rooms));
      }
      return response;
    };
    const options = { accessToken, log: false, sync: "sliding", store: new MemoryStore() } as const;
    await using bot = new Client({ baseUrl, ...options, fetch: watching });
    const texts: string[] = [];
    bot.on("m.room.message", ({ content }) => void texts.push(content.body));
    const [oldest] = rooms as [RoomID];
    bot.follow(oldest);
    bot.follow("!none:localhost");
    await bot.syncOnce();
    assertEquals(shown.map((rooms) => [rooms.length, rooms.includes(oldest)]), [[2, true], [4, false], [
      ROOMS - 6,
      false,
    ]]);
    assertEquals(texts.toSorted(), rooms.map((_, index) => `in ${index}`).toSorted());
    await person.sendText(oldest, "more");
    await bot.syncOnce();
    assertEquals([shown[3], texts.at(-1), texts.length], [[oldest], "more", ROOMS + 1]);
  },
);
