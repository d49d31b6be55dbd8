/**
 * We and one peer of each kind, in encrypted rooms.
 *
 * @module
 */

import { assertEquals, assertNotEquals } from "@std/assert";
import { within } from "./deadline.ts";
import { Ours, type OursOptions } from "./ours.ts";
import { Peer } from "./peer/peer.ts";
import { newDevice } from "./peer/peer_device.ts";
import type { PeerMessage, PeerUndecryptable } from "./peer/peer_event.ts";
import { PEER_KINDS, type PeerKind } from "./peer/peer_kind.ts";
import { peerTest } from "./peer/peer_test_case.ts";
import type { PeerWatch } from "./peer/peer_watch.ts";
import { newUser, type SynapseServer, type TestUser } from "./synapse.ts";

/** How long a scene may take, in milliseconds; alone on its machine it takes fifteen seconds. */
const LIMIT_MS = 600_000;

/** A member of a room. */
export type Player = Ours | Peer;

/** The clients of a scene, and those that join later. `await using` ends them all. */
export class Scene implements AsyncDisposable {
  /** The server. */
  readonly server: SynapseServer;
  /** Our client. */
  readonly ours: Ours;
  /** The peers. */
  readonly peers: readonly Peer[];
  readonly #stack: AsyncDisposableStack;

  private constructor(server: SynapseServer, { ours, peers, stack }: Parts) {
    this.server = server;
    this.ours = ours;
    this.peers = peers;
    this.#stack = stack;
  }

  /** Starts us and some peers, all at once. */
  static async start(
    server: SynapseServer,
    { kinds = PEER_KINDS, ...options }: OursOptions & { kinds?: readonly PeerKind[] } = {},
  ): Promise<Scene> {
    await using starting = new AsyncDisposableStack();
    const player = async <P extends Player>(starts: Promise<P>): Promise<P> => starting.use(await starts);
    const started = await Promise.allSettled([
      player(Ours.start(server, "ours", options)),
      ...kinds.map((kind) => player(Peer.start(kind, server, kind))),
    ]);
    const [ours, ...peers] = started.map((result) => {
      if (result.status === "fulfilled") return result.value;
      throw result.reason;
    });
    // In the order above.
    return new Scene(server, { ours: ours as Ours, peers: peers as Peer[], stack: starting.move() });
  }

  /** Starts another client of ours, of a new user or on another device of one. */
  async witness(user?: TestUser, options: OursOptions = {}): Promise<Ours> {
    const device =
      await (user === undefined ? newUser(this.server, "witness") : newDevice(this.server, user));
    return this.#stack.use(await Ours.start(this.server, "", { ...options, user: device }));
  }

  /** Restarts the peers, each on another device of the same user. */
  async youngPeers(): Promise<Peer[]> {
    return await Promise.all(this.peers.map(async ({ kind, user }) => {
      const device = await newDevice(this.server, user);
      return this.#stack.use(await Peer.start(kind, this.server, "", { user: device }));
    }));
  }

  /** An encrypted room of ours that all peers have joined, and we know that. */
  async room(options: Parameters<Ours["createRoom"]>[0] = {}): Promise<string> {
    const roomId = await this.ours.createRoom({ ...options, invite: this.peers.map(({ userId }) => userId) });
    await Promise.all(this.peers.map((peer) => peer.joinInvited(roomId)));
    for (const { userId } of this.peers) await this.ours.member(roomId, userId);
    return roomId;
  }

  /** We and all peers say something that the others read at once. */
  async talk(roomId: string, body = "hello"): Promise<void> {
    await says(this.ours, this.peers, roomId, body);
    await this.answer(roomId, body);
  }

  /** All peers say something that we read at once. */
  async answer(roomId: string, body = "hello"): Promise<void> {
    await Promise.all(this.peers.map((peer) => says(peer, [this.ours], roomId, `${peer.kind}: ${body}`)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

interface Parts {
  readonly ours: Ours;
  readonly peers: readonly Peer[];
  readonly stack: AsyncDisposableStack;
}

/** Defines a test against Synapse with us and one peer of each kind, or of some. */
export function sceneTest(
  name: string,
  test: (scene: Scene) => Promise<void>,
  { kinds = PEER_KINDS, ...options }: OursOptions & { kinds?: readonly PeerKind[] } = {},
): void {
  peerTest(name, kinds, async (server) => {
    await using scene = await Scene.start(server, { ...options, kinds });
    await within(test(scene), name, LIMIT_MS);
  });
}

/** Forgets what was seen, so that what comes from now on is waited for. */
export function forget(...players: readonly PeerWatch[]): void {
  for (const { seen } of players) seen.splice(0);
}

/** Waits until all of them could read an event at once; a failure names who could not. */
export async function read(
  listeners: readonly Player[],
  eventId: string,
  body: string,
): Promise<PeerMessage[]> {
  return await Promise.all(listeners.map(async (listener) => {
    const heard = await listener.outcome(eventId);
    const told = heard.event === "message" ? [heard.body, heard.encrypted, heard.late] : heard;
    assertEquals([nameOf(listener), told], [nameOf(listener), [body, true, false]]);
    return heard as PeerMessage; // it is what it was compared with
  }));
}

/** Waits until none of them could read an event. */
export async function unread(
  listeners: readonly Player[],
  eventId: string,
): Promise<PeerUndecryptable[]> {
  return await Promise.all(listeners.map(async (listener) => {
    const heard = await listener.outcome(eventId);
    assertEquals([nameOf(listener), heard.event], [nameOf(listener), "undecryptable"]);
    return heard as PeerUndecryptable; // it is what it was compared with
  }));
}

/**
 * One says something that all the others read at once; returns the Megolm session that it was said
 * in.
 */
export async function says(
  speaker: Player,
  listeners: readonly Player[],
  roomId: string,
  body: string,
): Promise<string> {
  const eventId = await speaker.sendText(roomId, body);
  const sessions = new Set((await read(listeners, eventId, body)).map(({ sessionId }) => sessionId));
  const [session] = sessions;
  assertEquals(sessions.size, 1);
  if (typeof session !== "string") throw new Error("It was not received in a session");
  return session;
}

/** Says something in another session than before, and returns that. */
export async function rotates(
  former: string,
  ...[speaker, listeners, roomId, body]: Parameters<typeof says>
): Promise<string> {
  const session = await says(speaker, listeners, roomId, body);
  assertNotEquals(session, former, `${nameOf(speaker)} has not rotated: ${body}`);
  return session;
}

function nameOf(player: Player): string {
  return player instanceof Peer ? player.kind : player.userId;
}
