/**
 * Rooms of which a client is never told that they were encrypted:
 * the homeserver was restored from a backup of its database, and takes that for told.
 */

import { assertEquals } from "@std/assert";
import type { Client } from "@greenroom/matrix";
import { begin, MEGOLM } from "../support/encrypted_room.ts";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { EVERYBODY } from "../../support/everybody.ts";

/** A server that can be away, and then shows in no sync that a room was encrypted. */
function restorable({ homeserver }: ClientStage) {
  const state = { isAway: false, isRestored: false };
  const fetching: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    const response = await homeserver.fetch(request);
    if (!request.url.includes("/v3/sync")) return response;
    if (state.isAway) throw new TypeError("The connection was lost");
    if (!state.isRestored) return response;
    const shown = JSON.parse(
      await response.text(),
      (_, value) => Array.isArray(value) ? value.filter((each) => each?.type !== "m.room.encryption") : value,
    );
    return Response.json(shown);
  };
  return { state, fetch: fetching };
}

/** Alice has said something in a room in clear, where Bob is, too. */
async function scene(stage: ClientStage, follow: (alice: Client) => Promise<unknown>) {
  const { state, fetch } = restorable(stage);
  const [alice, bob] = [stage.client("alice", { encryption: EVERYBODY, fetch }), stage.client("bob")];
  await begin(stage, bob);
  const roomId = await bob.createRoom({ preset: "public_chat" });
  await alice.joinRoom(roomId);
  await follow(alice);
  await stage.settle();
  /** The type of what Alice says as others see it, and how often she has asked about the room before. */
  const says = async (): Promise<[string, number]> => {
    stage.homeserver.requests.clear();
    const eventId = await alice.sendText(roomId, "Hello");
    const { type } = await bob.getEvent(roomId, eventId);
    const count = stage.homeserver.requests.filter("GET", /state\/m\.room\.encryption/).length;
    await stage.settle();
    return [type, count];
  };
  const encrypt = async (): Promise<void> => {
    await bob.sendStateEvent(roomId, "m.room.encryption", MEGOLM);
    await stage.settle();
  };
  return { state, alice, says, encrypt };
}

Deno.test("A client whose sync has failed asks once more whether a room is encrypted", async () => {
  await using stage = clientStage();
  const { state, says, encrypt } = await scene(stage, (alice) => begin(stage, alice));
  assertEquals([await says(), await says()], [["m.room.message", 1], ["m.room.message", 0]]);
  state.isAway = true;
  await encrypt();
  Object.assign(state, { isAway: false, isRestored: true });
  for (let rounds = 0; rounds < 20; rounds++) await stage.clock.tick(1_000);
  assertEquals(await says(), ["m.room.encrypted", 1]);
});

Deno.test("A client that syncs from time to time asks each time whether a room is encrypted", async () => {
  await using stage = clientStage();
  const { state, alice, says, encrypt } = await scene(stage, (alice) => alice.syncOnce());
  assertEquals([await says(), await says()], [["m.room.message", 1], ["m.room.message", 0]]);
  await encrypt();
  state.isRestored = true;
  await stage.clock.tick(5_000);
  await alice.syncOnce();
  assertEquals(await says(), ["m.room.encrypted", 1]);
});
