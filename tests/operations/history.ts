import { assert, assertEquals, assertRejects } from "@std/assert";
import { ForbiddenError, NotFoundError, ValueError } from "@greenroom/matrix";
import type { ClientEvent } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { roomOf } from "./support/scene.ts";
import { refused, syncUntil } from "./support/wait.ts";

function bodies(events: readonly ClientEvent[]): unknown[] {
  return events.filter(({ type }) => type === "m.room.message").map(({ content }) => content.body);
}

/** State and messages, read back. */
export const history: readonly Operation[] = [
  {
    name: "getMessages() reads back and forth, page by page, until there is no more",
    covers: ["getMessages"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      for (let i = 1; i <= 7; i++) await alice.sendText(roomId, `m${i}`);
      const { value: prevBatch } = await syncUntil(
        alice,
        ({ rooms }) => rooms?.join?.[roomId]?.timeline?.prev_batch,
      );
      const last = await bob.getMessages(roomId, "b", undefined, { limit: 3 });
      assertEquals(bodies(last.chunk), ["m7", "m6", "m5"]);
      const before = await bob.getMessages(roomId, "b", last.end, { limit: 3 });
      assertEquals(bodies(before.chunk), ["m4", "m3", "m2"]);
      const again = await bob.getMessages(roomId, "f", before.end, { limit: 2 });
      assertEquals(bodies(again.chunk), ["m2", "m3"], "the other way over the same");
      let token = before.end;
      let oldest: ClientEvent | undefined;
      for (let pages = 0; token !== undefined && pages < 10; pages++) {
        const page = await bob.getMessages(roomId, "b", token, { limit: 50 });
        oldest = page.chunk.at(-1) ?? oldest;
        token = page.end;
      }
      assertEquals([oldest?.type, token], ["m.room.create", undefined]);
      const oldestFirst = await bob.getMessages(roomId, "f", undefined, { limit: 1 });
      assertEquals(oldestFirst.chunk[0]?.type, "m.room.create");
      assert(
        (await alice.getMessages(roomId, "f", prevBatch)).chunk.length > 0,
        "sync's token is good here too",
      );
    },
  },
  {
    name: "getMessages() stops at a token, filters, and returns ten by default",
    covers: ["getMessages"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await roomOf(alice, bob);
      for (let i = 1; i <= 12; i++) await (i % 2 === 0 ? bob : alice).sendText(roomId, `m${i}`);
      const ten = await alice.getMessages(roomId, "b", undefined);
      assertEquals(ten.chunk.length, 10);
      const newest = await alice.getMessages(roomId, "b", undefined, { limit: 2 });
      const rest = await alice.getMessages(roomId, "b", newest.end, { limit: 3 });
      const between = await alice.getMessages(roomId, "b", newest.end, { toToken: rest.end, limit: 50 });
      assertEquals(bodies(between.chunk), ["m10", "m9", "m8"]);
      const bobs = await alice.getMessages(roomId, "b", undefined, {
        limit: 3,
        filterJson: { senders: [bob.userId], types: ["m.room.message"] },
      });
      assertEquals(bodies(bobs.chunk), ["m12", "m10", "m8"]);
      const asText = await alice.getMessages(roomId, "b", undefined, {
        filterJson: '{"types":["m.room.create"]}',
        limit: 50,
      });
      assertEquals(asText.chunk.map(({ type }) => type), ["m.room.create"]);
      await refused(() => carol.getMessages(roomId, "b", undefined), ForbiddenError, 403);
      await assertRejects(() => alice.getMessages(roomId, "b", undefined, { limit: 0 }), ValueError);
    },
  },
  {
    name: "getMessages() returns later members what the room's history visibility allows",
    covers: ["getMessages"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await alice.createRoom({
        preset: "public_chat",
        initialState: [{ type: "m.room.history_visibility", content: { history_visibility: "joined" } }],
      });
      await alice.sendText(roomId, "Before bob");
      await bob.joinRoom(roomId);
      await alice.sendText(roomId, "After bob");
      assertEquals(bodies((await bob.getMessages(roomId, "b", undefined, { limit: 50 })).chunk), [
        "After bob",
      ]);
    },
  },
  {
    name: "getState() lists the latest event of each type and key",
    covers: ["getState"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      await alice.sendStateEvent(roomId, "m.room.topic", { topic: "Old" });
      const topic = await alice.sendStateEvent(roomId, "m.room.topic", { topic: "New" });
      const state = await bob.getState(roomId);
      const topics = state.filter(({ type }) => type === "m.room.topic");
      assertEquals(topics.map(({ event_id, content }) => [event_id, content.topic]), [[topic, "New"]]);
      const keys = state.map(({ type, state_key }) => `${type}|${state_key}`);
      assertEquals(keys.length, new Set(keys).size);
      for (
        const type of [
          "m.room.create",
          "m.room.power_levels",
          "m.room.join_rules",
          "m.room.history_visibility",
        ]
      ) {
        assert(keys.includes(`${type}|`), type);
      }
      assertEquals(keys.filter((key) => key.startsWith("m.room.member|")).length, 2);
    },
  },
  {
    name: "getState() and getStateEvent() return former members the state of then, and strangers nothing",
    covers: ["getState", "getStateEvent"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await roomOf(alice, bob);
      await alice.sendStateEvent(roomId, "m.room.topic", { topic: "While bob was there" });
      await bob.leaveRoom(roomId);
      await alice.sendStateEvent(roomId, "m.room.topic", { topic: "When bob was gone" });
      assertEquals((await bob.getStateEvent(roomId, "m.room.topic")).topic, "While bob was there");
      const topic = (await bob.getState(roomId)).find(({ type }) => type === "m.room.topic");
      assertEquals(topic?.content.topic, "While bob was there");
      assertEquals((await alice.getStateEvent(roomId, "m.room.topic")).topic, "When bob was gone");
      await refused(() => carol.getState(roomId), ForbiddenError, 403);
      await refused(() => carol.getStateEvent(roomId, "m.room.topic"), ForbiddenError, 403);
      await refused(() => alice.getStateEvent(roomId, "m.room.name"), NotFoundError, 404);
      await refused(
        () => alice.getStateEvent(roomId, "m.room.topic", { stateKey: "other" }),
        NotFoundError,
        404,
      );
    },
  },
  {
    name: "getEvent() returns one event, of any kind, to users who may see it",
    covers: ["getEvent"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await roomOf(alice, bob);
      const name = await alice.sendStateEvent(roomId, "m.room.name", { name: "Stage" });
      const event = await bob.getEvent(roomId, name);
      assertEquals([event.type, event.state_key, event.content], ["m.room.name", "", { name: "Stage" }]);
      assert(event.origin_server_ts > 0);
      await refused(() => carol.getEvent(roomId, name), NotFoundError, 404);
      await refused(() => bob.getEvent(roomId, "$nothing"), NotFoundError, 404);
    },
  },
];
