import { assert, assertEquals, assertRejects } from "@std/assert";
import { MatrixRequestError, NotFoundError, ValueError } from "@greenroom/matrix";
import { InvalidParamError, RoomInUseError, UnsupportedRoomVersionError } from "@greenroom/matrix/errors";
import type { RoomID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { refused } from "./support/wait.ts";

/** Rooms as a whole. */
export const rooms: readonly Operation[] = [
  {
    name: "createRoom() makes a private room by default",
    covers: ["createRoom", "getJoinedRooms", "getRoomDirectoryVisibility"],
    async run(scene) {
      const alice = await scene.player("alice");
      const roomId = await alice.createRoom();
      assertEquals((await alice.getStateEvent(roomId, "m.room.join_rules")).join_rule, "invite");
      assertEquals(
        (await alice.getStateEvent(roomId, "m.room.history_visibility")).history_visibility,
        "shared",
      );
      assertEquals((await alice.getStateEvent(roomId, "m.room.guest_access")).guest_access, "can_join");
      assertEquals(await alice.getRoomDirectoryVisibility(roomId), "private");
      assertEquals(await alice.getJoinedRooms(), [roomId]);
      const state = await alice.getState(roomId);
      assert(!state.some(({ type }) => type === "m.room.name" || type === "m.room.topic"));
      const member = await alice.getStateEvent(roomId, "m.room.member", { stateKey: alice.userId });
      assertEquals(member.membership, "join");
    },
  },
  {
    name: "createRoom() sets name, topic and alias, and invites",
    covers: ["createRoom"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const aliasLocalpart = scene.unique("stage");
      const roomId = await alice.createRoom({
        aliasLocalpart,
        name: "Stage",
        topic: "Rehearsals",
        isDirect: true,
        invitees: [bob.userId],
      });
      const alias = `#${aliasLocalpart}:${scene.host.serverName}` as const;
      assertEquals((await alice.getStateEvent(roomId, "m.room.name")).name, "Stage");
      assertEquals((await alice.getStateEvent(roomId, "m.room.topic")).topic, "Rehearsals");
      assertEquals((await alice.getStateEvent(roomId, "m.room.canonical_alias")).alias, alias);
      assertEquals((await bob.getRoomAlias(alias)).room_id, roomId);
      const invited = await alice.getStateEvent(roomId, "m.room.member", { stateKey: bob.userId });
      assertEquals(invited.membership, "invite");
      assert(invited.is_direct === true);
    },
  },
  {
    name: "createRoom() lets initialState override the preset, and name and topic override initialState",
    covers: ["createRoom"],
    async run(scene) {
      const alice = await scene.player("alice");
      const roomId = await alice.createRoom({
        name: "From name",
        topic: "From topic",
        initialState: [
          { type: "m.room.name", content: { name: "From initial state" } },
          { type: "m.room.topic", content: { topic: "From initial state" } },
          { type: "m.room.history_visibility", content: { history_visibility: "joined" } },
          { type: "com.example.prop", state_key: "lamp", content: { lit: true } },
        ],
      });
      assertEquals((await alice.getStateEvent(roomId, "m.room.name")).name, "From name");
      assertEquals((await alice.getStateEvent(roomId, "m.room.topic")).topic, "From topic");
      assertEquals(
        (await alice.getStateEvent(roomId, "m.room.history_visibility")).history_visibility,
        "joined",
      );
      assertEquals(await alice.getStateEvent(roomId, "com.example.prop", { stateKey: "lamp" }), {
        lit: true,
      });
    },
  },
  {
    name: "createRoom() knows the presets for public and for trusted rooms",
    covers: ["createRoom"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const open = await alice.createRoom({ preset: "public_chat", visibility: "public" });
      assertEquals((await alice.getStateEvent(open, "m.room.join_rules")).join_rule, "public");
      await refused(() => alice.getStateEvent(open, "m.room.guest_access"), NotFoundError, 404);
      assertEquals(await alice.getRoomDirectoryVisibility(open), "public");
      const trusted = await alice.createRoom({
        preset: "trusted_private_chat",
        roomVersion: "11",
        invitees: [bob.userId],
      });
      const levels = await alice.getStateEvent(trusted, "m.room.power_levels");
      assertEquals([levels.users?.[alice.userId], levels.users?.[bob.userId]], [100, 100]);
      const founded = await alice.createRoom({ preset: "trusted_private_chat", invitees: [bob.userId] });
      const create = await alice.getStateEvent(founded, "m.room.create", { format: "event" });
      assertEquals(create.content.additional_creators, [bob.userId], "in version 12 creators have all power");
    },
  },
  {
    name: "createRoom() takes version, creation content and power levels",
    covers: ["createRoom"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await alice.createRoom({
        roomVersion: "10",
        creationContent: { "m.federate": false, type: "m.space", room_version: "1" },
        powerLevelContentOverride: { events_default: 25, users: { [alice.userId]: 100, [bob.userId]: 30 } },
        customRequestFields: { topic: "Of the fields given by hand" },
      });
      const create = await alice.getStateEvent(roomId, "m.room.create");
      assertEquals([create.room_version, create["m.federate"], create.type], ["10", false, "m.space"]);
      const levels = await alice.getStateEvent(roomId, "m.room.power_levels");
      assertEquals([levels.events_default, levels.users?.[bob.userId]], [25, 30]);
      const { topic } = await alice.getStateEvent(roomId, "m.room.topic");
      assertEquals(topic, "Of the fields given by hand");
      const { content } = await alice.getStateEvent(await alice.createRoom(), "m.room.create", {
        format: "event",
      });
      assertEquals(content.room_version, (await alice.getCapabilities())["m.room_versions"]?.default);
    },
  },
  {
    name: "createRoom() reports a taken alias, an unknown version, and what no server should see",
    covers: ["createRoom"],
    async run(scene) {
      const alice = await scene.player("alice");
      const aliasLocalpart = scene.unique("taken");
      await alice.createRoom({ aliasLocalpart });
      await refused(() => alice.createRoom({ aliasLocalpart }), RoomInUseError, 400);
      await refused(() => alice.createRoom({ roomVersion: "nonsense" }), UnsupportedRoomVersionError, 400);
      await assertRejects(() => alice.createRoom({ aliasLocalpart: "with:colon" }), ValueError);
      await assertRejects(() => alice.createRoom({ invitees: ["nobody" as "@a:b"] }), ValueError);
    },
  },
  {
    name: "getJoinedRooms() lists the rooms that one is in, not those that one left or is invited to",
    covers: ["getJoinedRooms"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const rooms: RoomID[] = [];
      for (let i = 0; i < 3; i++) rooms.push(await alice.createRoom({ preset: "public_chat" }));
      const [first, second, third] = rooms;
      assert(first && second && third);
      await bob.joinRoom(first);
      await bob.joinRoom(second);
      await bob.leaveRoom(second);
      await alice.inviteUser(third, bob.userId);
      assertEquals(await bob.getJoinedRooms(), [first]);
      assertEquals((await alice.getJoinedRooms()).sort(), rooms.sort());
    },
  },
  {
    name: "sendStateEvent() may name a type and a key as every object has them",
    covers: ["sendStateEvent", "getStateEvent", "sendMessageEvent"],
    async run(scene) {
      const alice = await scene.player("alice");
      const roomId = await alice.createRoom();
      for (const name of ["constructor", "toString", "__proto__"]) {
        const content = JSON.parse(`{"${name}":{"a":1}}`);
        await alice.sendStateEvent(roomId, name, content, { stateKey: name });
        assertEquals(await alice.getStateEvent(roomId, name, { stateKey: name }), content);
        const sent = await alice.getEvent(roomId, await alice.sendMessageEvent(roomId, name, content));
        assertEquals([sent.type, sent.content], [name, content]);
        const path = { roomId, eventType: name, stateKey: "" };
        const state = "/_matrix/client/v3/rooms/{roomId}/state/{eventType}/{stateKey}";
        await alice.request("PUT", state, { path, body: content });
        assertEquals(await alice.request("GET", state, { path }), content);
      }
    },
  },
  {
    name:
      "sendStateEvent() of a canonical alias is refused if it is malformed; a tombstone may name anything",
    covers: ["sendStateEvent"],
    breaks: [
      "must be array",
      "must be string",
      'must match pattern "^#"',
      "must have required property 'replacement_room'",
    ],
    async run(scene) {
      const alice = await scene.player("alice");
      const roomId = await alice.createRoom();
      const malformed = [{ alt_aliases: "x" }, { alt_aliases: null }, { alt_aliases: {} }, {
        alt_aliases: [7],
      }, {
        alias: 7,
      }];
      for (const content of malformed) {
        const send = () => alice.sendStateEvent(roomId, "m.room.canonical_alias", content as object);
        await refused(send, InvalidParamError, 400);
      }
      await alice.sendStateEvent(roomId, "m.room.canonical_alias", { alias: "" as "#a:b", alt_aliases: [] });
      const tombstone = (content: object) =>
        alice.request("PUT", "/_matrix/client/v3/rooms/{roomId}/state/m.room.tombstone/", {
          path: { roomId },
          body: content,
        });
      await refused(() => tombstone({ body: "no room" }), MatrixRequestError, 400);
      await tombstone({ body: "odd", replacement_room: 7 });
    },
  },
];
