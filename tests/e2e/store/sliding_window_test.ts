import { assert, assertEquals } from "@std/assert";
import { Client, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { newUser, synapseTest } from "../support/synapse.ts";

/** More than the first answer shows. */
const ROOMS = 24;
const TYPES = ["INVITE", "USER_INVITED", "JOIN", "KICK", "BAN", "LEAVE"] as const;

synapseTest(
  "By sliding sync all rooms come, the newest first, and what changes in them is told once",
  async (server) => {
    const { baseUrl } = server;
    const [alice, carol] = [
      await newUser(server, "alice", { unlimited: "people" }),
      await newUser(server, "carol", { unlimited: "people" }),
    ];
    const bot = await newUser(server, "bot", { unlimited: "people" });
    await using person = new Client({ baseUrl, accessToken: alice.accessToken, log: false });
    await using joiner = new Client({ baseUrl, accessToken: bot.accessToken, log: false });
    const rooms: RoomID[] = [];
    for (let index = 0; index < ROOMS; index++) {
      const room = await person.createRoom({ invitees: [bot.userId] });
      await joiner.joinRoom(room);
      await person.sendText(room, `old ${index}`);
      rooms.push(room);
    }
    const store = new MemoryStore();
    const asked: number[] = [];
    let isForgotten = false;
    const fetching: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      const url = new URL(request.url);
      if (!url.pathname.endsWith("simplified_msc3575/sync")) return await fetch(request);
      const { lists } = await request.clone().json();
      asked.push(lists.rooms.ranges[0][1]);
      const pos = url.searchParams.get("pos");
      if (!isForgotten || pos === null) return await fetch(request);
      isForgotten = false;
      url.searchParams.set("pos", pos.replace(/^\d+/, "987654321"));
      return await fetch(new Request(url, request));
    };
    const seen: string[] = [];
    const pass = async (): Promise<readonly string[]> => {
      await using client = new Client({
        ...{ baseUrl, accessToken: bot.accessToken, log: false, sync: "sliding", store, fetch: fetching },
      });
      client.on("m.room.message", ({ content }) => void seen.push(content.body));
      for (const type of TYPES) {
        client.on(type, ({ room_id, state_key }) => {
          const who = state_key === bot.userId ? "bot" : "carol";
          seen.push(`${type} ${who} ${rooms.indexOf(room_id as RoomID)}`);
        });
      }
      await client.syncOnce();
      return (await client.stateStore.getJoinedRooms()).toSorted();
    };
    assertEquals(await pass(), rooms.toSorted());
    assertEquals(asked, [0, 4, 24]);
    const hall = await person.createRoom({ invitees: [bot.userId] });
    rooms.push(hall);
    const before = seen.splice(0);
    await pass();
    assertEquals(seen.splice(0), [`INVITE bot ${ROOMS}`]);
    await person.sendText(hall, "come in"); // with which Synapse shows the invitation again
    await pass();
    assertEquals(seen.splice(0), []);
    await person.kickUser(hall, bot.userId);
    rooms.pop();
    await pass();
    seen.splice(0, Infinity, ...before);
    const messages = seen.filter((text) => text.startsWith("old"));
    assertEquals(messages.toSorted(), rooms.map((_, index) => `old ${index}`).toSorted());
    assert(seen.indexOf("old 23") < seen.indexOf("old 0"));

    seen.length = 0;
    const [busy, kicked, left, quiet] = rooms as [RoomID, RoomID, RoomID, RoomID];
    await person.inviteUser(busy, carol.userId);
    await pass();
    assertEquals(seen.splice(0), ["USER_INVITED carol 0"]);
    await person.banUser(busy, carol.userId);
    const lines = Array.from({ length: 25 }, (_, index) => `line ${index}`);
    for (const line of lines) await person.sendText(busy, line); // so that the timeline does not show the ban
    await person.kickUser(kicked, bot.userId);
    await pass();
    const news = seen.splice(0);
    assertEquals(news.filter((text) => text.startsWith("line")), lines);
    assertEquals(news.filter((text) => !text.startsWith("line")).toSorted(), ["BAN carol 0", "KICK bot 1"]);

    const event = await person.sendText(kicked, "behind its back");
    await person.sendReceipt(kicked, event);
    assert(!(await pass()).includes(kicked));
    assertEquals(seen, []);

    for (let index = 0; index < 15; index++) await person.sendText(left, `before ${index}`);
    await joiner.leaveRoom(left);
    await person.sendText(quiet, "while it was lost");
    isForgotten = true;
    const joined = await pass();
    assertEquals(joined, rooms.filter((room) => room !== kicked && room !== left).toSorted());
    assertEquals(
      seen.splice(0).toSorted(),
      [
        ...Array.from({ length: 15 }, (_, index) => `before ${index}`),
        "LEAVE bot 2",
        "while it was lost",
      ].toSorted(),
    );
    await pass();
    assertEquals(seen, []);
  },
);
