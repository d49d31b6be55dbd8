import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { UnsupportedAlgorithmError } from "@greenroom/matrix/errors";
import type { RoomID } from "@greenroom/matrix/types";
import type { Ours } from "../support/ours.ts";
import type { Peer } from "../support/peer/peer.ts";
import { PEER_KINDS } from "../support/peer/peer_kind.ts";
import { forget, read, rotates, says, type Scene, sceneTest } from "../support/scene.ts";
import type { TestUser } from "../support/synapse.ts";

/** More than a sync brings of one room. */
const MANY = 30;

/** What a user asks of the server without a library. */
async function ask(
  { server }: Scene,
  user: TestUser,
  path: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const response = await fetch(`${server.baseUrl}/_matrix/client/v3/${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { authorization: `Bearer ${user.accessToken}` },
    body: JSON.stringify(body),
  });
  assert(response.ok, path);
  return await response.json();
}

/** The type of an event as the server has it. */
async function typeOnServer(scene: Scene, roomId: string, eventId: string): Promise<unknown> {
  return (await ask(scene, scene.ours.user, `rooms/${roomId}/event/${eventId}`)).type;
}

sceneTest(
  "S55 A room whose encryption was redacted stays encrypted, also after a restart",
  async (scene) => {
    const { ours, peers } = scene;
    const roomId = await scene.room() as RoomID;
    await scene.talk(roomId, "before");
    const events = await ours.client.getState(roomId);
    const encryption = events.find(({ type }) => type === "m.room.encryption");
    assert(encryption !== undefined);
    const redaction = await ours.client.redact(roomId, encryption.event_id);
    for (const peer of peers) await peer.message(({ eventId }) => eventId === redaction);
    assertEquals(await ours.client.getStateEvent(roomId, "m.room.encryption"), {} as never);
    await scene.talk(roomId, "after");
    await ours.stop();
    await ours.resume();
    await scene.talk(roomId, "of a new process");

    const witness = await scene.witness();
    await ours.client.inviteUser(roomId, witness.userId);
    await witness.joinInvited(roomId);
    await assertRejects(() => witness.sendText(roomId, "how?"), UnsupportedAlgorithmError);
  },
  // matrix-js-sdk 43 keeps the algorithm in the event itself, and its redaction takes it away.
  { store: new MemoryStore(), kinds: PEER_KINDS.filter((kind) => kind !== "js_sdk") },
);

sceneTest("S56 A room that takes the place of an encrypted one is encrypted", async (scene) => {
  const { ours, peers } = scene;
  const old = await scene.room() as RoomID;
  await scene.talk(old);
  const roomId = await ours.client.upgradeRoom(old, "11");
  const early = await ours.sendText(roomId, "at once");
  assertEquals(await typeOnServer(scene, roomId, early), "m.room.encrypted");
  for (const { user } of peers) await ours.client.inviteUser(roomId, user.userId);
  await Promise.all(peers.map((peer) => peer.joinInvited(roomId)));
  for (const { userId } of peers) await ours.member(roomId, userId);
  await scene.talk(roomId);
});

sceneTest("S56 A room in which a peer takes us from an encrypted one is encrypted", async (scene) => {
  const { ours, peers } = scene;
  await Promise.all(peers.map(async (peer) => {
    const old = await peer.createRoom({ invite: [ours.userId] });
    await ours.joinInvited(old);
    const { replacement_room } = await ask(scene, peer.user, `rooms/${old}/upgrade`, { new_version: "11" });
    const roomId = String(replacement_room);
    await peer.invite(roomId, ours.userId);
    await ours.joinInvited(roomId);
    await peer.member(roomId, ours.userId);
    await says(peer, [ours], roomId, "there");
    await says(ours, [peer], roomId, "and back");
  }));
});

sceneTest("S56 We say nothing in clear where a room's encryption was left behind", async (scene) => {
  const { ours, peers } = scene;
  for (const peer of peers) {
    const old = await peer.createRoom({ invite: [ours.userId] });
    await ours.joinInvited(old);
    const { room_id } = await ask(scene, peer.user, "createRoom", {
      preset: "private_chat",
      invite: [ours.userId],
      creation_content: { predecessor: { room_id: old } },
    });
    const roomId = String(room_id);
    await ours.joinInvited(roomId);
    const eventId = await ours.sendText(roomId, "not in clear");
    assertEquals(await typeOnServer(scene, roomId, eventId), "m.room.encrypted");
    await read([peer], eventId, "not in clear");
  }
});

sceneTest(
  "S67 A user who shared no room with us for a while exchanges messages on a new device",
  async (scene) => {
    const { ours, peers } = scene;
    const roomId = await scene.room({ preset: "public_chat" });
    await scene.talk(roomId);
    for (const peer of peers) {
      await peer.leave(roomId);
      await ours.member(roomId, peer.userId, "leave");
    }
    const young = await scene.youngPeers();
    for (const peer of peers) await peer.logout();
    forget(ours);
    for (const peer of young) {
      await peer.join(roomId);
      await ours.member(roomId, peer.userId);
      await says(ours, [peer], roomId, `to ${peer.kind}`);
      await says(peer, [ours], roomId, `of ${peer.kind}`);
    }

    await ours.client.leaveRoom(roomId as RoomID);
    for (const peer of young) await peer.member(roomId, ours.userId, "leave");
    const again = await scene.witness(ours.user);
    await ours.client.logout();
    forget(...young);
    await again.join(roomId);
    for (const peer of young) {
      await peer.member(roomId, ours.userId);
      await says(peer, [again], roomId, `${peer.kind} to the new one`);
      await says(again, [peer], roomId, `the new one to ${peer.kind}`);
    }
  },
);

// What peers do after a sync with a gap is theirs: none can be stopped without losing its session
// but mautrix.
sceneTest("S68 A session is replaced when a sync hides who came and went", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room({ preset: "public_chat" });
  const [staying, passing] = await Promise.all([scene.witness(), scene.witness()]) as [Ours, Ours];
  await staying.join(roomId);
  await ours.member(roomId, staying.userId);
  let session = await says(ours, [...peers, staying], roomId, "before");
  for (const [who, body] of [[passing, "who passed through"], [staying, "who left"]] as const) {
    await ours.stop();
    if (who === passing) await who.join(roomId);
    await who.client.leaveRoom(roomId as RoomID);
    const [peer] = peers as [Peer];
    for (let count = 0; count < MANY; count++) {
      await peer.sendClear(roomId, "m.room.message", { msgtype: "m.text", body: `${count}` });
    }
    forget(ours);
    await ours.resume();
    session = await rotates(session, ours, peers, roomId, `without ${body}`);
    assert(!ours.seen.some((event) => event.event === "message" && event.body === "0"));
    await scene.answer(roomId, body);
  }
}, { store: new MemoryStore(), encryption: { unencrypted: "deliver" } });
