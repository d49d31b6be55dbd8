import { assertEquals } from "@std/assert";
import { ForbiddenError, MatrixRequestError } from "@greenroom/matrix";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { type Player, roomOf } from "./support/scene.ts";
import { eventually, refused } from "./support/wait.ts";

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  return await Array.fromAsync(items);
}

/** Puts a room into a space. */
async function addChild(
  player: Player,
  space: RoomID,
  child: RoomID,
  options: { suggested?: boolean } = {},
): Promise<void> {
  const via = [player.userId.slice(player.userId.indexOf(":") + 1)];
  await player.sendStateEvent(space, "m.space.child", { via, ...options }, { stateKey: child });
}

/** What belongs together: relations, threads, spaces. */
export const relations: readonly Operation[] = [
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
      await addChild(alice, space, stage, { suggested: true });
      await addChild(alice, space, inner);
      await addChild(alice, inner, bar);
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
];
