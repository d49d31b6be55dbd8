/**
 * T68: The server accepts that this client encrypts a room, and then hides it.
 *
 * It leaves `m.room.encryption` out of its sync responses and answers 404 to requests for it, so
 * that events for an encrypted room would go out in clear. A room is known to be encrypted by what
 * the server accepted from this client, before the call resolves: a room that was made encrypted,
 * one that was set to be, and the replacement of an encrypted room; after a restart too.
 *
 * The class of mistake: knowledge comes only from what the other side shows, and what it has
 * accepted from us is forgotten.
 */

import { assert, assertEquals } from "@std/assert";
import { type Client, type ClientOptions, MemoryStore } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { begin } from "../../../client/support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../../../client/support/stage.ts";
import { copyOf } from "../../../client/support/store_copy.ts";
import { hiding } from "../hiding.ts";
import { EVERYBODY } from "../../../support/everybody.ts";

const CONTENT = { algorithm: "m.megolm.v1.aes-sha2" };
const EVENT = { type: "m.room.encryption", content: CONTENT } as const;

/** The ways in which this client makes a room encrypted. */
const WAYS: Record<string, (client: Client) => Promise<RoomID>> = {
  "createRoom() with initialState": (client) =>
    client.createRoom({ initialState: [{ ...EVENT, state_key: "" }] }),
  "createRoom() with initialState without a state key": (client) =>
    client.createRoom({ initialState: [EVENT] }),
  "createRoom() with more fields": (client) =>
    client.createRoom({ customRequestFields: { initial_state: [EVENT] } }),
  "sendStateEvent()": async (client) => {
    const roomId = await client.createRoom();
    await client.sendText(roomId, "in clear", { disableEncryption: true });
    await client.sendStateEvent(roomId, "m.room.encryption", CONTENT);
    return roomId;
  },
  "upgradeRoom()": async (client) => {
    const roomId = await client.createRoom({ initialState: [EVENT] });
    return await client.upgradeRoom(roomId, "10");
  },
};

/** The types of what has arrived in a room but state, the last ones. */
function arrived({ homeserver }: ClientStage, roomId: RoomID): string[] {
  return homeserver.room(roomId).messages.map(({ type }) => type);
}

for (const [name, make] of Object.entries(WAYS)) {
  Deno.test(`T68: what ${name} made encrypted stays so for a server that hides it, over a restart too`, async () => {
    await using stage = clientStage();
    const store = new MemoryStore();
    const options: Partial<ClientOptions> = { encryption: EVERYBODY, store, fetch: hiding(stage) };
    for (const follows of [true, false]) {
      const alice = stage.client("alice", options);
      if (follows) await begin(stage, alice);
      const roomId = await make(alice);
      const before = arrived(stage, roomId).length;
      await alice.sendText(roomId, "at once");
      await stage.settle();
      await alice.sendText(roomId, "after a sync");
      await alice.close();
      const again = stage.client("alice", options);
      if (follows) await begin(stage, again);
      await again.sendText(roomId, "after a restart");
      await again.close();
      assertEquals(
        arrived(stage, roomId).slice(before),
        Array(3).fill("m.room.encrypted"),
        `follows: ${follows}`,
      );
    }
  });
}

Deno.test("T68: a process that is killed once the call has resolved leaves a store that knows", async () => {
  await using stage = clientStage();
  const store = new MemoryStore();
  const alice = stage.client("alice", { encryption: EVERYBODY, store, fetch: hiding(stage) });
  const roomId = await alice.createRoom({ initialState: [EVENT] });
  const left = await copyOf(store);
  const again = stage.client("alice", { store: left, fetch: hiding(stage) });
  await stage.clock.tick(60_000);
  assert(await again.stateStore.isEncrypted(roomId));
});

Deno.test("T68: a room that was made without encryption is not encrypted", async () => {
  await using stage = clientStage();
  const alice = stage.client("alice", { encryption: EVERYBODY });
  for (
    const initialState of [undefined, [{ ...EVENT, state_key: "elsewhere" }], [{
      type: "m.room.topic",
      content: { topic: "t" },
    }]]
  ) {
    const roomId = await alice.createRoom({ initialState });
    await alice.sendText(roomId, "hello");
    const successor = await alice.upgradeRoom(roomId, "10");
    await alice.sendText(successor, "hello");
    assertEquals([roomId, successor].map((room) => arrived(stage, room)), [["m.room.message"], [
      "m.room.message",
    ]]);
  }
});
