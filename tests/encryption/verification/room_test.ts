import { assert, assertEquals } from "@std/assert";
import {
  PaginationDirection,
  RoomCreatePreset,
  type RoomID,
  type VerificationRequest,
} from "@greenroom/matrix/types";
import { type Client, MemoryStore } from "@greenroom/matrix";
import { EVERYBODY } from "../../support/everybody.ts";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { KEY } from "../identity/scene.ts";
import { ALICE, BOB, nextRequest, reach, synced } from "./pair.ts";

/** A room that both are in. */
async function sharedRoom(
  here: ClientStage,
  [alice, bob]: readonly [Client, Client],
  { isEncrypted }: { readonly isEncrypted: boolean },
): Promise<RoomID> {
  const encryption = { type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } };
  const initialState = isEncrypted ? [encryption] : [];
  const roomId = await alice.createRoom({ invitees: [BOB], preset: RoomCreatePreset.PRIVATE, initialState });
  await bob.joinRoom(roomId);
  await here.settle();
  return roomId;
}

for (const isEncrypted of [true, false]) {
  const name = isEncrypted ? "an encrypted room, and nobody reads along" : "a room that is not encrypted";
  Deno.test(`Two users verify each other in ${name}`, async () => {
    await using here = clientStage();
    const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob")];
    const roomId = await sharedRoom(here, [alice, bob], { isEncrypted });
    let mine: VerificationRequest | undefined;
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
    assert((await mine.done).isDeviceVerified);
    await here.settle();
    const { chunk } = await alice.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
    const clear = chunk.filter(({ type }) => type.startsWith("m.key.verification"));
    assertEquals(clear.length > 0, !isEncrypted);
  });
}

Deno.test("C18: in a room, too, the next process calls off what was under way", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const [alice, bob] = [await synced(here, "alice"), await synced(here, "bob", { store })];
  const roomId = await sharedRoom(here, [alice, bob], { isEncrypted: true });
  let mine: VerificationRequest | undefined;
  alice.crypto?.requestVerification({ userId: BOB, roomId }).then((request) => mine = request);
  const theirs = await nextRequest(here, bob);
  await here.until(() => mine !== undefined);
  assert(mine !== undefined);
  await theirs.accept();
  await reach(here, "ready", mine);
  await bob.close();
  await synced(here, "bob", { store });
  await reach(here, "cancelled", mine);
  assertEquals([mine.cancellation?.code, mine.cancellation?.by], ["m.unknown_transaction", "them"]);
});

Deno.test("idle() waits for what a verification sends to a room, and so does start() when it ends", async () => {
  await using here = clientStage();
  const [alice, bob] = [await synced(here, "alice"), here.client("bob", { encryption: EVERYBODY })];
  const running = bob.start();
  await here.settle();
  const roomId = await sharedRoom(here, [alice, bob], { isEncrypted: false });
  alice.crypto?.requestVerification({ userId: BOB, roomId });
  const theirs = await nextRequest(here, bob);
  const held = here.homeserver.faults.add({ kind: "hold", match: { path: "/send/", user: BOB } });
  await theirs.accept();
  const told: string[] = [];
  bob.crypto?.idle().then(() => told.push("idle"));
  await here.settle();
  await bob.stop();
  running.then(() => told.push("ended"));
  await here.settle();
  assertEquals(told, []);
  held.release();
  await here.until(() => told.length === 2);
  const { chunk } = await alice.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
  assertEquals(chunk[0]?.type, "m.key.verification.ready");
});

Deno.test("A device that nobody has signed verifies with a bot in an encrypted room by default, and is heard only then", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice");
  const bob = await synced(here, "bob", { encryption: { recoveryKey: KEY } });
  const roomId = await sharedRoom(here, [alice, bob], { isEncrypted: true });
  const told: string[] = [];
  bob.on("m.room.message", ({ content }) => void told.push(content.msgtype));
  bob.on("UNDECRYPTABLE", ({ code }) => void told.push(code));
  await alice.sendText(roomId, "not heard");
  let mine: VerificationRequest | undefined;
  alice.crypto?.requestVerification({ userId: BOB, roomId }).then((request) => mine = request);
  const theirs = await nextRequest(here, bob);
  await here.until(() => mine !== undefined);
  assert(mine !== undefined);
  assertEquals(theirs.deviceId, alice.deviceId);
  await theirs.accept();
  await reach(here, "ready", mine, theirs);
  await mine.startSas();
  await reach(here, "comparing", mine, theirs);
  assertEquals(mine.comparison, theirs.comparison);
  await here.settle();
  assertEquals(new Set(told), new Set(["UNTRUSTED"]), "no handler has heard a word of it");
  await mine.confirm();
  await theirs.confirm();
  await reach(here, "done", mine, theirs);
  await alice.sendText(roomId, "heard");
  await here.until(() => told.filter((each) => each === "m.text").length === 2);
  const [device] = await bob.crypto?.getDevices(ALICE) ?? [];
  assertEquals(device?.trust, "verified");
});

Deno.test("A bot asks a user whose devices nobody has signed in an encrypted room, in clear", async () => {
  await using here = clientStage();
  const alice = await synced(here, "alice");
  const bob = await synced(here, "bob", { encryption: { recoveryKey: KEY } });
  const roomId = await sharedRoom(here, [alice, bob], { isEncrypted: true });
  let theirs: VerificationRequest | undefined;
  bob.crypto?.requestVerification({ userId: ALICE, roomId }).then((request) => theirs = request);
  const mine = await nextRequest(here, alice);
  await here.until(() => theirs !== undefined);
  assert(theirs !== undefined);
  await mine.accept();
  await reach(here, "ready", mine, theirs);
  const { chunk } = await alice.getMessages(roomId, PaginationDirection.BACKWARD, undefined);
  const types = chunk.map(({ type, sender }) => `${type} by ${sender}`).slice(0, 2);
  assertEquals(types, [`m.room.encrypted by ${ALICE}`, `m.room.message by ${BOB}`]);
});
