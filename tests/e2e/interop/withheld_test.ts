import { assert, assertEquals } from "@std/assert";
import { FaultyNetwork } from "../support/faulty/network.ts";
import { roomWith, says } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { eachPeer, peerTest } from "../support/peer/peer_test_case.ts";
import { Proxy } from "../support/proxy.ts";
import { newUser } from "../support/synapse.ts";
import { WrongClock } from "../../lives/wrong_clock.ts";

const SYNC = /\/sync$/;
const QUERY = /\/keys\/query$/;

eachPeer("S61 A device that we have blocked gets a notice", async (kind, server) => {
  await using peer = await Peer.start(kind, server, "peer");
  await using ours = await Ours.start(server, "ours");
  const roomId = await roomWith(ours, [peer]);
  await ours.setDeviceTrust(peer, "blacklisted");
  const secret = await ours.sendText(roomId, "secret");
  const { withheld } = await peer.undecryptable(({ eventId }) => eventId === secret);
  assertEquals(withheld, kind === "js_sdk" ? "MEGOLM_KEY_WITHHELD" : "m.blacklisted");
  await ours.setDeviceTrust(peer, undefined);
  await says(ours, peer, roomId, "not secret any more");
});

eachPeer("S61 We say with which code a key was withheld from us", async (kind, server) => {
  await using peer = await Peer.start(kind, server, "peer");
  await using ours = await Ours.start(server, "ours");
  const roomId = await roomWith(ours, [peer]);
  await peer.setDeviceTrust(ours, "blacklisted");
  const secret = await peer.sendText(roomId, "secret");
  const { withheld, reason } = await ours.undecryptable(({ eventId }) => eventId === secret);
  // nio tells no one that it withholds a key.
  if (kind === "nio") return assertEquals([withheld, reason.split(":")[0]], [null, "MISSING_KEY"]);
  assertEquals([withheld, reason.split(":")[0]], ["m.blacklisted", "WITHHELD"]);
});

// mautrix sends the code under both names.
peerTest(
  "S61 We understand the name that withheld keys had before, with mautrix",
  ["mautrix"],
  async (server) => {
    const network = new FaultyNetwork();
    network.changing(SYNC, (answer) => {
      const events: { type: string }[] = answer.to_device?.events ?? [];
      answer.to_device = { events: events.filter(({ type }) => type !== "m.room_key.withheld") };
    });
    await using peer = await Peer.start("mautrix", server, "peer");
    await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
    const roomId = await roomWith(ours, [peer]);
    await peer.setDeviceTrust(ours, "blacklisted");
    const secret = await peer.sendText(roomId, "secret");
    assertEquals((await ours.undecryptable(({ eventId }) => eventId === secret)).withheld, "m.blacklisted");
  },
);

for (const number of ["S27", "S62"] as const) {
  const whose = number === "S27" ? "a user" : "a user's new device";
  eachPeer(
    `${number} What ${whose} sends whose keys can't be looked up is read, and trusted as far as it is once they can`,
    async (kind, server) => {
      const [network, clock] = [new FaultyNetwork(), new WrongClock()];
      await using ours = await Ours.start(server, "ours", { fetch: network.fetch, clock, retry: false });
      const user = await newUser(server, "peer");
      if (number === "S62") await ours.crypto.getDevices(user.userId);
      const failing = network.failing(QUERY);
      const device = number === "S62" ? await newDevice(server, user) : user;
      await using peer = await Peer.start(kind, server, "peer", { user: device });
      const roomId = await roomWith(ours, [peer]);
      const heard = await says(peer, ours, roomId, "from an unknown device");
      assertEquals(heard.trust, "unknown-device");
      failing[Symbol.dispose]();
      clock.offset += 120_000;
      await ours.crypto.getDevices(user.userId).catch(() => {
        clock.offset += 120_000; // a query that was under way has failed as well, and delays the next one
        return ours.crypto.getDevices(user.userId);
      });
      const again = await says(peer, ours, roomId, "from the same device");
      assertEquals([again.trust, again.sessionId], ["unsigned-device", heard.sessionId]);
    },
  );
}

// nio and mautrix know nothing of keys that come along with what they read.
peerTest(
  "S62 A peer that can't look up our keys takes them from what we send, with js_sdk",
  ["js_sdk"],
  async (server) => {
    await using proxy = new Proxy(server);
    await using peer = await Peer.start("js_sdk", server, "peer", { homeserver: proxy.homeserver });
    const failing = proxy.network.failing(QUERY);
    await using ours = await Ours.start(server, "ours");
    const roomId = await roomWith(ours, [peer]);
    const heard = await says(ours, peer, roomId, "with our keys");
    assertEquals(heard.trust, "unsigned_device");
    failing[Symbol.dispose]();
    assert(proxy.network.to(QUERY).length > 0);
  },
);
