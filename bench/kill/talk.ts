/**
 * The peers' talk: numbered messages, all the time, in all rooms, from all sorts of sessions.
 *
 * @module
 */

import type { RoomID } from "@greenroom/matrix";
import { delay } from "@std/async/delay";
import type { Peer } from "../../tests/e2e/support/peer.ts";
import type { Random } from "./random.ts";
import type { Stage } from "./stage.ts";
import { visit } from "./visitor.ts";

/** A message of a peer. */
export interface Said {
  readonly eventId: string;
  readonly roomId: RoomID;
  readonly body: string;
  readonly by: string;
}

/** How long a speaker waits between two messages, at most, in milliseconds. */
const PAUSE_MS = 3_000;
/** How often a speaker begins a new session first. */
const ROTATIONS = 0.2;
/** How many messages the victim may be behind before they wait for it. */
const BACKLOG = 40;

/** Somebody who can say something in a room. */
interface Speaker {
  readonly name: string;
  readonly roomId: RoomID;
  say(body: string): Promise<string>;
  rotate(): Promise<void>;
}

/** All who talk. */
export class Talk {
  /** What they have said. */
  readonly said: Said[] = [];
  /** What they could not say, and why. */
  readonly failed: string[] = [];
  readonly #speakers: readonly Speaker[];
  readonly #random: Random;
  readonly #behind: () => number;
  readonly #stopping = new AbortController();
  #talking: Promise<unknown> = Promise.resolve();
  #number = 0;

  /**
   * @param stage Where they are.
   * @param options `behind`: how many of their messages the victim has not answered.
   */
  constructor(stage: Stage, options: { random: Random; behind: () => number }) {
    this.#random = options.random;
    this.#behind = options.behind;
    this.#speakers = stage.rooms.flatMap(({ roomId, peers }) => [
      observerSpeaker(stage, roomId),
      ...peers.map((peer) => peerSpeaker(peer, roomId)),
    ]);
  }

  /** Has them begin. */
  start(): void {
    this.#talking = Promise.all(this.#speakers.map((speaker) => this.#talk(speaker)));
  }

  /** Has them stop. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#talking;
  }

  /** Has somebody come to the first room, say something and go. */
  async visit({ server, visitor, rooms: [room] }: Stage): Promise<void> {
    if (room === undefined) return;
    const { roomId } = room;
    try {
      const said = await visit(server, visitor, { roomId, body: `peer visitor ${this.#number++}` });
      this.said.push({ ...said, roomId, by: "visitor" });
    } catch (error) {
      this.failed.push(`visitor: ${error}`);
    }
  }

  async #talk(speaker: Speaker): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      if (this.#behind() < BACKLOG) await this.#say(speaker);
      await delay(this.#random() * PAUSE_MS, { signal }).catch(() => {});
    }
  }

  async #say(speaker: Speaker): Promise<void> {
    const { name: by, roomId } = speaker;
    try {
      if (this.#random() < ROTATIONS) await speaker.rotate();
      const body = `peer ${by} ${this.#number++}`;
      const eventId = await speaker.say(body);
      this.said.push({ eventId, roomId, body, by });
    } catch (error) {
      this.failed.push(`${by}: ${error}`);
    }
  }
}

function observerSpeaker({ observer }: Stage, roomId: RoomID): Speaker {
  return {
    name: "observer",
    roomId,
    say: (body) => observer.sendText(roomId, body),
    rotate: async () => await observer.crypto?.discardGroupSession(roomId),
  };
}

function peerSpeaker(peer: Peer, roomId: RoomID): Speaker {
  return {
    name: `${peer.kind} ${peer.deviceId}`,
    roomId,
    say: (body) => peer.sendText(roomId, body),
    rotate: () => peer.rotate(roomId),
  };
}
