import { assert, assertEquals } from "@std/assert";
import { ForbiddenError, MatrixRequestError, NotFoundError } from "@greenroom/matrix";
import type { EventID } from "@greenroom/matrix/types";
import type { Operation } from "../support/operation.ts";
import { roomOf } from "../support/scene.ts";
import { refused } from "../support/wait.ts";

/** What users of a client expect beyond the contract. */
export const beyond: readonly Operation[] = [
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
    name: "getRoomSummary() describes a room to users who may join",
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
    name: "getCapabilities(), getOpenIdToken() and getTurnServer() tell what else there is",
    covers: ["getCapabilities", "getOpenIdToken", "getTurnServer"],
    async run(scene) {
      const alice = await scene.player("alice");
      const capabilities = await alice.getCapabilities();
      const { available, default: version } = capabilities["m.room_versions"] ??
        { available: {}, default: "" };
      assertEquals([available[version], available["12"], available["9"]], ["stable", "stable", "stable"]);
      assertEquals(capabilities["m.change_password"], { enabled: true });
      const token = await alice.getOpenIdToken();
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
