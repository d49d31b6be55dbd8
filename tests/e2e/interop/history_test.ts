import { assertEquals } from "@std/assert";
import { encryptionOf, MemoryStore } from "@greenroom/matrix";
import { type MessageEvent, PaginationDirection, type RoomID } from "@greenroom/matrix/types";
import { within } from "../support/deadline.ts";
import { roomWith, says } from "../support/faulty/talk.ts";
import { Ours } from "../support/ours.ts";
import { Peer } from "../support/peer/peer.ts";
import { peerTest } from "../support/peer/peer_test_case.ts";
import { newUser, synapseTest } from "../support/synapse.ts";
import { newRecoveryKey } from "../../crypto/secrets/recovery_keys.ts";

/** What a client of ours is made with that shares history. */
function sharing() {
  const recoveryKey = newRecoveryKey();
  return { recoveryKey, backup: false, shareHistory: true };
}

/** What our client reads of an event of a room's history, and who has shared the key. */
async function read({ client }: Ours, roomId: string, eventId: string): Promise<unknown> {
  const { chunk } = await client.getMessages(roomId as RoomID, PaginationDirection.BACKWARD, undefined);
  const event = chunk.find(({ event_id }) => event_id === eventId) as MessageEvent | undefined;
  if (event === undefined) return "not there";
  const decryption = await client.crypto?.decrypt(event);
  if (decryption === undefined || !("event" in decryption)) return decryption?.code;
  const { keySource, sharedBy } = encryptionOf(decryption.event) ?? {};
  return [decryption.event.content.body, keySource, sharedBy];
}

/** Waits until our client reads an event so. */
async function reads(ours: Ours, [roomId, eventId]: [string, string], wanted: unknown): Promise<void> {
  const isSo = async () => JSON.stringify(await read(ours, roomId, eventId)) === JSON.stringify(wanted);
  await within(ours.until(isSo), "the history to come");
}

peerTest(
  "S58 js_sdk reads what we and another js_sdk said before we invited it",
  ["js_sdk"],
  async (server) => {
    await using ours = await Ours.start(server, "ours", { encryption: sharing() });
    await using other = await Peer.start("js_sdk", server, "other");
    await using peer = await Peer.start("js_sdk", server, "peer");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    const roomId = await roomWith(ours, [other], { historyVisibility: "shared" });
    const before = await says(ours, other, roomId, "by us, before");
    const others = await says(other, ours, roomId, "by another, before");

    await ours.client.inviteUser(roomId, peer.user.userId);
    await peer.invitation(roomId);
    await peer.call("joinWithHistory", { roomId });
    await peer.join(roomId);
    await ours.member(roomId, peer.userId);
    for (const { eventId, body } of [before, others]) {
      assertEquals((await peer.message((message) => message.eventId === eventId)).body, body);
    }
    await says(ours, peer, roomId, "after");
  },
);

peerTest(
  "S58 js_sdk does not get the keys of what was said while the history was not to be shared",
  ["js_sdk"],
  async (server) => {
    await using ours = await Ours.start(server, "ours", { encryption: sharing() });
    await using peer = await Peer.start("js_sdk", server, "peer");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    const roomId = await ours.createRoom({ historyVisibility: "joined" });
    const secret = await ours.sendText(roomId, "among us");
    const event = { history_visibility: "shared" } as const;
    await ours.client.sendStateEvent(roomId, "m.room.history_visibility", event);
    await ours.first(
      "state",
      ({ type, content }) => type === "m.room.history_visibility" && content.history_visibility === "shared",
    );
    const open = await ours.sendText(roomId, "for all");

    const report = await ours.crypto.shareHistory(roomId, peer.user.userId);
    assertEquals(report, { outcome: "shared", keys: 1, devices: 1 });
    await ours.client.inviteUser(roomId, peer.user.userId);
    await peer.invitation(roomId);
    await peer.call("joinWithHistory", { roomId });
    await peer.join(roomId);
    assertEquals((await peer.message(({ eventId }) => eventId === open)).body, "for all");
    assertEquals(await read(ours, roomId, secret), ["among us", "direct", undefined]);
    assertEquals(
      peer.seen.filter((seen) => "eventId" in seen && seen.eventId === secret && seen.event === "message"),
      [],
    );
  },
);

peerTest(
  "S58 We read what js_sdk and another of us said before js_sdk invited us, also when we are restarted before we have synced",
  ["js_sdk"],
  async (server) => {
    await using peer = await Peer.start("js_sdk", server, "peer");
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
    await using other = await Ours.start(server, "other");
    const store = new MemoryStore();
    await using ours = await Ours.start(server, "ours", { encryption: sharing(), store });
    const roomId = await peer.createRoom({ invite: [other.userId], historyVisibility: "shared" });
    await other.joinInvited(roomId);
    await peer.member(roomId, other.userId);
    const theirs = await says(peer, other, roomId, "by js_sdk, before");
    const others = await says(other, peer, roomId, "by another, before");

    await peer.call("inviteWithHistory", { roomId, userId: ours.userId });
    await ours.invitation(roomId);
    await ours.client.joinRoom(roomId as RoomID);
    await ours.stop();
    await ours.resume();
    await reads(ours, [roomId, theirs.eventId], ["by js_sdk, before", "bundle", peer.userId]);
    await reads(ours, [roomId, others.eventId], ["by another, before", "bundle", peer.userId]);
    await says(peer, ours, roomId, "after");
  },
);

synapseTest(
  "S58 A bot reads what was said before another bot invited it",
  async (server) => {
    await using host = await Ours.start(server, "host", { encryption: sharing() });
    await using guest = await Ours.start(server, "guest", { encryption: sharing() });
    const roomId = await host.createRoom({ historyVisibility: "shared" });
    const before = await host.sendText(roomId, "before");
    await host.client.inviteUser(roomId, guest.user.userId);
    await guest.joinInvited(roomId);
    await reads(guest, [roomId, before], ["before", "bundle", host.userId]);
  },
);

synapseTest(
  "S58 History whose file is gone from the server is given up, and what is said after that is read",
  async (server) => {
    await using host = await Ours.start(server, "host", { encryption: sharing() });
    await using guest = await Ours.start(server, "guest", { encryption: sharing() });
    const admin = await newUser(server, "admin", { admin: true });
    const roomId = await host.createRoom({ historyVisibility: "shared" });
    const before = await host.sendText(roomId, "before");
    await host.client.inviteUser(roomId, guest.user.userId);
    await guest.invitation(roomId);
    const path = `/_synapse/admin/v1/users/${encodeURIComponent(host.userId)}/media`;
    const headers = { authorization: `Bearer ${admin.accessToken}` };
    const response = await fetch(`${server.baseUrl}${path}`, { method: "DELETE", headers });
    assertEquals((await response.json()).total, 1, "the file");
    await guest.join(roomId);
    await host.member(roomId, guest.userId);
    await says(host, guest, roomId, "after");
    await guest.crypto.idle();
    assertEquals(await read(guest, roomId, before), "MISSING_KEY");
  },
);
