/**
 * Sync responses of encrypted rooms: what is said is made from a seed, and encrypted once for all
 * clients.
 *
 * Only the messages to the device, which bring the keys, are made for each client, since each has
 * keys of its own.
 *
 * @module
 */

import { type OlmSession, type OutboundGroupSession, Vodozemac } from "@greenroom/vodozemac-wasm";
import { oneOf, type Random, seeded } from "../../kill/random.ts";
import { type InputResponse, responses } from "./inputs.ts";
import { makePerson, type Person } from "./person.ts";
import type { Sizes } from "./plan.ts";
import { type InputEvent, OWN_USER, RoomInputs } from "./room_inputs.ts";

/** How many people there are; rooms share them. */
const PEOPLE = 200;
/** How many of them write: each takes a one-time key of a client, which publishes fifty. */
const WRITERS = 20;
/** After so many messages another member continues, with a session of their own. */
const SESSION_MESSAGES = 30;
const MEGOLM = "m.megolm.v1.aes-sha2";
const OLM = "m.olm.v1.curve25519-aes-sha2";

/** The key of a session, which a client needs. */
interface RoomKey {
  readonly writer: Person;
  readonly content: object;
}

/** A response, but for what is each client's own. */
interface SealedResponse {
  /** Its text from behind the first brace. */
  readonly rest: Uint8Array<ArrayBuffer>;
  /** The keys that come with it. */
  readonly keys: readonly RoomKey[];
}

/** Who keys are for. */
export interface Recipient {
  readonly curve25519: string;
  readonly ed25519: string;
  /** One-time keys, of which each writer takes one. */
  readonly oneTimeKeys: readonly string[];
}

interface Writing {
  readonly writer: Person;
  readonly session: OutboundGroupSession;
  messages: number;
}

const encoder = new TextEncoder();

/** Encrypted rooms, and their members. */
export class EncryptedInputs {
  readonly people: ReadonlyMap<string, Person>;
  readonly rooms: readonly RoomInputs[];
  readonly #writers: Person[];
  readonly #responses: readonly SealedResponse[];
  readonly #vodozemac: Vodozemac;
  readonly #random: Random;
  readonly #writing = new Map<string, Writing>();
  #newKeys: RoomKey[] = [];

  private constructor(vodozemac: Vodozemac, sizes: Sizes, seed: number) {
    this.#vodozemac = vodozemac;
    const random = this.#random = seeded(seed);
    const people = Array.from(
      { length: PEOPLE },
      (_, index) => makePerson(vodozemac, `@person${index}:example.org`, `DEVICE${index}`),
    );
    this.people = new Map(people.map((person) => [person.userId, person]));
    this.#writers = people.slice(0, WRITERS);
    // What the client sends goes to the first room, in which there is one other person.
    this.rooms = Array.from(
      { length: sizes.rooms },
      (_, index) => new RoomInputs(random, [OWN_USER, ...this.#some(index === 0 ? 1 : sizes.members - 1)]),
    );
    this.#responses = Array.from(
      responses({ random, rooms: this.rooms, sizes }),
      (response) => this.#seal(response),
    );
  }

  /** Makes them. */
  static async make(sizes: Sizes, seed: number): Promise<EncryptedInputs> {
    return new EncryptedInputs(await Vodozemac.load(), sizes, seed);
  }

  /** The responses for a client. */
  responsesFor(recipient: Recipient): Uint8Array<ArrayBuffer>[] {
    const sessions = new Map<Person, OlmSession>(this.#writers.map((writer, index) => {
      const oneTimeKey = recipient.oneTimeKeys[index];
      if (oneTimeKey === undefined) throw new Error("Cannot send keys: there are too few one-time keys");
      return [writer, writer.account.createOutboundSession(recipient.curve25519, oneTimeKey)];
    }));
    const bodies = this.#responses.map(({ rest, keys }) => {
      const events = keys.map((key) => toDevice(key, recipient, sessions.get(key.writer)));
      const head = encoder.encode(`{"to_device":${JSON.stringify({ events })},`);
      const body = new Uint8Array(head.length + rest.length);
      body.set(head);
      body.set(rest, head.length);
      return body;
    });
    for (const session of sessions.values()) session[Symbol.dispose]();
    return bodies;
  }

  /** Who is in a room, as state. */
  members(roomId: string): InputEvent[] {
    const state = this.rooms.find((room) => room.roomId === roomId)?.state() ?? [];
    return state.filter(({ type }) => type === "m.room.member");
  }

  /** Three who write, then others who don't. */
  #some(count: number): string[] {
    const everybody = [...this.people.keys()];
    const [writer, reader] = [WRITERS, PEOPLE - WRITERS].map((among) => Math.floor(this.#random() * among));
    const writers = [0, 1, 2].map((next) => everybody[((writer ?? 0) + next) % WRITERS]);
    const readers = Array.from(
      { length: count },
      (_, next) => everybody[WRITERS + ((reader ?? 0) + next) % (PEOPLE - WRITERS)],
    );
    return [...writers, ...readers].filter((userId) => userId !== undefined).slice(0, count);
  }

  #seal(response: InputResponse): SealedResponse {
    this.#newKeys = [];
    for (const [roomId, { state, timeline }] of Object.entries(response.rooms.join)) {
      state?.events.push(encryption(roomId));
      timeline.events.forEach((event, index) => {
        if (!("state_key" in event)) timeline.events[index] = this.#encrypt(roomId, event);
      });
    }
    const rest = encoder.encode(JSON.stringify(response).slice(1));
    return { rest, keys: this.#newKeys };
  }

  #encrypt(roomId: string, event: InputEvent): InputEvent {
    const { writer, session } = this.#write(roomId);
    const { "m.relates_to": relation, ...inner } = event.content as Record<string, unknown>;
    const payload = { type: event.type, content: inner, room_id: roomId };
    const content = {
      algorithm: MEGOLM,
      sender_key: writer.account.curve25519Key,
      device_id: writer.deviceId,
      session_id: session.sessionId,
      ciphertext: session.encrypt(JSON.stringify(payload)),
      ...(relation === undefined ? {} : { "m.relates_to": relation }),
    };
    return { ...event, type: "m.room.encrypted", sender: writer.userId, content };
  }

  /** Who writes the next message in a room. */
  #write(roomId: string): Writing {
    const found = this.#writing.get(roomId);
    if (found !== undefined && found.messages++ < SESSION_MESSAGES) return found;
    const members = this.rooms.find((room) => room.roomId === roomId)?.userIds ?? [];
    const writers = this.#writers.filter(({ userId }) => members.includes(userId));
    const writer = oneOf(this.#random, writers as [Person]);
    const session = this.#vodozemac.megolm.createOutbound();
    const [session_id, session_key] = [session.sessionId, session.sessionKey()];
    this.#newKeys.push({ writer, content: { algorithm: MEGOLM, room_id: roomId, session_id, session_key } });
    const writing = { writer, session, messages: 1 };
    this.#writing.set(roomId, writing);
    return writing;
  }
}

function encryption(roomId: string): InputEvent {
  return {
    type: "m.room.encryption",
    state_key: "",
    sender: "@person0:example.org",
    event_id: `$encryption${roomId.slice(1, 19)}`,
    origin_server_ts: 1_790_000_000_000,
    content: { algorithm: MEGOLM },
  };
}

function toDevice({ writer, content }: RoomKey, recipient: Recipient, session?: OlmSession): object {
  const { account, userId, deviceId } = writer;
  const payload = {
    type: "m.room_key",
    content,
    sender: userId,
    sender_device: deviceId,
    keys: { ed25519: account.ed25519Key },
    recipient: OWN_USER,
    recipient_keys: { ed25519: recipient.ed25519 },
  };
  const ciphertext = { [recipient.curve25519]: session?.encrypt(JSON.stringify(payload)) };
  const encrypted = { algorithm: OLM, sender_key: account.curve25519Key, ciphertext };
  return { type: "m.room.encrypted", sender: userId, content: encrypted };
}
