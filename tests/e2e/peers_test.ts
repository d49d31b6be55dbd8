import { assert, assertEquals } from "@std/assert";
import { Peer } from "./support/peer.ts";
import { PEER_KINDS, type PeerKind } from "./support/peer_kind.ts";
import { peerTest } from "./support/peer_test_case.ts";

const IMAGE = Uint8Array.from({ length: 5000 }, (_, index) => index % 251);
const THUMBNAIL = IMAGE.slice(0, 500);

/** A room of two that both have joined, and both know that. */
async function roomOfTwo(one: Peer, other: Peer): Promise<string> {
  const roomId = await one.createRoom({ invite: [other.userId] });
  await other.joinInvited(roomId);
  await one.member(roomId, other.userId);
  return roomId;
}

async function hears(listener: Peer, body: string): Promise<void> {
  const heard = await listener.message((message) => message.body === body);
  assert(heard.encrypted);
}

async function says(speaker: Peer, listener: Peer, roomId: string): Promise<void> {
  const body = `${speaker.kind} to ${listener.kind}`;
  await speaker.sendText(roomId, body);
  await hears(listener, body);
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
      await says(one, other, roomId);
      await says(other, one, roomId);
      await shows(one, other, roomId);
      await shows(other, one, roomId);
    },
  );
}
