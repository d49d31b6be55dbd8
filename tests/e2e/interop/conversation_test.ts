import { assert } from "@std/assert";
import type { RoomID } from "@greenroom/matrix/types";
import type { Ours } from "../support/ours.ts";
import type { Peer } from "../support/peer/peer.ts";
import { forget, read, says, type Scene, sceneTest, unread } from "../support/scene.ts";
import { newUser } from "../support/synapse.ts";

/** What stands before the reason of what we can't read. */
const NO_KEY = /^(MISSING_KEY|KEY_TOO_NEW): /;

/** A room of each peer, to which we are invited. */
async function roomsOfPeers({ ours, peers }: Scene): Promise<[Peer, string][]> {
  return await Promise.all(peers.map(async (peer): Promise<[Peer, string]> => {
    return [peer, await peer.createRoom({ invite: [ours.userId] })];
  }));
}

/** Each peer says something that we can't read. */
async function unheard(ours: Ours, rooms: Iterable<[Peer, string]>): Promise<void> {
  for (const [peer, eventId] of rooms) {
    const [failure] = await unread([ours], eventId);
    assert(NO_KEY.test(failure?.reason ?? ""), `${peer.kind}: ${failure?.reason}`);
  }
}

async function each<T>(rooms: [Peer, string][], work: (peer: Peer, roomId: string) => Promise<T>) {
  return await Promise.all(
    rooms.map(async ([peer, roomId]): Promise<[Peer, T]> => [peer, await work(peer, roomId)]),
  );
}

sceneTest("S01 Messages go both ways in an encrypted room, made by either", async (scene) => {
  const { ours } = scene;
  await scene.talk(await scene.room());
  await each(await roomsOfPeers(scene), async (peer, roomId) => {
    await ours.joinInvited(roomId);
    await peer.member(roomId, ours.userId);
    await says(peer, [ours], roomId, "there");
    await says(ours, [peer], roomId, "and back");
  });
});

sceneTest("S02 Who was invited reads on joining what we said before", async ({ ours, peers }) => {
  const roomId = await ours.createRoom({ invite: peers.map(({ userId }) => userId) });
  const early = await ours.sendText(roomId, "early");
  await Promise.all(peers.map((peer) => peer.joinInvited(roomId)));
  await read(peers, early, "early");
});

// mautrix gives keys to members only.
sceneTest("S02 Invited, we read on joining what peers said before", async (scene) => {
  const { ours } = scene;
  const rooms = await roomsOfPeers(scene);
  const sent = await each(rooms, (peer, roomId) => peer.sendText(roomId, peer.kind));
  for (const [, roomId] of rooms) await ours.joinInvited(roomId);
  for (const [peer, eventId] of sent) await read([ours], eventId, peer.kind);
}, { kinds: ["nio", "js_sdk"] });

sceneTest("S03 What was said before someone came to a public room stays unread", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await ours.createRoom({ preset: "public_chat", historyVisibility: "shared" });
  const early = await ours.sendText(roomId, "early");
  await Promise.all(peers.map((peer) => peer.join(roomId)));
  await unread(peers, early);
  for (const { userId } of peers) await ours.member(roomId, userId);
  await scene.talk(roomId);

  const rooms = await Promise.all(peers.map(async (peer): Promise<[Peer, string]> => {
    const options = { preset: "public_chat", historyVisibility: "shared" } as const;
    return [peer, await peer.createRoom(options)];
  }));
  const sent = await each(rooms, (peer, roomId) => peer.sendText(roomId, "early"));
  for (const [, roomId] of rooms) await ours.join(roomId);
  await unheard(ours, sent);
  await each(rooms, async (peer, roomId) => {
    await peer.member(roomId, ours.userId);
    await says(peer, [ours], roomId, "late");
  });
});

sceneTest("S04 What was said while someone was away stays unread", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room({ preset: "public_chat", historyVisibility: "shared" });
  await scene.talk(roomId);
  for (const peer of peers) {
    await peer.leave(roomId);
    await ours.member(roomId, peer.userId, "leave");
  }
  const away = await ours.sendText(roomId, "away");
  forget(ours);
  for (const peer of peers) {
    await peer.join(roomId);
    await ours.member(roomId, peer.userId);
  }
  await unread(peers, away);
  await scene.talk(roomId, "back");

  await ours.client.leaveRoom(roomId as RoomID);
  for (const peer of peers) await peer.member(roomId, ours.userId, "leave");
  const sent = await Promise.all(peers.map(async (peer): Promise<[Peer, string]> => {
    return [peer, await peer.sendText(roomId, "away")];
  }));
  forget(ours, ...peers);
  await ours.join(roomId);
  await unheard(ours, sent);
  for (const peer of peers) await peer.member(roomId, ours.userId);
  await scene.talk(roomId, "back");
});

sceneTest("S05 A new device reads nothing old, and all that is new", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room();
  const old = await ours.sendText(roomId, "old");
  await read(peers, old, "old");
  const sent = await Promise.all(peers.map(async (peer): Promise<[Peer, string]> => {
    return [peer, await peer.sendText(roomId, peer.kind)];
  }));
  for (const [peer, eventId] of sent) await read([ours], eventId, peer.kind);

  const young = await scene.witness(ours.user);
  await unheard(young, [...sent, ...peers.map((peer): [Peer, string] => [peer, old])]);
  for (const peer of peers) await peer.awaitDevice(young.userId, young.deviceId);
  for (const peer of peers) await says(peer, [ours, young], roomId, `new: ${peer.kind}`);

  const youngPeers = await scene.youngPeers();
  await unread(youngPeers, old);
  for (const { userId, deviceId } of youngPeers) await ours.until(() => knows(ours, userId, deviceId));
  await says(ours, [...peers, ...youngPeers], roomId, "new");
});

sceneTest(
  "S06 Who joins on another device than was invited does not read what came before",
  async (scene) => {
    const { ours, peers, server } = scene;
    const roomId = await ours.createRoom({ invite: peers.map(({ userId }) => userId) });
    const early = await ours.sendText(roomId, "early");
    const youngPeers = await scene.youngPeers();
    for (const peer of peers) await peer.logout();
    await Promise.all(youngPeers.map((peer) => peer.joinInvited(roomId)));
    await unread(youngPeers, early);
    for (const { userId } of peers) await ours.member(roomId, userId);
    await says(ours, youngPeers, roomId, "late");

    const user = await newUser(server, "swapped");
    const first = await scene.witness(user);
    const rooms = await Promise.all(youngPeers.map(async (peer): Promise<[Peer, string]> => {
      return [peer, await peer.createRoom({ invite: [user.userId] })];
    }));
    for (const [, roomId] of rooms) await first.invitation(roomId);
    const sent = await each(rooms, (peer, roomId) => peer.sendText(roomId, "early"));
    await first.client.logout();
    const second = await scene.witness(user);
    for (const [, roomId] of rooms) await second.joinInvited(roomId);
    await unheard(second, sent);
    await each(rooms, async (peer, roomId) => {
      await peer.member(roomId, user.userId);
      await peer.awaitDevice(user.userId, second.deviceId);
      await says(peer, [second], roomId, "late");
    });
  },
);

// Peers are told of invitations by the server: what they do before they know is nothing of ours.
sceneTest(
  "S07 A user whom we have invited has the key of the next message immediately",
  async ({ ours, peers }) => {
    const roomId = await ours.createRoom();
    await ours.sendText(roomId, "without recipients");
    for (const [index, peer] of peers.entries()) {
      await ours.client.inviteUser(roomId, peer.user.userId);
      const eventId = await ours.sendText(roomId, `at once ${index}`);
      await peer.joinInvited(roomId);
      await read([peer], eventId, `at once ${index}`);
    }
  },
);

async function knows(ours: Ours, userId: string, deviceId: string): Promise<boolean> {
  const devices = await ours.crypto.getDevices(userId as Ours["userId"]);
  return devices.some((device) => device.deviceId === deviceId);
}
