import { assertEquals, assertNotEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import type { RoomID, UserID } from "@greenroom/matrix/types";
import type { Ours } from "../support/ours.ts";
import type { Peer } from "../support/peer/peer.ts";
import { forget, type Player, read, rotates, says, sceneTest, unread } from "../support/scene.ts";
import { WrongClock } from "../../lives/wrong_clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** How long mautrix uses a session in a room that asks for it, in milliseconds. */
const SHORT = 2_000;

/** Says something in the same session as before. */
async function stays(former: string, ...args: Parameters<typeof says>): Promise<void> {
  assertEquals(await says(...args), former, `another session: ${args[3]}`);
}

async function devicesOf(player: Player, userId: string): Promise<string[]> {
  const devices = "crypto" in player
    ? await player.crypto.getDevices(userId as UserID)
    : await player.devices(userId);
  return devices.map(({ deviceId }) => deviceId);
}

/** Waits until a peer knows that a device is gone. */
async function awaitGone(peer: Peer, userId: string, deviceId: string): Promise<void> {
  // Asked one after the other: it answers between two syncs.
  while ((await devicesOf(peer, userId)).includes(deviceId));
}

// nio rotates after 100 messages, whatever the room says.
sceneTest("S08 A session is replaced after as many messages as the room says", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room({ encryption: { rotation_period_msgs: 2 } });
  for (const [speaker, listeners] of [[ours, peers], ...peers.map((peer) => [peer, [ours]])] as Turn[]) {
    const first = await says(speaker, listeners, roomId, "one");
    if (speaker !== ours && (speaker as Peer).kind === "nio") continue;
    await stays(first, speaker, listeners, roomId, "two");
    const second = await rotates(first, speaker, listeners, roomId, "three");
    await stays(second, speaker, listeners, roomId, "four");
  }
});

type Turn = [Player, Player[]];

const clock = new WrongClock();

// js_sdk goes by the clock of its own process, and by no less than an hour; nio rotates after a
// week, whatever the room says.
sceneTest(
  "S09 A session is replaced after the time that the room says, but not in under an hour",
  async (scene) => {
    const { ours, peers } = scene;
    const roomId = await scene.room({ encryption: { rotation_period_ms: SHORT } });
    const first = await says(ours, peers, roomId, "at first");
    clock.offset = HOUR - MINUTE;
    await stays(first, ours, peers, roomId, "in under an hour");
    clock.offset += MINUTE;
    await rotates(first, ours, peers, roomId, "after an hour");
    await scene.answer(roomId);

    const mautrix = peers.filter(({ kind }) => kind === "mautrix");
    for (const peer of mautrix) {
      const begun = await says(peer, [ours], roomId, "at first");
      while (await says(peer, [ours], roomId, "once more") === begun);
    }
  },
  { clock },
);

sceneTest("S10 A session is replaced when a recipient leaves, is kicked, or is banned", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room({ preset: "public_chat", historyVisibility: "shared" });
  const witness = await scene.witness();
  const [leaving, kicked, banned] = peers as [Peer, Peer, Peer];
  await witness.join(roomId);
  await ours.member(roomId, witness.userId);
  const first = await says(ours, [witness, ...peers], roomId, "to all");
  await leaving.leave(roomId);
  await ours.member(roomId, leaving.userId, "leave");
  const second = await rotates(first, ours, [witness, kicked, banned], roomId, "without who left");
  await ours.client.kickUser(roomId as RoomID, kicked.user.userId);
  const third = await rotates(second, ours, [witness, banned], roomId, "without who was removed");
  await ours.client.banUser(roomId as RoomID, banned.user.userId);
  await rotates(third, ours, [witness], roomId, "without who was banned");
});

sceneTest(
  "S10 Peers replace their sessions when one of us leaves, is removed, or is banned",
  async (scene) => {
    const { ours, peers } = scene;
    const witness = await scene.witness();
    await Promise.all(peers.map(async (peer) => {
      const roomId = await peer.createRoom({ preset: "public_chat" });
      await ours.join(roomId);
      await peer.member(roomId, ours.userId);
      for (const action of ["leave", "kick", "ban"] as const) {
        forget(peer);
        await witness.client.joinRoom(roomId as RoomID);
        await peer.member(roomId, witness.userId);
        const session = await says(peer, [ours, witness], roomId, `before the ${action}`);
        if (action === "leave") await witness.client.leaveRoom(roomId as RoomID);
        else await peer[action](roomId, witness.userId);
        await peer.member(roomId, witness.userId, action === "ban" ? "ban" : "leave");
        await rotates(session, peer, [ours], roomId, `after the ${action}`);
      }
    }));
  },
);

sceneTest("S11 A session is replaced when a device that has it is logged out", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room();
  const keeping = await scene.witness();
  const leaving = await scene.witness(keeping.user);
  const all = [keeping, leaving];
  await ours.client.inviteUser(roomId as RoomID, keeping.userId);
  await keeping.joinInvited(roomId);
  for (const player of [ours, ...peers]) await player.member(roomId, keeping.userId);
  await ours.until(async () => (await devicesOf(ours, keeping.userId)).includes(leaving.deviceId));
  for (const peer of peers) for (const { userId, deviceId } of all) await peer.awaitDevice(userId, deviceId);
  const before = await says(ours, [...peers, ...all], roomId, "before");
  const theirs = await Promise.all(
    peers.map((peer) => says(peer, [ours, ...all], roomId, `of ${peer.kind}`)),
  );

  await leaving.client.logout();
  await ours.until(async () => !(await devicesOf(ours, keeping.userId)).includes(leaving.deviceId));
  await rotates(before, ours, [...peers, keeping], roomId, "after");
  for (const [index, peer] of peers.entries()) {
    await awaitGone(peer, leaving.userId, leaving.deviceId);
    await rotates(theirs[index] ?? "", peer, [ours, keeping], roomId, `after, of ${peer.kind}`);
  }
});

sceneTest(
  "S12 A session is replaced when a device is blocked, which learns why it can't read",
  async (scene) => {
    const { ours, peers } = scene;
    const roomId = await scene.room();
    let session = await says(ours, peers, roomId, "to all");
    for (const blocked of peers) {
      const others = peers.filter((peer) => peer !== blocked);
      await ours.setDeviceTrust(blocked, "blacklisted");
      const eventId = await ours.sendText(roomId, "secret");
      const [heard] = await read(others, eventId, "secret");
      assertNotEquals(heard?.sessionId, session);
      const [failure] = await unread([blocked], eventId);
      assertEquals(failure?.withheld, blocked.kind === "js_sdk" ? "MEGOLM_KEY_WITHHELD" : "m.blacklisted");
      await ours.setDeviceTrust(blocked, undefined);
      session = await says(ours, peers, roomId, `with ${blocked.kind}`);
    }
  },
);

// nio sends no notice when it withholds a key.
sceneTest("S12 Peers replace their sessions when they block our device, and we learn why", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room();
  const witness = await scene.witness();
  await ours.client.inviteUser(roomId as RoomID, witness.userId);
  await witness.joinInvited(roomId);
  for (const peer of peers) {
    await peer.member(roomId, witness.userId);
    await peer.awaitDevice(witness.userId, witness.deviceId);
    const session = await says(peer, [ours, witness], roomId, "to both");
    await peer.setDeviceTrust(ours.user, "blacklisted");
    const eventId = await peer.sendText(roomId, "secret");
    const [heard] = await read([witness], eventId, "secret");
    assertNotEquals(heard?.sessionId, session);
    const [failure] = await unread([ours], eventId);
    assertEquals(failure?.withheld, peer.kind === "nio" ? null : "m.blacklisted");
  }
});

// Of the peers only js_sdk does so too.
sceneTest("S13 A session is replaced when the room's history becomes visible to others", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room({ historyVisibility: "shared" });
  const [js] = peers.filter(({ kind }) => kind === "js_sdk") as [Peer];
  let session = await says(ours, peers, roomId, "at first");
  let theirs = await says(js, [ours], roomId, "at first");
  for (const visibility of ["joined", "invited"] as const) {
    const content = { history_visibility: visibility };
    await ours.client.sendStateEvent(roomId as RoomID, "m.room.history_visibility", content);
    for (const player of [ours, js]) {
      await player.first(
        "state",
        (event) => event.roomId === roomId && event.content.history_visibility === visibility,
      );
    }
    session = await rotates(session, ours, peers, roomId, visibility);
    theirs = await rotates(theirs, js, [ours], roomId, visibility);
  }
});

sceneTest(
  "S14 A session stays when a member has another name or a new device, and when we restart",
  async (scene) => {
    const { ours, peers } = scene;
    const roomId = await scene.room();
    const session = await says(ours, peers, roomId, "at first");
    for (const peer of peers) {
      const content = { membership: "join", displayname: peer.kind };
      await peer.setState(roomId, "m.room.member", content, peer.userId);
      await ours.first("state", ({ content: { displayname } }) => displayname === peer.kind);
    }
    await stays(session, ours, peers, roomId, "to other names");
    const young: Ours[] = [];
    for (const { user } of peers) {
      const device = await scene.witness(user);
      await ours.until(async () => (await devicesOf(ours, user.userId)).includes(device.deviceId));
      young.push(device);
    }
    await stays(session, ours, [...peers, ...young], roomId, "to more devices");
    await ours.stop();
    await ours.resume();
    await stays(session, ours, [...peers, ...young], roomId, "of a new process");
    await scene.answer(roomId);
  },
  { store: new MemoryStore() },
);
