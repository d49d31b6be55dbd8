/**
 * The messages of the peers: numbered, all the time, in all rooms, from all kinds of sessions.
 *
 * @module
 */

import { Client } from "@greenroom/matrix";
import type { RoomID } from "@greenroom/matrix/types";
import { delay } from "@std/async/delay";
import type { Peer } from "../../tests/e2e/support/peer/peer.ts";
import { newDevice } from "../../tests/e2e/support/peer/peer_device.ts";
import type { SynapseServer, TestUser } from "../../tests/e2e/support/synapse.ts";
import { say } from "./homeserver.ts";
import type { Random } from "./random.ts";
import type { Setup } from "./setup.ts";
import { EVERYBODY } from "../../tests/support/everybody.ts";

/** A message of a peer. */
export interface Said {
  readonly eventId: string;
  readonly roomId: RoomID;
  readonly number: number;
  readonly by: string;
}

/** How often a peer starts a new session first. */
const ROTATIONS = 0.2;
/** How often a user sends more than fits into one sync, and how much. */
const BURSTS = { odds: 0.05, messages: 12 };

/** A user who can send to a room. */
interface Speaker {
  readonly name: string;
  readonly roomId: RoomID;
  readonly talksMuch: boolean;
  say(body: string): Promise<string>;
  rotate(): Promise<void>;
}

/** The peers that send. */
export class Talk {
  /** Their messages. */
  readonly said: Said[] = [];
  /** The messages that failed, with the reason. */
  readonly failed: string[] = [];
  readonly #setup: Setup;
  readonly #random: Random;
  readonly #mayTalk: () => boolean;
  readonly #pauseMs: number;
  readonly #stopping = new AbortController();
  readonly #talking: Promise<void>[] = [];
  #number = 0;

  /**
   * @param setup The setup of the run.
   * @param options `mayTalk`: whether the bot is not too far behind; `pauseMs`: how long a speaker
   * waits between two messages, at most, in milliseconds.
   */
  constructor(setup: Setup, options: { random: Random; mayTalk: () => boolean; pauseMs: number }) {
    this.#setup = setup;
    this.#random = options.random;
    this.#mayTalk = options.mayTalk;
    this.#pauseMs = options.pauseMs;
  }

  /** Starts the peers in rooms that are not encrypted. */
  startPlain(): void {
    const { server, guests, plainRooms } = this.#setup;
    this.#start(plainRooms.flatMap((roomId) => guests.map((guest) => plainSpeaker(server, guest, roomId))));
  }

  /**
   * Starts the peers in encrypted rooms. Call it once they have the bot's device.
   */
  startEncrypted(): void {
    this.#start(this.#setup.rooms.flatMap(({ roomId, peers }) => [
      observerSpeaker(this.#setup, roomId),
      ...peers.map((peer) => peerSpeaker(peer, roomId)),
    ]));
  }

  /** Stops them. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#talking);
  }

  /** Makes a user join the first room, send a message and leave. */
  async visit(): Promise<void> {
    const { server, visitor, rooms: [room] } = this.#setup;
    if (room === undefined) return;
    const { roomId } = room;
    const number = this.#number++;
    try {
      const eventId = await visit(server, visitor, { roomId, body: `peer visitor ${number}` });
      this.said.push({ eventId, roomId, number, by: "visitor" });
    } catch (error) {
      this.failed.push(`visitor: ${error}`);
    }
  }

  #start(speakers: readonly Speaker[]): void {
    this.#talking.push(...speakers.map((speaker) => this.#talk(speaker)));
  }

  async #talk(speaker: Speaker): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const isMuch = this.#random() < BURSTS.odds && speaker.talksMuch;
      for (let left = isMuch ? BURSTS.messages : 1; left > 0 && this.#mayTalk(); left--) {
        await this.#say(speaker);
      }
      await delay(this.#random() * this.#pauseMs, { signal }).catch(() => {});
    }
  }

  async #say(speaker: Speaker): Promise<void> {
    const { name: by, roomId } = speaker;
    try {
      if (this.#random() < ROTATIONS) await speaker.rotate();
      const number = this.#number++;
      const eventId = await speaker.say(`peer ${by} ${number}`);
      this.said.push({ eventId, roomId, number, by });
    } catch (error) {
      this.failed.push(`${by}: ${error}`);
    }
  }
}

function plainSpeaker(server: SynapseServer, guest: TestUser, roomId: RoomID): Speaker {
  return {
    name: "guest",
    roomId,
    talksMuch: true,
    say: (body) => say(server, guest, { roomId, body }),
    rotate: () => Promise.resolve(),
  };
}

function observerSpeaker({ observer }: Setup, roomId: RoomID): Speaker {
  return {
    name: "observer",
    roomId,
    talksMuch: false,
    say: (body) => observer.sendText(roomId, body),
    rotate: async () => await observer.crypto?.discardGroupSession(roomId),
  };
}

function peerSpeaker(peer: Peer, roomId: RoomID): Speaker {
  return {
    name: `${peer.kind} ${peer.deviceId}`,
    roomId,
    talksMuch: false,
    say: (body) => peer.sendText(roomId, body),
    rotate: () => peer.rotate(roomId),
  };
}

/**
 * A visitor with a new device sends a message and logs out, so that the bot's one-time keys are
 * used and the devices of its rooms change. Returns the message's event ID.
 */
async function visit(
  server: SynapseServer,
  user: TestUser,
  { roomId, body }: { roomId: RoomID; body: string },
): Promise<string> {
  const { accessToken } = await newDevice(server, user);
  await using client = new Client({ baseUrl: server.baseUrl, accessToken, encryption: EVERYBODY });
  const eventId = await client.sendText(roomId, body);
  await client.logout();
  return eventId;
}
