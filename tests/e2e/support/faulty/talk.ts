/**
 * What is said in encrypted rooms, by us and by peers.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import type { RoomID } from "@greenroom/matrix/types";
import type { Ours } from "../ours.ts";
import { Peer } from "../peer/peer.ts";
import { PEER_KINDS, type PeerKind } from "../peer/peer_kind.ts";
import type { PeerMessage } from "../peer/peer_event.ts";
import type { SynapseServer } from "../synapse.ts";

/** One of each kind, or of some. */
export class Peers implements AsyncDisposable {
  /** They. */
  readonly all: readonly Peer[];

  private constructor(all: readonly Peer[]) {
    this.all = all;
  }

  /** Starts them all at once. */
  static async start(server: SynapseServer, kinds: readonly PeerKind[] = PEER_KINDS): Promise<Peers> {
    return new Peers(await Promise.all(kinds.map((kind) => Peer.start(kind, server, "peer"))));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map((peer) => peer[Symbol.asyncDispose]()));
  }
}

/** An encrypted room of ours that peers have joined, and we know that. */
export async function roomWith(
  ours: Ours,
  peers: readonly (Ours | Peer)[],
  options: Parameters<Ours["createRoom"]>[0] = {},
): Promise<RoomID> {
  const roomId = await ours.createRoom({ ...options, invite: peers.map(({ userId }) => userId) });
  await Promise.all(peers.map((peer) => peer.joinInvited(roomId)));
  for (const { userId } of peers) await ours.member(roomId, userId);
  return roomId;
}

/** One says something that the other reads at once. */
export async function says(
  speaker: Ours | Peer,
  listener: Ours | Peer,
  roomId: string,
  body: string,
): Promise<PeerMessage> {
  const eventId = await speaker.sendText(roomId, body);
  const heard = await listener.message((message) => message.eventId === eventId);
  assertEquals([heard.body, heard.encrypted, heard.late], [body, true, false]);
  return heard;
}

/** Both say something that the other reads at once. */
export async function talk(
  one: Ours | Peer,
  other: Ours | Peer,
  roomId: string,
  body: string,
): Promise<void> {
  await says(one, other, roomId, `${body}, there`);
  await says(other, one, roomId, `${body}, and back`);
}

/** Says something that all peers read at once, and reads what each of them answers. */
export async function talkToAll(
  ours: Ours,
  peers: readonly Peer[],
  roomId: string,
  body: string,
): Promise<void> {
  const eventId = await ours.sendText(roomId, body);
  await Promise.all(peers.map(async (peer) => {
    const heard = await peer.message((message) => message.eventId === eventId);
    assertEquals([peer.kind, heard.body, heard.encrypted, heard.late], [peer.kind, body, true, false]);
    await says(peer, ours, roomId, `${peer.kind} to: ${body}`);
  }));
}
