import { assert, assertEquals } from "@std/assert";
import {
  type EventID,
  ForbiddenError,
  MatrixRequestError,
  NotFoundError,
  type RoomID,
} from "@greenroom/matrix";
import type { Operation } from "./operation.ts";
import { type Player, roomOf } from "./scene.ts";
import { eventually, refused } from "./wait.ts";

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  return await Array.fromAsync(items);
}

/** Puts a room into a space. */
async function addChild(player: Player, space: RoomID, child: RoomID, suggested: boolean): Promise<void> {
  const via = [player.userId.slice(player.userId.indexOf(":") + 1)];
  await player.sendStateEvent(space, "m.space.child", { via, suggested }, { stateKey: child });
}

/** What users of a client expect beyond the contract. */
export const beyond: readonly Operation[] = [
  {
    name: "getRelations() and iterateRelations() find what relates to an event, by kind",
    covers: ["getRelations", "iterateRelations"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const root = await alice.sendText(roomId, "What shall we play?");
      const reaction = await bob.react(roomId, root, "🎭");
      const replies: EventID[] = [];
      for (const text of ["Hamlet", "Macbeth", "Lear"]) {
        replies.push(
          await bob.sendText(roomId, text, { relatesTo: { rel_type: "m.thread", event_id: root } }),
        );
      }
      const newestFirst = replies.toReversed();
      const all = await alice.getRelations(roomId, root);
      assertEquals(all.chunk.map(({ event_id }) => event_id), [...newestFirst, reaction]);
      const threaded = await alice.getRelations(roomId, root, { relType: "m.thread", limit: 2 });
      assertEquals(threaded.chunk.map(({ event_id }) => event_id), newestFirst.slice(0, 2));
      const rest = await alice.getRelations(roomId, root, { relType: "m.thread", from: threaded.next_batch });
      assertEquals(rest.chunk.map(({ event_id }) => event_id), newestFirst.slice(2));
      const reactions = await alice.getRelations(roomId, root, {
        relType: "m.annotation",
        eventType: "m.reaction",
      });
      assertEquals(reactions.chunk.map(({ event_id }) => event_id), [reaction]);
      const forward = await alice.getRelations(roomId, root, { relType: "m.thread", direction: "f" });
      assertEquals(forward.chunk.map(({ event_id }) => event_id), replies);
      const paged = await collect(alice.iterateRelations(roomId, root, { relType: "m.thread", limit: 1 }));
      assertEquals(paged.map(({ event_id }) => event_id), newestFirst);
      const carol = await scene.player("carol");
      await refused(() => carol.getRelations(roomId, root), ForbiddenError, 403);
    },
  },
  {
    name: "getThreads() and iterateThreads() list the threads of a room, the latest first",
    covers: ["getThreads", "iterateThreads"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const roots: EventID[] = [];
      for (const [index, player] of [bob, alice, alice].entries()) {
        const root = await alice.sendText(roomId, `Thread ${index}`);
        await player.sendText(roomId, "Reply", { relatesTo: { rel_type: "m.thread", event_id: root } });
        roots.push(root);
      }
      const latestFirst = roots.toReversed();
      const page = await alice.getThreads(roomId, { limit: 2 });
      assertEquals(page.chunk.map(({ event_id }) => event_id), latestFirst.slice(0, 2));
      const rest = await alice.getThreads(roomId, { from: page.next_batch });
      assertEquals(rest.chunk.map(({ event_id }) => event_id), latestFirst.slice(2));
      const bobs = await bob.getThreads(roomId, { include: "participated" });
      assertEquals(bobs.chunk.map(({ event_id }) => event_id), roots.slice(0, 1));
      const paged = await collect(alice.iterateThreads(roomId, { limit: 1 }));
      assertEquals(paged.map(({ event_id }) => event_id), latestFirst);
      assertEquals(paged[0]?.unsigned?.["m.relations"]?.["m.thread"]?.count, 1);
    },
  },
  {
    name: "iterateMessages() reads a whole room, page by page",
    covers: ["iterateMessages"],
    async run(scene) {
      const alice = await scene.player("alice");
      const roomId = await alice.createRoom();
      for (let i = 1; i <= 5; i++) await alice.sendText(roomId, `m${i}`);
      const filterJson = { types: ["m.room.message"] };
      const back = await collect(alice.iterateMessages(roomId, "b", { limit: 2, filterJson }));
      assertEquals(back.map(({ content }) => content.body), ["m5", "m4", "m3", "m2", "m1"]);
      const forth = await collect(alice.iterateMessages(roomId, "f", { limit: 3, filterJson }));
      assertEquals(forth.map(({ content }) => content.body), ["m1", "m2", "m3", "m4", "m5"]);
    },
  },
  {
    name: "getSpaceHierarchy() and iterateSpaceRooms() walk through a space",
    covers: ["getSpaceHierarchy", "iterateSpaceRooms"],
    async run(scene) {
      const alice = await scene.player("alice");
      const newSpace = (name: string) =>
        alice.createRoom({ preset: "public_chat", name, creationContent: { type: "m.space" } });
      const [space, inner] = [await newSpace("Theatre"), await newSpace("Cellar")];
      const stage = await alice.createRoom({ preset: "public_chat", name: "Stage" });
      const bar = await alice.createRoom({ preset: "public_chat", name: "Bar" });
      await addChild(alice, space, stage, true);
      await addChild(alice, space, inner, false);
      await addChild(alice, inner, bar, false);
      const whole = await alice.getSpaceHierarchy(space);
      assertEquals(whole.rooms.map(({ name }) => name).toSorted(), ["Bar", "Cellar", "Stage", "Theatre"]);
      const first = whole.rooms[0];
      assertEquals([first?.room_id, first?.room_type, first?.num_joined_members], [space, "m.space", 1]);
      assertEquals(
        first?.children_state.map(({ state_key }) => state_key).toSorted(),
        [stage, inner].toSorted(),
      );
      const suggested = await alice.getSpaceHierarchy(space, { suggestedOnly: true });
      assertEquals(suggested.rooms.map(({ name }) => name), ["Theatre", "Stage"]);
      const shallow = await alice.getSpaceHierarchy(space, { maxDepth: 1 });
      assertEquals(shallow.rooms.map(({ name }) => name).toSorted(), ["Cellar", "Stage", "Theatre"]);
      const paged = await collect(alice.iterateSpaceRooms(space, { limit: 2 }));
      assertEquals(paged.map(({ room_id }) => room_id), whole.rooms.map(({ room_id }) => room_id));
      await refused(() => alice.getSpaceHierarchy("!nowhere:localhost"), MatrixRequestError, 403);
    },
  },
  {
    name: "iterateRoomDirectory() lists every public room",
    covers: ["iterateRoomDirectory"],
    async run(scene) {
      const alice = await scene.player("alice");
      const word = scene.unique("festival");
      const rooms: RoomID[] = [];
      for (let i = 0; i < 3; i++) {
        rooms.push(
          await alice.createRoom({ visibility: "public", preset: "public_chat", name: `${word} ${i}` }),
        );
      }
      const found = await eventually(
        () => collect(alice.iterateRoomDirectory({ searchQuery: word, limit: 1 })),
        ({ length }) => length === 3,
      );
      assertEquals(found.map(({ room_id }) => room_id).toSorted(), rooms.toSorted());
    },
  },
  {
    name: "upgradeRoom() makes a room of a new version, and closes the old one with a pointer to it",
    covers: ["upgradeRoom"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const old = await alice.createRoom({ preset: "public_chat", name: "Old house", roomVersion: "10" });
      await bob.joinRoom(old);
      await refused(() => bob.upgradeRoom(old, "11"), ForbiddenError, 403);
      await refused(() => alice.upgradeRoom(old, "nonsense"), MatrixRequestError, 400);
      const replacement = await alice.upgradeRoom(old, "11");
      const tombstone = await bob.getStateEvent(old, "m.room.tombstone");
      assertEquals(tombstone.replacement_room, replacement);
      const create = await alice.getStateEvent(replacement, "m.room.create");
      assertEquals([create.room_version, create.predecessor?.room_id], ["11", old]);
      assertEquals((await alice.getStateEvent(replacement, "m.room.name")).name, "Old house");
      const newest = await alice.upgradeRoom(replacement, "12", { additionalCreators: [bob.userId] });
      const { additional_creators } = await alice.getStateEvent(newest, "m.room.create");
      assertEquals(additional_creators, [bob.userId]);
    },
  },
  {
    name: "getEventContext() shows what came before and after an event",
    covers: ["getEventContext"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await roomOf(alice, bob);
      const ids: EventID[] = [];
      for (let i = 0; i < 7; i++) ids.push(await alice.sendText(roomId, `m${i}`));
      const [, , , middle] = ids;
      assert(middle);
      const { event, events_before, events_after, state, start, end } = await bob.getEventContext(
        roomId,
        middle,
        {
          limit: 4,
        },
      );
      assertEquals(event?.event_id, middle);
      assertEquals(events_before?.map(({ event_id }) => event_id), [ids[2], ids[1]]);
      assertEquals(events_after?.map(({ event_id }) => event_id), [ids[4], ids[5]]);
      assert(state?.some(({ type }) => type === "m.room.create"));
      const older = await bob.getMessages(roomId, "b", start, { limit: 1 });
      const newer = await bob.getMessages(roomId, "f", end, { limit: 1 });
      assertEquals([older.chunk[0]?.event_id, newer.chunk[0]?.event_id], [ids[0], ids[6]]);
      await refused(() => carol.getEventContext(roomId, middle), ForbiddenError, 403);
    },
  },
  {
    name: "timestampToEvent() finds the event next to a time",
    covers: ["timestampToEvent"],
    async run(scene) {
      const alice = await scene.player("alice");
      const roomId = await alice.createRoom();
      const last = await alice.sendText(roomId, "Last");
      const { origin_server_ts } = await alice.getEvent(roomId, last);
      const found = await alice.timestampToEvent(roomId, origin_server_ts + 1_000, "b");
      assertEquals([found.event_id, found.origin_server_ts], [last, origin_server_ts]);
      const first = await alice.timestampToEvent(roomId, 0, "f");
      assertEquals((await alice.getEvent(roomId, first.event_id)).type, "m.room.create");
      await refused(() => alice.timestampToEvent(roomId, origin_server_ts + 1_000, "f"), NotFoundError, 404);
    },
  },
  {
    name: "getRoomSummary() tells those who may join what a room is",
    covers: ["getRoomSummary"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const aliasLocalpart = scene.unique("foyer");
      const open = await alice.createRoom({
        preset: "public_chat",
        name: "Foyer",
        topic: "Meet here",
        aliasLocalpart,
      });
      const summary = await bob.getRoomSummary(`#${aliasLocalpart}:${scene.host.serverName}`);
      assertEquals([
        summary.room_id,
        summary.name,
        summary.topic,
        summary.num_joined_members,
        summary.join_rule,
      ], [
        open,
        "Foyer",
        "Meet here",
        1,
        "public",
      ]);
      assertEquals((await alice.getRoomSummary(open)).membership, "join");
      const closed = await alice.createRoom();
      await refused(() => bob.getRoomSummary(closed), NotFoundError, 404);
    },
  },
  {
    name: "reportEvent(), reportRoom() and reportUser() reach the administration",
    covers: ["reportEvent", "reportRoom", "reportUser"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const eventId = await bob.sendText(roomId, "Buy our tickets");
      await alice.reportEvent(roomId, eventId, { reason: "Advertising" });
      await alice.reportRoom(roomId, { reason: "Advertising" });
      await alice.reportUser(bob.userId, { reason: "Advertising" });
      await refused(() => alice.reportEvent(roomId, "$nothing"), NotFoundError, 404);
    },
  },
  {
    name: "searchMessages() finds messages in one's rooms",
    covers: ["searchMessages"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const word = `word${crypto.randomUUID().slice(0, 8)}`;
      const found: EventID[] = [];
      for (const text of [`The ${word} is here`, `Another ${word}`]) {
        found.push(await alice.sendText(roomId, text));
      }
      await alice.sendText(roomId, "Something else");
      await alice.sendText(await alice.createRoom(), `The ${word} that bob can't see`);
      const { results = [], count } = await bob.searchMessages(word, { criteria: { order_by: "recent" } });
      assertEquals(results.map(({ result }) => result?.event_id), found.toReversed());
      assertEquals(count, 2);
      const none = await bob.searchMessages(word, { criteria: { filter: { senders: [bob.userId] } } });
      assertEquals(none.results ?? [], []);
    },
  },
  {
    name: "getCapabilities(), getOpenIDToken() and getTurnServer() tell what else there is",
    covers: ["getCapabilities", "getOpenIDToken", "getTurnServer"],
    async run(scene) {
      const alice = await scene.player("alice");
      const capabilities = await alice.getCapabilities();
      const { available, default: version } = capabilities["m.room_versions"] ??
        { available: {}, default: "" };
      assertEquals([available[version], available["12"], available["9"]], ["stable", "stable", "stable"]);
      assertEquals(capabilities["m.change_password"], { enabled: true });
      const token = await alice.getOpenIDToken();
      assertEquals([token.token_type, token.matrix_server_name], ["Bearer", scene.host.serverName]);
      assert(token.expires_in > 0 && token.access_token !== "");
      const turn = await alice.getTurnServer();
      assert(turn !== undefined && turn.uris.length === 1 && turn.ttl > 0 && turn.username !== "");
    },
  },
  {
    name: "setPusher() sets a pusher up, removePusher() takes it away",
    covers: ["setPusher", "getPushers", "removePusher"],
    async run(scene) {
      const alice = await scene.player("alice");
      assertEquals(await alice.getPushers(), []);
      const pusher = {
        pushkey: scene.unique("key"),
        kind: "http",
        app_id: "com.example.app",
        app_display_name: "Programme",
        device_display_name: "Phone",
        lang: "en",
        data: { url: "http://127.0.0.1:1/_matrix/push/v1/notify", format: "event_id_only" },
      } as const;
      await alice.setPusher(pusher);
      const [found] = await alice.getPushers();
      assertEquals([found?.pushkey, found?.app_id, found?.kind, found?.data], [
        pusher.pushkey,
        pusher.app_id,
        pusher.kind,
        pusher.data,
      ]);
      await alice.removePusher(pusher.pushkey, pusher.app_id);
      assertEquals(await alice.getPushers(), []);
    },
  },
  {
    name: "the lookups of third-party networks find none where there are no bridges",
    covers: [
      "getThirdPartyProtocols",
      "getThirdPartyProtocol",
      "getThirdPartyLocations",
      "getThirdPartyLocationsOfAlias",
      "getThirdPartyUsers",
      "getThirdPartyUsersOfId",
    ],
    async run(scene) {
      const alice = await scene.player("alice");
      assertEquals(await alice.getThirdPartyProtocols(), {});
      await refused(() => alice.getThirdPartyProtocol("irc"), MatrixRequestError, 404);
      assertEquals(await alice.getThirdPartyLocations("irc", { fields: { channel: "#a" } }), []);
      assertEquals(await alice.getThirdPartyUsers("irc", { fields: { nick: "a" } }), []);
      assertEquals(await alice.getThirdPartyLocationsOfAlias("#a:localhost"), []);
      assertEquals(await alice.getThirdPartyUsersOfId(alice.userId), []);
    },
  },
];
