import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { Peer } from "./support/peer/peer.ts";
import { newDevice } from "./support/peer/peer_device.ts";
import { PEER_KINDS, type PeerKind } from "./support/peer/peer_kind.ts";
import { eachPeer, peerTest } from "./support/peer/peer_test_case.ts";

const IMAGE = Uint8Array.from({ length: 5000 }, (_, index) => index % 251);
const THUMBNAIL = IMAGE.slice(0, 500);
/** Those whose store outlives their process. */
const STORING: PeerKind[] = ["nio", "mautrix"];

/** A room of two that both have joined, and both know that. */
async function roomOfTwo(one: Peer, other: Peer): Promise<string> {
  const roomId = await one.createRoom({ invite: [other.userId] });
  await other.joinInvited(roomId);
  await one.member(roomId, other.userId);
  return roomId;
}

async function says(speaker: Peer, listener: Peer, roomId: string, body: string): Promise<string | null> {
  const eventId = await speaker.sendText(roomId, body);
  const heard = await listener.message((message) => message.eventId === eventId);
  assertEquals([heard.body, heard.encrypted, heard.late], [body, true, false]);
  return heard.sessionId;
}

async function shows(speaker: Peer, listener: Peer, roomId: string): Promise<void> {
  await speaker.sendImage(roomId, { bytes: IMAGE, thumbnail: THUMBNAIL, name: "image.png" });
  const { content } = await listener.message(({ msgtype }) => msgtype === "m.image");
  assertEquals((await listener.download(content.file)).bytes, IMAGE);
  const { thumbnail_file: thumbnail } = content.info as Record<string, unknown>;
  assertEquals((await listener.download(thumbnail)).bytes, THUMBNAIL);
}

const pairs: [PeerKind, PeerKind][] = PEER_KINDS.flatMap((one, index) =>
  PEER_KINDS.slice(index + 1).map((other): [PeerKind, PeerKind] => [one, other])
);

for (const [first, second] of pairs) {
  peerTest(
    `${first} and ${second} exchange encrypted messages and images`,
    [first, second],
    async (server) => {
      await using one = await Peer.start(first, server, "one");
      await using other = await Peer.start(second, server, "other");
      const roomId = await roomOfTwo(one, other);
      await says(one, other, roomId, "there");
      await says(other, one, roomId, "and back");
      await shows(one, other, roomId);
      await shows(other, one, roomId);
    },
  );
}

eachPeer("A peer sends and tells of relations, other types, and what came in clear", async (kind, server) => {
  await using peer = await Peer.start(kind, server, "peer");
  await using other = await Peer.start("js_sdk", server, "other");
  const roomId = await roomOfTwo(peer, other);
  for (const [speaker, listener] of [[peer, other], [other, peer]] as const) {
    const eventId = await speaker.sendText(roomId, "first");
    await speaker.sendReply(roomId, eventId, "reply");
    await speaker.sendEdit(roomId, eventId, "edit");
    await speaker.sendReaction(roomId, eventId, "👍");
    await speaker.sendRaw(roomId, "org.example.custom", { a: 1 });
    await speaker.sendClear(roomId, "m.room.message", { msgtype: "m.text", body: "clear" });
    const reply = await listener.message(({ body }) => body === "reply");
    assertEquals(reply.content["m.relates_to"], { "m.in_reply_to": { event_id: eventId } });
    assert((await listener.message(({ body }) => body === "* edit")).encrypted);
    await listener.message(({ type }) => type === "m.reaction");
    assert((await listener.message(({ type }) => type === "org.example.custom")).encrypted);
    assert(!(await listener.message(({ body }) => body === "clear")).encrypted);
  }
  await peer.kick(roomId, other.userId);
  await Promise.all([peer, other].map((each) => each.member(roomId, other.userId, "leave")));
});

eachPeer(
  "A peer withholds keys from a device, trusts it, and rotates, on command",
  async (kind, server) => {
    await using peer = await Peer.start(kind, server, "peer");
    await using other = await Peer.start("js_sdk", server, "other");
    const roomId = await roomOfTwo(peer, other);
    await peer.setDeviceTrust(other.user, "blacklisted");
    const secret = await peer.sendText(roomId, "secret");
    await other.undecryptable(({ eventId }) => eventId === secret);
    await peer.setDeviceTrust(other.user, "verified");
    await peer.rotate(roomId);
    const session = await says(peer, other, roomId, "one");
    assertEquals(await says(peer, other, roomId, "two"), session);
    await peer.rotate(roomId);
    assertNotEquals(await says(peer, other, roomId, "three"), session);
    const { curve25519, ed25519 } = await other.deviceKeys();
    const { deviceId } = other;
    assertEquals(await peer.devices(other.userId), [{ deviceId, ed25519, curve25519, trust: "verified" }]);
  },
);

for (const kind of STORING) {
  peerTest(
    `${kind} goes on with its store after it was stopped, killed, and put back`,
    [kind],
    async (server) => {
      await using peer = await Peer.start(kind, server, "peer");
      await using other = await Peer.start("js_sdk", server, "other");
      const roomId = await roomOfTwo(peer, other);
      const keys = await peer.deviceKeys();
      await says(peer, other, roomId, "begin");
      await says(other, peer, roomId, "begin");
      await peer.stop();
      const missed = await other.sendText(roomId, "while away");
      await peer.resume();
      await peer.message(({ eventId }) => eventId === missed);
      await peer.saveStore("early");
      await peer.crash();
      await peer.rotate(roomId);
      await says(peer, other, roomId, "after the crash");
      await peer.restoreStore("early");
      await peer.rotate(roomId);
      const again = await peer.sendText(roomId, "with an Olm session that was used before");
      await other.undecryptable(({ eventId }) => eventId === again);
      assertEquals(await peer.deviceKeys(), keys);
    },
  );

  peerTest(
    `${kind} begins a new Olm session when it has lost the one that was used`,
    [kind],
    async (server) => {
      await using peer = await Peer.start(kind, server, "peer");
      await using other = await Peer.start("js_sdk", server, "other");
      const roomId = await roomOfTwo(peer, other);
      await says(peer, other, roomId, "there");
      await says(other, peer, roomId, "and back");
      await peer.forgetOlmSessions();
      await other.rotate(roomId);
      const lost = await other.sendText(roomId, "lost");
      await peer.undecryptable(({ eventId }) => eventId === lost);
      await peer.first("to_device_undecryptable");
      await other.toDevice(({ type }) => type === "m.dummy");
      await other.rotate(roomId);
      await says(other, peer, roomId, "found");
    },
  );
}

peerTest("js_sdk signs its devices, and verifies a user by emoji", ["js_sdk"], async (server) => {
  await using one = await Peer.start("js_sdk", server, "one");
  await using other = await Peer.start("js_sdk", server, "other");
  for (const peer of [one, other]) {
    await peer.call("bootstrapCrossSigning", { password: peer.user.password });
  }
  const roomId = await roomOfTwo(one, other);
  await says(one, other, roomId, "before");
  const flowId = String(await one.call("requestVerification", { userId: other.userId, roomId }));
  const reaches = (peer: Peer, phase: string) =>
    peer.first("verification", (event) => event.flowId === flowId && event.phase === phase);
  await reaches(other, "requested");
  await other.call("acceptVerification", { flowId });
  await reaches(one, "ready");
  await one.call("startSas", { flowId });
  const [shown, compared] = await Promise.all([one, other].map((peer) => peer.first("sas")));
  assertEquals(shown?.emoji?.length, 7);
  assertEquals(shown?.emoji, compared?.emoji);
  for (const peer of [one, other]) await peer.call("confirmSas", { flowId });
  for (const peer of [one, other]) await reaches(peer, "done");
  const eventId = await one.sendText(roomId, "after");
  assertEquals((await other.message((message) => message.eventId === eventId)).trust, "verified");
});

peerTest("js_sdk reads with its recovery key what its first device read", ["js_sdk"], async (server) => {
  await using one = await Peer.start("js_sdk", server, "one");
  await using other = await Peer.start("js_sdk", server, "other");
  await one.call("bootstrapCrossSigning", { password: one.user.password });
  const recoveryKey = await one.call("bootstrapSecretStorage", {});
  const roomId = await roomOfTwo(one, other);
  await says(other, one, roomId, "before");
  await one.call("awaitBackup", { count: 1 });
  const user = await newDevice(server, one.user);
  await using young = await Peer.start("js_sdk", server, "one", { user });
  const { eventId } = await young.undecryptable();
  assertEquals(await young.call("recover", { recoveryKey }), { total: 1, imported: 1 });
  assert((await young.message((message) => message.eventId === eventId)).late);
});

peerTest("nio verifies a device by emoji", ["nio"], async (server) => {
  await using one = await Peer.start("nio", server, "one");
  await using other = await Peer.start("nio", server, "other");
  const roomId = await roomOfTwo(one, other);
  await says(one, other, roomId, "before");
  const { userId, deviceId } = other;
  await other.awaitDevice(one.userId, one.deviceId);
  const flowId = await one.call("startSas", { userId, deviceId });
  await other.first("verification", ({ phase }) => phase === "started");
  await other.call("acceptSas", { flowId });
  const [shown, compared] = await Promise.all([one, other].map((peer) => peer.first("sas")));
  assertEquals(shown, compared);
  for (const peer of [one, other]) await peer.call("confirmSas", { flowId });
  for (const peer of [one, other]) await peer.first("verification", ({ phase }) => phase === "done");
  const eventId = await one.sendText(roomId, "after");
  assertEquals((await other.message((message) => message.eventId === eventId)).trust, "verified");
});

peerTest("mautrix gets a key from its user's other device when it asks", ["mautrix"], async (server) => {
  await using old = await Peer.start("mautrix", server, "peer");
  await using other = await Peer.start("js_sdk", server, "other");
  const roomId = await roomOfTwo(old, other);
  await says(other, old, roomId, "before");
  const user = await newDevice(server, old.user);
  await using young = await Peer.start("mautrix", server, "peer", { user });
  const { eventId } = await young.undecryptable();
  await old.setDeviceTrust(user, "verified");
  await young.requestKey(eventId);
  const message = await young.message((message) => message.eventId === eventId);
  assertEquals([message.body, message.late], ["before", true]);
});

eachPeer("A peer tells with which code a key was withheld from it", async (kind, server) => {
  await using peer = await Peer.start(kind, server, "peer");
  await using other = await Peer.start("mautrix", server, "other");
  const roomId = await roomOfTwo(other, peer);
  await other.setDeviceTrust(peer.user, "blacklisted");
  const secret = await other.sendText(roomId, "secret");
  const { withheld } = await peer.undecryptable(({ eventId }) => eventId === secret);
  assertEquals(withheld, kind === "js_sdk" ? "MEGOLM_KEY_WITHHELD" : "m.blacklisted");
});
