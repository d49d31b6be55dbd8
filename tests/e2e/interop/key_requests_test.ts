import { assert, assertEquals } from "@std/assert";
import { HeldMail } from "../support/faulty/mail.ts";
import { FaultyNetwork } from "../support/faulty/network.ts";
import { roomWith } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { newDevice } from "../support/peer/peer_device.ts";
import { eachPeer, peerTest } from "../support/peer/peer_test_case.ts";
import { Proxy } from "../support/proxy.ts";

eachPeer("S28 What came before its key is read when the key comes", async (kind, server) => {
  const network = new FaultyNetwork();
  await using proxy = new Proxy(server);
  await using peer = await Peer.start(kind, server, "peer", { homeserver: proxy.homeserver });
  await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
  const roomId = await roomWith(ours, [peer]);
  for (const [speaker, listener, way] of [[peer, ours, network], [ours, peer, proxy.network]] as const) {
    using mail = new HeldMail(way, ({ type }) => type === "m.room.encrypted");
    const sent = [await speaker.sendText(roomId, "one"), await speaker.sendText(roomId, "two")];
    for (const each of sent) await listener.undecryptable(({ eventId }) => eventId === each);
    await mail.until(1);
    void mail.release();
    for (const each of sent) assert((await listener.message(({ eventId }) => eventId === each)).late);
  }
});

// js_sdk has no key requests.
for (const kind of ["nio", "mautrix"] as const) {
  peerTest(
    `S60 Our user's other device, if verified, sends us a key that we miss, with ${kind}`,
    [kind],
    async (server) => {
      const network = new FaultyNetwork();
      await using peer = await Peer.start(kind, server, "peer");
      const user = await newDevice(server, peer.user);
      await using ours = await Ours.start(server, "peer", { user, fetch: network.fetch });
      await using other = await Ours.start(server, "other");
      const roomId = await roomWith(other, [peer]);
      await ours.member(roomId, peer.userId);
      await ours.setDeviceTrust(peer, "verified");
      await peer.setDeviceTrust(user, "verified");
      using _lost = new HeldMail(network, ({ sender }) => sender === other.userId);
      const missed = await other.sendText(roomId, "with a key that gets lost");
      const heard = await ours.message(({ eventId }) => eventId === missed);
      // That is what the key is said to be of.
      assertEquals([heard.late, heard.trust], [true, "unsigned-device"]);
    },
  );

  peerTest(
    `S60 We send a key to our user's other device, if verified, with ${kind}`,
    [kind],
    async (server) => {
      await using proxy = new Proxy(server);
      await using peer = await Peer.start(kind, server, "peer", { homeserver: proxy.homeserver });
      const user = await newDevice(server, peer.user);
      const encryption = { answerKeyRequests: true };
      await using ours = await Ours.start(server, "peer", { user, encryption });
      await using other = await Ours.start(server, "other");
      const roomId = await roomWith(other, [peer]);
      await ours.member(roomId, peer.userId);
      await ours.setDeviceTrust(peer, "verified");
      await peer.setDeviceTrust(user, "verified");
      using _lost = new HeldMail(proxy.network, ({ sender }) => sender === other.userId);
      const missed = await other.sendText(roomId, "with a key that gets lost");
      await peer.undecryptable(({ eventId }) => eventId === missed);
      assert(!(await ours.message(({ eventId }) => eventId === missed)).late);
      await peer.requestKey(missed);
      const heard = await peer.message(({ eventId }) => eventId === missed);
      assertEquals([heard.body, heard.late], ["with a key that gets lost", true]);
    },
  );
}
