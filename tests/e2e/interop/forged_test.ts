import { assert, assertEquals } from "@std/assert";
import { FaultyNetwork } from "../support/faulty/network.ts";
import { roomWith, says } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { eachPeer, peerTest } from "../support/peer/peer_test_case.ts";
import { Proxy } from "../support/proxy.ts";
import { newUser } from "../support/synapse.ts";

const SYNC = /\/sync$/;
const SEND = /\/send\/m\.room\.encrypted\//;

/** Has a room's encrypted events appear as another user's. */
// deno-lint-ignore no-explicit-any -- a sync response
function pretend(answer: any, sender: string): void {
  for (
    const { timeline } of Object.values<{ timeline: { events: Record<string, unknown>[] } }>(
      answer.rooms?.join ?? {},
    )
  ) {
    for (const event of timeline.events) if (event.type === "m.room.encrypted") event.sender = sender;
  }
}

eachPeer("S66 An event that the server says is another user's is refused", async (kind, server) => {
  const network = new FaultyNetwork();
  await using peer = await Peer.start(kind, server, "peer");
  await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
  const mallory = await newUser(server, "mallory");
  const roomId = await roomWith(ours, [peer]);
  await says(peer, ours, roomId, "as the peer");
  const rewriting = network.changing(SYNC, (answer) => pretend(answer, mallory.userId));
  const forged = await peer.sendText(roomId, "as another");
  const { reason, sender } = await ours.undecryptable(({ eventId }) => eventId === forged);
  assertEquals([sender, reason.split(":")[0]], [mallory.userId, "UNTRUSTED"]);
  rewriting[Symbol.dispose]();
  await says(peer, ours, roomId, "as the peer again");
  assert(!ours.seen.some((event) => event.event === "message" && event.eventId === forged));
});

// nio and mautrix do not compare the sender of an event with the owner of its session.
peerTest(
  "S66 What we sent and the server says is another user's is marked, with js_sdk",
  ["js_sdk"],
  async (server) => {
    await using proxy = new Proxy(server);
    await using peer = await Peer.start("js_sdk", server, "peer", { homeserver: proxy.homeserver });
    await using ours = await Ours.start(server, "ours");
    const mallory = await newUser(server, "mallory");
    const roomId = await roomWith(ours, [peer]);
    proxy.network.changing(SYNC, (answer) => pretend(answer, mallory.userId));
    const forged = await ours.sendText(roomId, "as another");
    const heard = await peer.message(({ eventId }) => eventId === forged);
    assertEquals(heard.trust, "mismatched_sender");
  },
);

eachPeer("S66 A key that the server says is another user's is refused", async (kind, server) => {
  const network = new FaultyNetwork();
  await using peer = await Peer.start(kind, server, "peer");
  await using ours = await Ours.start(server, "ours", { fetch: network.fetch });
  const mallory = await newUser(server, "mallory");
  const roomId = await roomWith(ours, [peer]);
  const rewriting = network.changing(SYNC, (answer) => {
    for (const event of answer.to_device?.events ?? []) event.sender = mallory.userId;
  });
  const forged = await peer.sendText(roomId, "with the key of another");
  const { reason } = await ours.undecryptable(({ eventId }) => eventId === forged);
  assert(/^(MISSING_KEY|WITHHELD)/.test(reason), reason);
  rewriting[Symbol.dispose]();
  // The Olm session was the other's, it seemed: the peer's own has to begin.
  await peer.rotate(roomId);
  const lost = await peer.sendText(roomId, "over the session that seemed another's");
  await ours.undecryptable(({ eventId }) => eventId === lost);
  await peer.toDevice(({ type }) => type === "m.dummy");
  await peer.rotate(roomId);
  await says(peer, ours, roomId, "with its own");
});

eachPeer(
  "S63 What a ghost sends with its bridge bot's group session is reported as such, and not as the ghost's",
  async (kind, server) => {
    await using proxy = new Proxy(server);
    await using bot = await Peer.start(kind, server, "bot", { homeserver: proxy.homeserver });
    await using ghost = await Ours.start(server, "ghost");
    await using ours = await Ours.start(server, "ours");
    const roomId = await roomWith(ours, [bot, ghost]);
    const bridging = proxy.network.on(SEND, async (request, forward) => {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${ghost.user.accessToken}`);
      return await forward(new Request(request, { headers }));
    });
    const sent = await bot.sendText(roomId, "by way of the bot");
    const { reason, sender } = await ours.undecryptable(({ eventId }) => eventId === sent);
    assertEquals([sender, reason.split(":")[0]], [ghost.userId, "UNTRUSTED"]);
    assert(reason.includes("another user than its sender"), reason);
    bridging[Symbol.dispose]();
    await says(bot, ours, roomId, "by the bot itself");
  },
);
