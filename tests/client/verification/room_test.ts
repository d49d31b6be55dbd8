import { assert, assertEquals } from "@std/assert";
import { PaginationDirection, RoomCreatePreset, type RoomID } from "@greenroom/matrix/types";
import type { Client } from "@greenroom/matrix";
import { type ClientStage, clientStage } from "../support/stage.ts";
import { ALICE, BOB, nextRequest, reach, synced } from "./pair.ts";

/** An encrypted room that both are in. */
async function sharedRoom(here: ClientStage, alice: Client, bob: Client): Promise<RoomID> {
  const initialState = [{ type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } }];
  const roomId = await alice.createRoom({ invitees: [BOB], preset: RoomCreatePreset.PRIVATE, initialState });
  await bob.joinRoom(roomId);
  await here.settle();
  return roomId;
}

Deno.test("Two users verify each other in an encrypted room, and nobody reads along", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
  const roomId = await sharedRoom(here, alice, bob);
  let mine: Awaited<ReturnType<NonNullable<Client["crypto"]>["requestVerification"]>> | undefined;
  alice.crypto?.requestVerification({ userId: BOB, roomId }).then((request) => mine = request);
  const theirs = await nextRequest(here, bob);
  await here.until(() => mine !== undefined);
  assert(mine !== undefined);
  assertEquals([theirs.userId, theirs.roomId, theirs.deviceId], [ALICE, roomId, alice.deviceId]);
  await theirs.accept();
  await reach(here, "ready", mine, theirs);
  await theirs.startSas();
  await reach(here, "comparing", mine, theirs);
  assertEquals(mine.comparison, theirs.comparison);
  await mine.confirm();
  await theirs.confirm();
  await reach(here, "done", mine, theirs);
  assert((await mine.done).device);
  await here.settle();
  const { chunk } = await alice.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
  const clear = chunk.filter(({ type }) => type.startsWith("m.key.verification"));
  assertEquals(clear, []);
});
