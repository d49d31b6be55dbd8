import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { copyOf, Life } from "../support/faulty/life.ts";
import { HeldMail } from "../support/faulty/mail.ts";
import { FaultyNetwork } from "../support/faulty/network.ts";
import { Peers, roomWith, says, talkToAll } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { PEER_KINDS } from "../support/peer/peer_kind.ts";
import { eachPeer, peerTest } from "../support/peer/peer_test_case.ts";
import { newUser } from "../support/synapse.ts";

const SYNC = /\/sync$/;
const SEND_TO_DEVICE = /\/sendToDevice\//;
/** How many messages to a device we get, and how many each peer gets. */
const MANY = { ours: 201, peers: 50 };

for (const committing of [false, true]) {
  const when = committing ? "after it has been committed" : "before it is committed";
  peerTest(`S23 A key is not lost with the process that received it, ${when}`, PEER_KINDS, async (server) => {
    await using peers = await Peers.start(server);
    const store = new MemoryStore();
    const [first, second] = [new Life(store), new Life(store)];
    await using ours = await Ours.start(server, "ours", { store: first.store, fetch: first.network.fetch });
    const roomId = await roomWith(ours, peers.all);
    const commits = { left: 0 };
    first.network.changing(SYNC, (answer) => {
      if (answer.to_device?.events.length > 0) commits.left ||= committing ? 2 : 1;
    });
    first.endBeforeCommit(() => commits.left > 0 && --commits.left === 0);
    const sent = await Promise.all(peers.all.map((peer) => peer.sendText(roomId, peer.kind)));
    await first.ended;
    await ours.stop();
    await ours.resume({ store: second.store, fetch: second.network.fetch });
    for (const eventId of sent) {
      assert((await ours.message((message) => message.eventId === eventId)).encrypted);
    }
    await talkToAll(ours, peers.all, roomId, "in another life");
  });
}

peerTest(
  "S24 Two hundred messages to a device are read by us, and many of ours by peers",
  PEER_KINDS,
  async (server) => {
    const network = new FaultyNetwork();
    await using peers = await Peers.start(server);
    const user = await newUser(server, "ours", { unlimited: "people" });
    await using ours = await Ours.start(server, "ours", { user, fetch: network.fetch });
    const roomId = await roomWith(ours, peers.all);
    await talkToAll(ours, peers.all, roomId, "first");
    using mail = new HeldMail(network, ({ type }) => type === "m.room.encrypted");
    const sent = await Promise.all(peers.all.map(async (peer) => {
      const eventIds: string[] = [];
      for (let count = 0; count < MANY.ours / peers.all.length; count++) {
        await peer.rotate(roomId);
        eventIds.push(await peer.sendText(roomId, `${peer.kind} ${count}`));
        // A sync shows ten at most, and there are three peers.
        await ours.outcome(eventIds.at(-2) ?? eventIds[0] ?? "");
      }
      return eventIds;
    }));
    await mail.until(MANY.ours);
    void mail.release();
    for (const eventId of sent.flat()) await ours.message((message) => message.eventId === eventId);
    const read: string[] = [];
    for (let count = 0; count < MANY.peers; count++) {
      await ours.crypto.discardGroupSession(roomId);
      read.push(await ours.sendText(roomId, `ours ${count}`));
      // A sync shows ten at most, and a peer that is slow does not ask for more.
      for (const peer of peers.all) await peer.message(({ eventId }) => eventId === (read.at(-5) ?? read[0]));
    }
    for (const peer of peers.all) {
      for (const each of read) await peer.message(({ eventId }) => eventId === each);
    }
  },
);

peerTest("S25 A hundred devices get the key in one request", PEER_KINDS, async (server) => {
  const network = new FaultyNetwork();
  await using peers = await Peers.start(server);
  await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
  const many = await newUser(server, "many");
  const devices = [many];
  devices.push(...await Promise.all(Array.from({ length: 96 }, () => newDevice(server, many))));
  const roomId = await roomWith(ours, peers.all);
  // Each comes once, publishes its keys, and goes.
  const begun: Ours[] = [];
  for (const user of devices) begun.push(await Ours.launch(server, "many", { user }));
  const [one] = begun;
  assert(one !== undefined);
  await ours.client.inviteUser(roomId, many.userId);
  await one.joinInvited(roomId);
  await ours.member(roomId, many.userId);
  network.requests.length = 0;
  await talkToAll(ours, peers.all, roomId, "to a hundred");
  const [request, ...others] = network.to(SEND_TO_DEVICE);
  const { messages } = JSON.parse(request?.body ?? "{}");
  const count = Object.values<object>(messages).reduce((sum, each) => sum + Object.keys(each).length, 0);
  assertEquals([count, others.length], [100, 0]);
  await Promise.all(begun.map((each) => each.stop()));
});

for (const reaching of [false, true]) {
  const when = reaching ? "after" : "before";
  peerTest(
    `S26 Who is killed ${when} the keys have arrived sends them again, the same, and the notices behind them`,
    PEER_KINDS,
    async (server) => {
      await using peers = await Peers.start(server);
      const store = new MemoryStore();
      const [first, second] = [new Life(store), new Life(store)];
      await using ours = await Ours.start(server, "ours", { store: first.store, fetch: first.network.fetch });
      const roomId = await roomWith(ours, peers.all);
      const [blocked, ...others] = peers.all;
      assert(blocked !== undefined);
      await ours.setDeviceTrust(blocked, "blacklisted");
      first.endAt(SEND_TO_DEVICE, { reaching });
      ours.sendText(roomId, "never sent").catch(() => {}); // it ends with the process
      await first.ended;
      await ours.stop();
      await ours.resume({ store: second.store, fetch: second.network.fetch });
      const eventId = await ours.sendText(roomId, "in another life");
      const [before] = first.network.to(SEND_TO_DEVICE);
      const [after, notices] = second.network.to(SEND_TO_DEVICE);
      assertEquals(after, before);
      assert(notices?.path.includes("m.room_key.withheld"));
      for (const peer of others) assert(!(await peer.message((message) => message.eventId === eventId)).late);
      await blocked.undecryptable((event) => event.eventId === eventId);
    },
  );
}

peerTest(
  "S35 A store of ours that was set back is noticed, and what follows is read",
  PEER_KINDS,
  async (server) => {
    await using peers = await Peers.start(server);
    const store = new MemoryStore();
    await using ours = await Ours.start(server, "ours", { store });
    const roomId = await roomWith(ours, peers.all);
    await talkToAll(ours, peers.all, roomId, "one");
    const old = await copyOf(store);
    await talkToAll(ours, peers.all, roomId, "two");
    await ours.stop();
    await ours.resume({ store: old });
    await talkToAll(ours, peers.all, roomId, "three");
    for (const peer of peers.all) {
      await peer.rotate(roomId);
      await says(peer, ours, roomId, `${peer.kind} with another key`);
    }
  },
);

// That a second process with the same store and device is shut out is a matter of leases.
eachPeer("S71 Two devices of a user that share a store are told apart", async (kind, server) => {
  await using peer = await Peer.start(kind, server, "peer");
  const store = new MemoryStore();
  await using ours = await Ours.start(server, "ours", { store });
  const user = await newDevice(server, ours.user);
  await using other = await Ours.start(server, "ours", { user, store });
  const [one, two] = [await ours.crypto.getOwnDeviceKeys(), await other.crypto.getOwnDeviceKeys()];
  assert(one.ed25519 !== two.ed25519 && one.curve25519 !== two.curve25519);
  const roomId = await roomWith(ours, [peer]);
  await other.member(roomId, peer.userId);
  const eventId = await peer.sendText(roomId, "to both");
  for (const each of [ours, other]) {
    assert((await each.message((message) => message.eventId === eventId)).encrypted);
  }
  for (const each of [ours, other]) await says(each, peer, roomId, `from ${each.deviceId}`);
});
