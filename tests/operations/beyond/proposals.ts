import { assert, assertEquals, assertRejects } from "@std/assert";
import { NotFoundError } from "@greenroom/matrix";
import { EncryptionError, InvalidParamError, UnrecognizedError } from "@greenroom/matrix/errors";
import type { Operation } from "../support/operation.ts";
import { roomOf } from "../support/scene.ts";
import { refused } from "../support/wait.ts";

const LATER = 3_600_000;
const text = (body: string) => ({ msgtype: "m.text", body }) as const;

/** Operations of proposals that are not in the specification yet. */
export const proposals: readonly Operation[] = [
  {
    name:
      "createDelayedEvent() has a message and state sent later; they are listed, restarted, sent and cancelled",
    covers: [
      "createDelayedEvent",
      "listDelayedEvents",
      "restartDelayedEvent",
      "sendDelayedEvent",
      "cancelDelayedEvent",
    ],
    async run(scene) {
      const [alice] = await scene.players("alice");
      const roomId = await roomOf(alice);
      const now = await alice.createDelayedEvent(roomId, "m.room.topic", { topic: "later" }, {
        delay: LATER,
        stateKey: "",
      });
      const never = await alice.createDelayedEvent(roomId, "m.room.message", text("never"), { delay: LATER });
      const listed = await alice.listDelayedEvents();
      assertEquals(listed.map(({ delay_id }) => delay_id).sort(), [now, never].sort());
      const message = listed.find(({ delay_id }) => delay_id === never);
      assertEquals(
        [message?.type, message?.state_key, message?.content, message?.delay_ms, message?.room_id],
        [
          "m.room.message",
          undefined,
          text("never"),
          LATER,
          roomId,
        ],
      );
      await alice.restartDelayedEvent(never);
      await alice.sendDelayedEvent(now);
      assertEquals((await alice.getStateEvent(roomId, "m.room.topic")).topic, "later");
      await alice.cancelDelayedEvent(never);
      await refused(() => alice.cancelDelayedEvent(never), NotFoundError, 404);
    },
  },
  {
    name: "createDelayedEvent() refuses a message to an encrypted room",
    covers: ["createDelayedEvent"],
    async run(scene) {
      const alice = await scene.player("alice", { encryption: true });
      const initialState = [{
        type: "m.room.encryption",
        state_key: "",
        content: { algorithm: "m.megolm.v1.aes-sha2" },
      }];
      const roomId = await alice.createRoom({ initialState });
      const delay = () => alice.createDelayedEvent(roomId, "m.room.message", text("a"), { delay: LATER });
      await assertRejects(delay, EncryptionError, "encrypted when it leaves");
    },
  },
  {
    name: "getMutualRooms() lists the rooms that two users share",
    covers: ["getMutualRooms"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const rooms = [await roomOf(alice, bob), await roomOf(alice, bob, carol)];
      await roomOf(alice, carol);
      assertEquals((await alice.getMutualRooms(bob.userId)).sort(), rooms.sort());
      await refused(() => alice.getMutualRooms(alice.userId), InvalidParamError, 400);
    },
  },
  {
    name: "Subscriptions of threads are refused by a homeserver that has none",
    covers: ["getThreadSubscription", "setThreadSubscription", "removeThreadSubscription"],
    async run(scene) {
      const [alice] = await scene.players("alice");
      const roomId = await roomOf(alice);
      const root = await alice.sendText(roomId, "root");
      assert(!await alice.supports("org.matrix.msc4306"));
      await refused(() => alice.getThreadSubscription(roomId, root), UnrecognizedError, 404);
      await refused(() => alice.setThreadSubscription(roomId, root), UnrecognizedError, 404);
      await refused(() => alice.removeThreadSubscription(roomId, root), UnrecognizedError, 404);
    },
  },
  {
    name: "deleteAccountData() deletes data of the account and of a room, also what is not there",
    covers: ["deleteAccountData"],
    async run(scene) {
      const [alice] = await scene.players("alice");
      const roomId = await roomOf(alice);
      const type = "com.example.settings";
      for (const options of [{}, { roomId }]) {
        await alice.setAccountData(type, { volume: 11 }, options);
        await alice.deleteAccountData(type, options);
        await alice.deleteAccountData(type, options);
      }
      assertEquals((await alice.listAccountData()).get(type) ?? {}, {}); // some servers keep the name
    },
  },
];
