import { assertEquals, assertRejects } from "@std/assert";
import { MatrixRequestError, NotFoundError, ValueError } from "@greenroom/matrix";
import type { Operation } from "./support/operation.ts";
import { roomOf } from "./support/scene.ts";
import { refused, syncToken, syncUntil } from "./support/wait.ts";

/** Account data and tags. */
export const accountData: readonly Operation[] = [
  {
    name: "setAccountData() keeps data of the user, which comes with sync to that user alone",
    covers: ["setAccountData", "getAccountData"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const since = await syncToken(alice);
      await refused(() => alice.getAccountData("com.example.prefs"), NotFoundError, 404);
      await alice.setAccountData("com.example.prefs", { theme: "dark", list: [1, 2] });
      assertEquals(await alice.getAccountData("com.example.prefs"), { theme: "dark", list: [1, 2] });
      const { value: event } = await syncUntil(
        alice,
        ({ account_data }) => account_data?.events?.find(({ type }) => type === "com.example.prefs"),
        since,
      );
      assertEquals(event.content, { theme: "dark", list: [1, 2] });
      await alice.setAccountData("com.example.prefs", { theme: "light" });
      assertEquals(
        await alice.getAccountData("com.example.prefs"),
        { theme: "light" },
        "all of it is replaced",
      );
      await refused(() => bob.getAccountData("com.example.prefs"), NotFoundError, 404);
      const other = scene.client({ accessToken: bob.api.accessToken, mxid: alice.userId });
      await refused(() => other.getAccountData("com.example.prefs"), MatrixRequestError, 403);
    },
  },
  {
    name: "setAccountData() with an empty content empties it: it is still there, of the user and of a room",
    covers: ["setAccountData", "getAccountData", "listAccountData"],
    async run(scene) {
      const alice = await scene.player("alice");
      const roomId = await roomOf(alice);
      for (const options of [{}, { roomId }]) {
        await alice.setAccountData("com.example.emptied", { theme: "dark" }, options);
        await alice.setAccountData("com.example.emptied", {}, options);
        assertEquals(await alice.getAccountData("com.example.emptied", options), {});
        await alice.setAccountData("com.example.empty", {}, options);
        assertEquals(await alice.getAccountData("com.example.empty", options), {});
      }
      const listed = await alice.listAccountData();
      assertEquals([listed.get("com.example.emptied"), listed.get("com.example.empty")], [{}, {}]);
      const { account_data: data, rooms } = await alice.sync({ fullState: true });
      for (const events of [data?.events, rooms?.join?.[roomId]?.account_data?.events]) {
        const emptied = events?.filter(({ type }) => type.startsWith("com.example."))
          .sort((one, other) => one.type < other.type ? -1 : 1);
        assertEquals(emptied, [
          { type: "com.example.emptied", content: {} },
          { type: "com.example.empty", content: {} },
        ]);
      }
    },
  },
  {
    name: "listAccountData() gives all data of the user, as it is now, and none of rooms",
    covers: ["listAccountData", "setAccountData"],
    async run(scene) {
      const alice = await scene.player("alice");
      const roomId = await alice.createRoom();
      const listed = async () => {
        const all = [...await alice.listAccountData()].filter(([type]) => type.startsWith("com.example."));
        return all.sort(([one], [other]) => one < other ? -1 : 1);
      };
      assertEquals(await listed(), []);
      await alice.setAccountData("com.example.one", { of: "user" });
      await alice.setAccountData("com.example.two", { list: [1, 2] });
      await alice.setAccountData("com.example.room", { of: "room" }, { roomId });
      assertEquals(await listed(), [["com.example.one", { of: "user" }], ["com.example.two", {
        list: [1, 2],
      }]]);
      await alice.setAccountData("com.example.one", { of: "now" });
      assertEquals((await listed())[0], ["com.example.one", { of: "now" }]);
    },
  },
  {
    name: "setAccountData() keeps data of a room apart from that of the user",
    covers: ["setAccountData", "getAccountData"],
    async run(scene) {
      const alice = await scene.player("alice");
      const roomId = await alice.createRoom();
      const since = await syncToken(alice);
      await alice.setAccountData("com.example.prefs", { of: "room" }, { roomId });
      await alice.setAccountData("com.example.prefs", { of: "user" });
      assertEquals(await alice.getAccountData("com.example.prefs", { roomId }), { of: "room" });
      assertEquals(await alice.getAccountData("com.example.prefs"), { of: "user" });
      const { value: event } = await syncUntil(
        alice,
        ({ rooms }) =>
          rooms?.join?.[roomId]?.account_data?.events?.find(({ type }) => type === "com.example.prefs"),
        since,
      );
      assertEquals(event.content, { of: "room" });
      await assertRejects(() => alice.setAccountData("", {}), ValueError);
      await refused(
        () => alice.setAccountData("m.fully_read", { event_id: "$x" }, { roomId }),
        MatrixRequestError,
        405,
      );
    },
  },
  {
    name: "setRoomTag() tags a room, removeRoomTag() takes the tag away",
    covers: ["setRoomTag", "getRoomTag", "getRoomTags", "removeRoomTag"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      assertEquals((await alice.getRoomTags(roomId)).tags, {});
      await alice.setRoomTag(roomId, "m.favourite", { info: { order: 0.25 } });
      await alice.setRoomTag(roomId, "u.spring/summer #1");
      assertEquals((await alice.getRoomTags(roomId)).tags, {
        "m.favourite": { order: 0.25 },
        "u.spring/summer #1": {},
      });
      assertEquals(await alice.getRoomTag(roomId, "m.favourite"), { order: 0.25 });
      assertEquals(await alice.getRoomTag(roomId, "m.lowpriority"), undefined);
      await alice.removeRoomTag(roomId, "u.spring/summer #1");
      assertEquals(Object.keys((await alice.getRoomTags(roomId)).tags ?? {}), ["m.favourite"]);
      assertEquals((await bob.getRoomTags(roomId)).tags, {}, "tags are one's own");
      await assertRejects(() => alice.setRoomTag(roomId, ".."), ValueError);
    },
  },
];
