import { assert, assertEquals, assertRejects } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { EncryptionError } from "@greenroom/matrix/errors";
import { drainKeys } from "../support/faulty/keys.ts";
import { Life } from "../support/faulty/life.ts";
import { HeldMail } from "../support/faulty/mail.ts";
import { FaultyNetwork } from "../support/faulty/network.ts";
import { Peers, roomWith, says, talk, talkToAll } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { PEER_KINDS } from "../support/peer/peer_kind.ts";
import { eachPeer, peerTest } from "../support/peer/peer_test_case.ts";
import { Proxy } from "../support/proxy.ts";
import { WrongClock } from "../../lives/wrong_clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const UPLOAD = /\/keys\/upload$/;
const QUERY = /\/keys\/query$/;
const CLAIM = /\/keys\/claim$/;
const SEND_TO_DEVICE = /\/sendToDevice\//;
/** Tries again soon, so that the test does not wait. */
const RETRY = { base: 10, cap: 100 };

peerTest(
  "S15 Peers reach us by the fallback key when the one-time keys have run out",
  PEER_KINDS,
  async (server) => {
    await using peers = await Peers.start(server);
    await using ours = await Ours.start(server, "ours", { store: new MemoryStore() });
    const roomId = await roomWith(ours, peers.all);
    const [first] = peers.all;
    assert(first !== undefined);
    await ours.stop();
    assertEquals(await drainKeys(server, first.user, ours), { drained: 50, hasFallback: true });
    const sent = await Promise.all(peers.all.map((peer) => peer.sendText(roomId, peer.kind)));
    await ours.resume();
    for (const eventId of sent) {
      const heard = await ours.message((message) => message.eventId === eventId);
      assert(heard.encrypted && !heard.late);
    }
    await talkToAll(ours, peers.all, roomId, "with new keys");
  },
);

// nio and mautrix have no fallback key.
peerTest("S15 Two of us reach a peer by its fallback key, with js_sdk", ["js_sdk"], async (server) => {
  await using proxy = new Proxy(server);
  await using peer = await Peer.start("js_sdk", server, "peer", { homeserver: proxy.homeserver });
  await using one = await Ours.start(server, "one");
  await using other = await Ours.start(server, "other");
  const rooms = [await roomWith(one, [peer]), await roomWith(other, [peer])] as const;
  const failing = proxy.network.failing(UPLOAD);
  assert((await drainKeys(server, one.user, peer)).hasFallback);
  await says(one, peer, rooms[0], "by the fallback key");
  await says(other, peer, rooms[1], "by the same key");
  failing[Symbol.dispose](); // js_sdk sends nothing as long as its uploads fail
  for (const [ours, roomId] of [[one, rooms[0]], [other, rooms[1]]] as const) {
    await says(peer, ours, roomId, "and back");
  }
});

peerTest(
  "S16 A fallback key that was used is replaced after an hour, and what comes by the old one is read for another hour",
  PEER_KINDS,
  async (server) => {
    const [network, clock] = [new FaultyNetwork(), new WrongClock()];
    await using peers = await Peers.start(server);
    const options = { store: new MemoryStore(), fetch: network.fetch, clock };
    await using ours = await Ours.start(server, "ours", options);
    const roomId = await roomWith(ours, peers.all);
    const [first, second, last] = peers.all;
    assert(first !== undefined && second !== undefined && last !== undefined);
    await ours.stop();
    await drainKeys(server, first.user, ours);
    await Promise.all(peers.all.map((peer) => peer.sendText(roomId, peer.kind)));
    using mail = new HeldMail(network, ({ type }) => type === "m.room.encrypted");
    clock.offset += HOUR;
    network.requests.length = 0;
    await ours.resume();
    await mail.until(3);
    await network.first(({ path, body }) => UPLOAD.test(path) && "fallback_keys" in JSON.parse(body));
    const late = mail.held.filter(({ sender }) => sender === last.userId);
    await mail.release({ arrange: (mails) => mails.filter((each) => !late.includes(each)), goOn: true });
    for (const { userId, kind } of [first, second]) {
      const heard = await ours.message(({ sender }) => sender === userId);
      assertEquals([heard.body, heard.late], [kind, true]);
    }
    clock.offset += HOUR;
    mail.held.push(...late);
    await mail.release();
    await last.toDevice(({ type }) => type === "m.dummy"); // we could not read it
    await last.rotate(roomId);
    await says(last, ours, roomId, "over the new session");
    assert(!ours.seen.some((event) => event.event === "message" && event.body === last.kind));
  },
);

// How a peer repeats its own uploads, claims and queries is its own affair: faults are on our side
// in what follows.

peerTest("S17 An upload of keys that fails is repeated with the same keys", PEER_KINDS, async (server) => {
  const network = new FaultyNetwork();
  network.failing(UPLOAD, { times: 2 });
  await using peers = await Peers.start(server);
  await using ours = await Ours.start(server, "ours", { fetch: network.fetch, retry: RETRY });
  await network.first(() => network.to(UPLOAD).length >= 3);
  const [one, ...others] = network.to(UPLOAD).slice(0, 3);
  assert(others.every(({ body }) => body === one?.body));
  await talkToAll(ours, peers.all, await roomWith(ours, peers.all), "once it worked");
});

for (const reaching of [false, true]) {
  peerTest(
    `S18 Who is killed ${reaching ? "after" : "before"} an upload of keys has arrived uploads the same keys`,
    PEER_KINDS,
    async (server) => {
      await using peers = await Peers.start(server);
      const store = new MemoryStore();
      const [first, second] = [new Life(store), new Life(store)];
      first.endAt(UPLOAD, { reaching });
      await using ours = await Ours.launch(server, "ours", {
        store: first.store,
        fetch: first.network.fetch,
      });
      await first.ended;
      await ours.stop();
      await ours.resume({ store: second.store, fetch: second.network.fetch });
      // The one-time keys go first; the fallback key comes with the keys of the device.
      const [before, after, last] = [first, second].flatMap(({ network }) =>
        network.to(UPLOAD).map(({ body }) => body)
      );
      assertEquals(after, before);
      assertEquals(Object.keys(JSON.parse(after ?? "")), ["one_time_keys"]);
      assertEquals(Object.keys(JSON.parse(last ?? "")).toSorted(), ["device_keys", "fallback_keys"]);
      await talkToAll(ours, peers.all, await roomWith(ours, peers.all), "in another life");
    },
  );
}

for (const [number, what, path] of [["S19", "claim", CLAIM], ["S20", "query", QUERY]] as const) {
  peerTest(
    `${number} A ${what} of keys that fails is repeated, and nothing sent before`,
    PEER_KINDS,
    async (server) => {
      const [network, clock] = [new FaultyNetwork(), new WrongClock()];
      await using peers = await Peers.start(server);
      const options = { fetch: network.fetch, retry: false as const, clock };
      await using ours = await Ours.start(server, "ours", options);
      const failing = network.failing(path);
      const roomId = await roomWith(ours, peers.all);
      for (let tries = 0; tries < 2; tries++) {
        await assertRejects(() => ours.sendText(roomId, "too early"), EncryptionError, "try again");
      }
      failing[Symbol.dispose]();
      clock.offset += MINUTE;
      await talkToAll(ours, peers.all, roomId, "once it worked");
      assertEquals(network.to(/\/send\//).length, 1);
    },
  );
}

peerTest(
  "S21 Keys for devices of which it is not known whether they arrived are sent again, the same under the same ID",
  PEER_KINDS,
  async (server) => {
    const network = new FaultyNetwork();
    await using peers = await Peers.start(server);
    await using ours = await Ours.start(server, "ours", { fetch: network.fetch, retry: RETRY });
    const roomId = await roomWith(ours, peers.all);
    network.failing(SEND_TO_DEVICE, { times: 2, reaching: true });
    await talkToAll(ours, peers.all, roomId, "once the answer came");
    const [one, ...others] = network.to(SEND_TO_DEVICE);
    assertEquals(others.map(({ path, body }) => [path, body === one?.body]), [[one?.path, true], [
      one?.path,
      true,
    ]]);
    for (const peer of peers.all) {
      const keys = peer.seen.filter((event) =>
        event.event === "to_device" && event.type === "m.room_key" && event.sender === ours.userId
      );
      // js_sdk does not tell of keys
      assert(peer.kind === "js_sdk" || keys.length === 1, peer.kind);
    }
  },
);

eachPeer("S22 A one-time key that was used is refused, and a new session heals it", async (kind, server) => {
  const network = new FaultyNetwork();
  await using proxy = new Proxy(server);
  await using peer = await Peer.start(kind, server, "peer", { homeserver: proxy.homeserver });
  await using other = await Ours.start(server, "other", { fetch: network.fetch });
  await using ours = await Ours.start(server, "ours");
  const claimed = Promise.withResolvers<unknown>();
  network.changing(CLAIM, (answer) => claimed.resolve(answer.one_time_keys));
  const othersRoom = await other.createRoom({ invite: [ours.userId] });
  await ours.joinInvited(othersRoom);
  await other.member(othersRoom, ours.userId);
  await says(other, ours, othersRoom, "with the key");
  using _same = proxy.network.changing(CLAIM, async (answer) => {
    return { ...answer, one_time_keys: await claimed.promise };
  });
  const roomId = await roomWith(ours, [peer]);
  const refused = await peer.sendText(roomId, "with the same key");
  await ours.undecryptable(({ eventId }) => eventId === refused);
  await peer.toDevice(({ type }) => type === "m.dummy");
  await peer.rotate(roomId);
  await talk(peer, ours, roomId, "over the new session");
});
