import { assert, assertEquals } from "@std/assert";
import { HeldMail, type Mail } from "../support/faulty/mail.ts";
import { FaultyNetwork } from "../support/faulty/network.ts";
import { roomWith, says, talk } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { eachPeer, peerTest } from "../support/peer/peer_test_case.ts";
import { Proxy } from "../support/proxy.ts";
import { WrongClock } from "../../lives/wrong_clock.ts";

const CLAIM = /\/keys\/claim$/;
/** As many messages as Olm may be out of order, to us, and fewer to peers. */
const OUT_OF_ORDER = { ours: 40, peers: 10 };

const isEncrypted = ({ type }: Mail): boolean => type === "m.room.encrypted";

/** The same messages, with a wrong end. */
function spoilt(mails: Mail[]): Mail[] {
  return mails.map((mail) => {
    const content = structuredClone(mail.content);
    for (const message of Object.values<{ body: string }>(content.ciphertext)) {
      const bytes = Uint8Array.fromBase64(message.body);
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      message.body = bytes.toBase64({ omitPadding: true });
    }
    return { ...mail, content };
  });
}

eachPeer("S29 Whose server was down when keys were shared reads the next message", async (kind, server) => {
  const [network, clock] = [new FaultyNetwork(), new WrongClock()];
  await using peer = await Peer.start(kind, server, "peer");
  await using ours = await Ours.start(server, "ours", { fetch: network.fetch, clock });
  const roomId = await roomWith(ours, [peer]);
  const down = network.changing(CLAIM, () => ({ one_time_keys: {}, failures: { [server.serverName]: {} } }));
  const missed = await ours.sendText(roomId, "while it was down");
  await peer.undecryptable(({ eventId }) => eventId === missed);
  down[Symbol.dispose]();
  network.requests.length = 0;
  clock.offset += 60_000;
  await network.first(({ path }) => CLAIM.test(path)); // by itself, with the next sync
  let heard = await peer.outcome(await ours.sendText(roomId, "when it is back"));
  // The answer to the claim may not have been taken in when that was sent.
  if (heard.event === "undecryptable") {
    heard = await says(ours, peer, roomId, "when it has been back for a while");
  }
  assertEquals(heard.event, "message");
  await says(peer, ours, roomId, "and back");
});

eachPeer("S30 An Olm session that there is serves all rooms", async (kind, server) => {
  const network = new FaultyNetwork();
  await using proxy = new Proxy(server);
  await using peer = await Peer.start(kind, server, "peer", { homeserver: proxy.homeserver });
  await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
  for (const name of ["one", "two", "three"]) {
    await talk(ours, peer, await roomWith(ours, [peer]), `in room ${name}`);
  }
  const [ourClaims, peerClaims] = [network, proxy.network].map((each) =>
    each.to(CLAIM).map(({ body }) => body)
  );
  assertEquals(ourClaims?.length, 1);
  assertEquals(peerClaims?.filter((body) => body.includes(ours.userId)), []);
});

// js_sdk can't be made to forget its Olm sessions, and would replace one only after an hour.
for (const kind of ["nio", "mautrix"] as const) {
  peerTest(`S31 A peer that lost its Olm sessions gets the key again, and all is read, with ${kind}`, [
    kind,
  ], async (server) => {
    const network = new FaultyNetwork();
    await using peer = await Peer.start(kind, server, "peer");
    await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
    const roomId = await roomWith(ours, [peer]);
    await talk(ours, peer, roomId, "before");
    await peer.forgetOlmSessions();
    await ours.crypto.discardGroupSession(roomId);
    using mail = new HeldMail(network, isEncrypted);
    const lost = await ours.sendText(roomId, "lost");
    const { sessionId } = await peer.undecryptable(({ eventId }) => eventId === lost);
    await mail.until(1); // an m.dummy that begins the new session
    await mail.release();
    const found = await says(ours, peer, roomId, "found");
    assertEquals(found.sessionId, sessionId, "it is the same group session, shared again");
    const late = await peer.message(({ eventId }) => eventId === lost);
    assertEquals([late.body, late.late], ["lost", true]);
    await peer.rotate(roomId);
    await talk(peer, ours, roomId, "after");
  });
}

eachPeer(
  "S31 We begin a new Olm session in place of one that does not fit any more",
  async (kind, server) => {
    const network = new FaultyNetwork();
    await using peer = await Peer.start(kind, server, "peer");
    await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
    const roomId = await roomWith(ours, [peer]);
    await talk(ours, peer, roomId, "before");
    using mail = new HeldMail(network, isEncrypted);
    await peer.rotate(roomId);
    const lost = await peer.sendText(roomId, "lost");
    await mail.until(1);
    await mail.release({ arrange: spoilt });
    await ours.undecryptable(({ eventId }) => eventId === lost);
    await peer.toDevice(({ type }) => type === "m.dummy");
    // js_sdk sends the key of its group session again by itself;
    // the others begin another one when they are told to.
    if (kind !== "js_sdk") await peer.rotate(roomId);
    await talk(peer, ours, roomId, "after");
  },
);

eachPeer("S32 Both start an Olm session at the same time, and go on", async (kind, server) => {
  const network = new FaultyNetwork();
  await using proxy = new Proxy(server);
  await using peer = await Peer.start(kind, server, "peer", { homeserver: proxy.homeserver });
  await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
  const roomId = await roomWith(ours, [peer]);
  using toUs = new HeldMail(network, isEncrypted);
  using toPeer = new HeldMail(proxy.network, isEncrypted);
  const [there, back] = await Promise.all([ours.sendText(roomId, "there"), peer.sendText(roomId, "back")]);
  await Promise.all([toUs.until(1), toPeer.until(1)]);
  await toUs.release();
  assert((await ours.message(({ eventId }) => eventId === back)).encrypted);
  // The peer has begun a session of its own, and may never have got the key: it is sent once more, and both
  // arrive at once.
  const more = await ours.sendText(roomId, "more");
  await toPeer.until(2);
  await toPeer.release();
  for (const sent of [there, more]) {
    assert((await peer.message(({ eventId }) => eventId === sent)).encrypted);
  }
  for (const round of ["once", "twice"]) {
    await ours.crypto.discardGroupSession(roomId);
    await peer.rotate(roomId);
    await talk(ours, peer, roomId, round);
  }
  assertEquals([network.to(CLAIM).length, proxy.network.to(CLAIM).length], [1, 1]);
});

// js_sdk has no store.
for (const kind of ["nio", "mautrix"] as const) {
  peerTest(`S33 A peer that went back to an old store is heard again after one lost message, with ${kind}`, [
    kind,
  ], async (server) => {
    await using peer = await Peer.start(kind, server, "peer");
    await using ours = await Ours.start(server, "ours");
    const roomId = await roomWith(ours, [peer]);
    await talk(ours, peer, roomId, "before");
    await peer.saveStore("old");
    for (const body of ["one", "two"]) {
      await peer.rotate(roomId);
      await says(peer, ours, roomId, body);
    }
    await peer.restoreStore("old");
    await peer.rotate(roomId);
    const lost = await peer.sendText(roomId, "encrypted with what was used before");
    await ours.undecryptable(({ eventId }) => eventId === lost);
    await peer.toDevice(({ type }) => type === "m.dummy");
    await peer.rotate(roomId);
    await says(peer, ours, roomId, "over the new session");
    await ours.crypto.discardGroupSession(roomId);
    await says(ours, peer, roomId, "and back");
  });
}

eachPeer("S34 Olm messages may come in any order", async (kind, server) => {
  const network = new FaultyNetwork();
  await using proxy = new Proxy(server);
  await using peer = await Peer.start(kind, server, "peer", { homeserver: proxy.homeserver });
  await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
  const roomId = await roomWith(ours, [peer]);
  await talk(ours, peer, roomId, "in order");
  for (
    const [speaker, listener, way] of [
      [peer, ours, network],
      [ours, peer, proxy.network],
    ] as const
  ) {
    const many = listener === ours ? OUT_OF_ORDER.ours : OUT_OF_ORDER.peers;
    using mail = new HeldMail(way, isEncrypted);
    const sent: string[] = [];
    for (let count = 0; count < many; count++) {
      if (speaker instanceof Peer) await speaker.rotate(roomId);
      else await speaker.crypto.discardGroupSession(roomId);
      sent.push(await speaker.sendText(roomId, `message ${count}`));
      await listener.outcome(sent.at(-5) ?? sent[0] ?? ""); // a sync shows ten at most
    }
    await mail.until(many);
    await mail.release({ arrange: (mails) => mails.toReversed() });
    for (const eventId of sent) {
      await listener.message((message) => message.eventId === eventId);
    }
  }
});
