import { assert, assertEquals, assertRejects } from "@std/assert";
import { ForbiddenError, MatrixRequestError, NotFoundError, ValueError } from "@greenroom/matrix";
import type { PublicRoomsChunk } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { roomOf } from "./support/scene.ts";
import { eventually, refused } from "./support/wait.ts";

/** Aliases, the room directory, the user directory. */
export const directory: readonly Operation[] = [
  {
    name: "addRoomAlias() names a room, removeRoomAlias() takes the name away",
    covers: ["addRoomAlias", "removeRoomAlias", "getRoomAlias", "getRoomAliases"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await alice.createRoom();
      const local = scene.unique("entrance");
      const alias = `#${local}:${scene.host.serverName}` as const;
      await alice.addRoomAlias(roomId, local);
      const found = await bob.getRoomAlias(alias);
      assertEquals([found.room_id, found.servers], [roomId, [scene.host.serverName]]);
      assertEquals(await alice.getRoomAliases(roomId), [alias]);
      await refused(() => bob.removeRoomAlias(local), ForbiddenError, 403);
      await alice.removeRoomAlias(local);
      await refused(() => bob.getRoomAlias(alias), NotFoundError, 404);
      await alice.removeRoomAlias(local);
      await refused(() => alice.removeRoomAlias(local, { raise404: true }), NotFoundError, 404);
    },
  },
  {
    name: "addRoomAlias() reports a taken alias, or takes it over with the option for it",
    covers: ["addRoomAlias"],
    async run(scene) {
      const alice = await scene.player("alice");
      const [first, second] = [await alice.createRoom(), await alice.createRoom()];
      const local = scene.unique("entrance");
      const alias = `#${local}:${scene.host.serverName}` as const;
      await alice.addRoomAlias(first, local);
      const error = await assertRejects(() => alice.addRoomAlias(second, local), MatrixRequestError);
      assertEquals(error.status, 409);
      assertEquals((await alice.getRoomAlias(alias)).room_id, first);
      await alice.addRoomAlias(second, local, { override: true });
      assertEquals((await alice.getRoomAlias(alias)).room_id, second);
      await alice.addRoomAlias(first, scene.unique("free"), { override: true });
      await assertRejects(() => alice.addRoomAlias(first, ""), ValueError);
    },
  },
  {
    name: "setRoomDirectoryVisibility() lists a room and unlists it, for users with the power",
    covers: ["setRoomDirectoryVisibility", "getRoomDirectoryVisibility", "getRoomDirectory"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const name = scene.unique("Grand theatre");
      const roomId = await alice.createRoom({
        preset: "public_chat",
        name,
        topic: "Every night",
        aliasLocalpart: scene.unique("grand"),
      });
      await bob.joinRoom(roomId);
      assertEquals(await bob.getRoomDirectoryVisibility(roomId), "private");
      const listed = async () => {
        const { chunk } = await bob.getRoomDirectory({ searchQuery: name });
        return chunk.find(({ room_id }) => room_id === roomId);
      };
      assertEquals(await listed(), undefined);
      await alice.setRoomDirectoryVisibility(roomId, "public");
      assertEquals(await bob.getRoomDirectoryVisibility(roomId), "public");
      const room = await eventually(listed, (found) => found?.num_joined_members === 2);
      assertEquals([room?.name, room?.topic, room?.join_rule, room?.world_readable, room?.guest_can_join], [
        name,
        "Every night",
        "public",
        false,
        false,
      ]);
      await refused(() => bob.setRoomDirectoryVisibility(roomId, "private"), ForbiddenError, 403);
      await alice.setRoomDirectoryVisibility(roomId, "private");
      assertEquals(await listed(), undefined);
      await refused(() => bob.getRoomDirectoryVisibility("!nowhere:localhost"), NotFoundError, 404);
    },
  },
  {
    name: "getRoomDirectory() pages forwards and backwards, and searches",
    covers: ["getRoomDirectory"],
    async run(scene) {
      const alice = await scene.player("alice");
      const word = scene.unique("repertory");
      const rooms = [];
      for (let i = 0; i < 3; i++) {
        rooms.push(
          await alice.createRoom({ visibility: "public", preset: "public_chat", name: `${word} ${i}` }),
        );
      }
      const space = await alice.createRoom({
        visibility: "public",
        preset: "public_chat",
        name: `${word} space`,
        creationContent: { type: "m.space" },
      });
      const ids = (chunk: readonly PublicRoomsChunk[]) => chunk.map(({ room_id }) => room_id).sort();
      const all = await eventually(
        () => alice.getRoomDirectory({ searchQuery: word }),
        ({ chunk }) => chunk.length === 4,
      );
      assertEquals(ids(all.chunk), [...rooms, space].sort());
      const spaces = await alice.getRoomDirectory({ searchQuery: word, roomTypes: ["m.space"] });
      assertEquals(ids(spaces.chunk), [space]);
      const plain = await alice.getRoomDirectory({ searchQuery: word, roomTypes: [null] });
      assertEquals(ids(plain.chunk), [...rooms].sort());
      const first = await alice.getRoomDirectory({ limit: 2 });
      assertEquals(first.chunk.length, 2);
      assert(first.next_batch !== undefined && (first.total_room_count_estimate ?? 4) >= 4);
      const second = await alice.getRoomDirectory({ limit: 2, since: first.next_batch });
      assert(second.chunk.every(({ room_id }) => !ids(first.chunk).includes(room_id)));
      const back = await alice.getRoomDirectory({ limit: 2, since: second.prev_batch });
      assertEquals(ids(back.chunk), ids(first.chunk));
      await assertRejects(
        () => alice.getRoomDirectory({ includeAllNetworks: true, thirdPartyInstanceId: "irc" }),
        ValueError,
      );
    },
  },
  {
    name: "searchUsers() finds by user ID and name, whatever the case, and says if there are more",
    covers: ["searchUsers"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const name = scene.unique("Zzyzx");
      await roomOf(alice, bob, carol);
      await bob.setDisplayname(`${name} One`);
      await carol.setDisplayname(`${name} Two`);
      const { results, limited } = await eventually(
        () => alice.searchUsers(name.toLowerCase()),
        (answer) => answer.results.length === 2,
      );
      assertEquals(results.map(({ user_id }) => user_id).sort(), [bob.userId, carol.userId].sort());
      assert(limited === false);
      assert(results.every(({ display_name }) => display_name?.startsWith(name)));
      const one = await alice.searchUsers(name, { limit: 1 });
      assertEquals([one.results.length, one.limited], [1, true]);
      const localpart = bob.userId.slice(1, bob.userId.indexOf(":")).toUpperCase();
      const byId = await alice.searchUsers(localpart);
      assertEquals(byId.results.map(({ user_id }) => user_id), [bob.userId]);
      assertEquals((await alice.searchUsers(scene.unique("nobody"))).results, []);
    },
  },
];
