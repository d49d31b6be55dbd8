import { assert, assertEquals, assertRejects } from "@std/assert";
import { ForbiddenError, MatrixRequestError, NotFoundError, ValueError } from "@greenroom/matrix";
import type { Filter, SyncResponse } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { roomOf } from "./support/scene.ts";
import { refused, syncToken, syncUntil } from "./support/wait.ts";

/** Filters and sync. */
export const filtersAndSync: readonly Operation[] = [
  {
    name: "createFilter() keeps a filter for its user, getFilter() gives it back",
    covers: ["createFilter", "getFilter"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const filter = {
        event_fields: ["type", "content"],
        presence: { not_types: ["m.presence"] },
        room: { timeline: { limit: 3, types: ["m.room.message"] }, state: { lazy_load_members: true } },
      };
      const id = await alice.createFilter(filter);
      assertEquals(await alice.getFilter(id), filter);
      await refused(() => alice.getFilter("999999"), NotFoundError, 404);
      await refused(() => bob.getFilter(id), NotFoundError, 404);
      const foreign = scene.client({ mxid: alice.userId, accessToken: bob.api.accessToken });
      await refused(() => foreign.getFilter(id), ForbiddenError, 403);
    },
  },
  {
    name: "sync() takes a filter by its ID and as it is, and marks what it left out",
    covers: ["sync", "createFilter"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      for (let i = 1; i <= 5; i++) await alice.sendText(roomId, `m${i}`);
      const filter = {
        room: { timeline: { limit: 2 }, state: { types: ["m.room.create"] } },
        presence: { types: [] },
      };
      for (const filterId of [await bob.createFilter(filter), filter]) {
        const response = await bob.sync({ filterId, timeout: 0 });
        const room = response.rooms?.join?.[roomId];
        assertEquals(room?.timeline?.events.map(({ content }) => content.body), ["m4", "m5"]);
        assert(room?.timeline?.limited === true);
        assertEquals(room?.state?.events?.map(({ type }) => type), ["m.room.create"]);
        assertEquals(response.presence?.events ?? [], []);
        const before = await bob.getMessages(roomId, "b", room?.timeline?.prev_batch, { limit: 2 });
        assertEquals(before.chunk.map(({ content }) => content.body), ["m3", "m2"], "no gap and no overlap");
      }
    },
  },
  {
    name: "sync() waits for new events, and returns them once and in order",
    covers: ["sync"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const since = await syncToken(bob);
      const idle = await bob.sync({ since, timeout: 0 });
      assertEquals(idle.rooms?.join, undefined);
      const [response] = await Promise.all([
        syncUntil(bob, ({ rooms }) => rooms?.join?.[roomId]?.timeline?.events, idle.next_batch),
        alice.sendText(roomId, "one"),
      ]);
      assertEquals(response.value.map(({ content }) => content.body), ["one"]);
      await alice.sendText(roomId, "two");
      await alice.sendStateEvent(roomId, "m.room.topic", { topic: "three" });
      await alice.sendText(roomId, "four");
      const next = await bob.sync({ since: response.next, timeout: 0 });
      const { timeline, state } = next.rooms?.join?.[roomId] ?? {};
      assertEquals(timeline?.events.map(({ content }) => content.body ?? content.topic), [
        "two",
        "three",
        "four",
      ]);
      assertEquals(state?.events ?? [], [], "state that is in the timeline is not told twice");
      assert(!timeline?.limited);
      await refused(() => bob.sync({ since: "nonsense", timeout: 0 }), MatrixRequestError, 400);
      await assertRejects(() => bob.sync({ timeout: -1 }), ValueError);
    },
  },
  {
    name:
      "sync() tells all state with fullState, the user's presence with setPresence, and members only as they are needed",
    covers: ["sync"],
    async run(scene) {
      const [alice, carol] = await scene.players("alice", "carol");
      const bob = await scene.player("bob", { unlimited: "present" });
      const roomId = await roomOf(alice, bob, carol);
      await alice.sendStateEvent(roomId, "m.room.name", { name: "Without a name, members stand for it" });
      const nameless = await roomOf(alice, carol);
      await bob.sendText(roomId, "Hello");
      const since = await syncToken(alice);
      const plain = await alice.sync({ since, timeout: 0 });
      assertEquals(plain.rooms?.join?.[roomId], undefined);
      const full = await alice.sync({ since, fullState: true, timeout: 0 });
      const types = full.rooms?.join?.[roomId]?.state?.events?.map(({ type }) => type) ?? [];
      for (const type of ["m.room.create", "m.room.power_levels", "m.room.member"]) {
        assert(types.includes(type), type);
      }
      const filterId = { room: { state: { lazy_load_members: true }, timeline: { limit: 1 } } };
      const lazy = await alice.sync({ filterId, timeout: 0 });
      const members = lazy.rooms?.join?.[roomId]?.state?.events?.filter(({ type }) =>
        type === "m.room.member"
      );
      const loaded = members?.map(({ state_key }) => state_key) ?? [];
      assert(loaded.includes(bob.userId) && !loaded.includes(carol.userId), `only senders: ${loaded}`);
      assertEquals(lazy.rooms?.join?.[roomId]?.summary?.["m.joined_member_count"], 3);
      assertEquals(lazy.rooms?.join?.[nameless]?.summary?.["m.heroes"], [carol.userId]);
      await bob.sync({ setPresence: "unavailable", timeout: 0 });
      assertEquals((await alice.getPresence(bob.userId)).presence, "unavailable");
      await bob.sync({ setPresence: "online", timeout: 0 });
      assertEquals((await alice.getPresence(bob.userId)).presence, "online");
    },
  },
  {
    name: "sync() returns invitations and rooms that were left, each only once",
    covers: ["sync"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const since = await syncToken(bob);
      const roomId = await alice.createRoom({ invitees: [bob.userId], name: "Cellar" });
      const { value: invite, next } = await syncUntil(bob, ({ rooms }) => rooms?.invite?.[roomId], since);
      const types = invite.invite_state?.events?.map(({ type }) => type) ?? [];
      for (const type of ["m.room.create", "m.room.join_rules", "m.room.name", "m.room.member"]) {
        assert(types.includes(type), type);
      }
      assertEquals((await bob.sync({ since: next, timeout: 0 })).rooms?.invite, undefined);
      await bob.joinRoom(roomId);
      const { next: joined } = await syncUntil(bob, ({ rooms }) => rooms?.join?.[roomId], next);
      await alice.kickUser(roomId, bob.userId);
      await alice.sendText(roomId, "Now that bob is gone");
      const { value: left, next: after } = await syncUntil(
        bob,
        ({ rooms }) => rooms?.leave?.[roomId],
        joined,
      );
      const last = left.timeline?.events.at(-1);
      assertEquals([last?.state_key, last?.content.membership, last?.sender], [
        bob.userId,
        "leave",
        alice.userId,
      ]);
      assertEquals((await bob.sync({ since: after, timeout: 0 })).rooms?.leave, undefined);
      const own = await roomOf(bob);
      await bob.leaveRoom(own);
      const leftRooms = async (filterId?: Filter) =>
        // Synapse keeps what it answered with another timeout
        Object.keys((await bob.sync({ filterId, timeout: 1 })).rooms?.leave ?? {});
      assertEquals(await leftRooms(), [roomId], "who was removed always learns of it");
      assertEquals((await leftRooms({ room: { include_leave: true } })).toSorted(), [roomId, own].toSorted());
    },
  },
  {
    name: "sync() counts unread messages and mentions, until a receipt says that they were read",
    covers: ["sync", "sendReceipt"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      await bob.sendReceipt(roomId, await alice.sendText(roomId, "Begin"));
      const since = await syncToken(bob);
      await alice.sendText(roomId, "Anyone?");
      const mention = await alice.sendMessage(roomId, {
        msgtype: "m.text",
        body: "You there?",
        "m.mentions": { user_ids: [bob.userId] },
      });
      const counts = ({ rooms }: SyncResponse) => rooms?.join?.[roomId]?.unread_notifications;
      const { value: unread, next } = await syncUntil(
        bob,
        (response) => counts(response)?.notification_count === 2 ? counts(response) : undefined,
        since,
      );
      assertEquals(unread.highlight_count, 1);
      await bob.sendReceipt(roomId, mention);
      const { value: read } = await syncUntil(bob, counts, next);
      assertEquals([read.notification_count, read.highlight_count], [0, 0]);
    },
  },
];
