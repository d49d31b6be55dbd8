/**
 * The users that a client under test receives messages from, with real devices and real
 * encryption.
 *
 * @module
 */

import type { OlmSession, OutboundGroupSession, Vodozemac } from "@greenroom/vodozemac-wasm";
import type { Random } from "../../vodozemac-wasm/fuzz/random.ts";
import { makePerson, type Person } from "../peers/inputs/person.ts";
import { OWN_USER } from "../peers/inputs/room_inputs.ts";
import { StubKeys } from "../peers/stub/stub_keys.ts";
import { jsonText } from "./odd_values.ts";

/** The algorithm of messages in rooms. */
export const MEGOLM = "m.megolm.v1.aes-sha2";
const OLM = "m.olm.v1.curve25519-aes-sha2";
/** After so many messages a device starts another session. */
const SESSION_MESSAGES = 100;
const PEOPLE = ["honest", "alice", "bob", "carol", "mallory", "valueOf", "eve", "dave", "zoë"];
const MAX_REMEMBERED = 20;

type Json = Record<string, unknown>;

/** Users with their devices, and the keys on the server, the client's too. */
export class Senders implements Disposable {
  /** The client's keys, and those that it may query and claim. */
  readonly keys: StubKeys;
  readonly people: readonly Person[];
  /** A user without a device. */
  readonly honest: Person;
  readonly #vodozemac: Vodozemac;
  /** Whether the client has published its keys. */
  isPublished = false;
  readonly #olm = new Map<Person, { readonly session: OlmSession; messages: number }>();
  readonly #megolm = new Map<string, OutboundGroupSession>();
  /** Contents that were sent, to be sent again. */
  readonly #sent: Json[] = [];

  /**
   * @param people The users; they can be shared between clients. The first is the honest one.
   */
  constructor(vodozemac: Vodozemac, people: readonly [Person, ...Person[]]) {
    this.#vodozemac = vodozemac;
    [this.honest, ...this.people] = people;
    this.keys = new StubKeys(new Map(people.map((person) => [person.userId, person])));
  }

  /** Makes people. */
  static people(vodozemac: Vodozemac): [Person, ...Person[]] {
    const [first = "", ...others] = PEOPLE.map((name) => `@${name}:example.org`);
    const make = (userId: string, index: number) => makePerson(vodozemac, userId, `DEVICE${index}`);
    return [make(first, 0), ...others.map((userId, index) => make(userId, index + 1))];
  }

  /** How many of the client's one-time keys are unclaimed. */
  get keyCount(): number {
    return this.isPublished ? this.keys.recipient.oneTimeKeys.length : 0;
  }

  /** Receives what the client publishes, and answers. */
  upload(body: Json): object {
    this.isPublished ||= body.device_keys !== undefined;
    return this.keys.upload(body);
  }

  /**
   * A message to the client's device that only it can read; undefined before it has published its
   * keys.
   */
  olm(from: Person, type: string, content: unknown, change: Json = {}): Json | undefined {
    const recipient = this.keys.recipient;
    const session = this.#olmSession(from);
    if (session === undefined) return undefined;
    const payload = {
      type,
      content,
      sender: from.userId,
      sender_device: from.deviceId,
      keys: { ed25519: from.account.ed25519Key },
      recipient: OWN_USER,
      recipient_keys: { ed25519: recipient.ed25519 },
      sender_device_keys: from.deviceKeys,
      ...change,
    };
    const ciphertext = { [recipient.curve25519]: session.encrypt(jsonText(payload)) };
    const encrypted = { algorithm: OLM, sender_key: from.account.curve25519Key, ciphertext };
    return { type: "m.room.encrypted", sender: from.userId, content: encrypted };
  }

  /** The content of a message that is encrypted with Megolm. */
  megolm(from: Person, roomId: string, payload: unknown): Json {
    const session = this.#megolmSession(from, roomId);
    const content = {
      algorithm: MEGOLM,
      sender_key: from.account.curve25519Key,
      device_id: from.deviceId,
      session_id: session.sessionId,
      ciphertext: session.encrypt(jsonText(payload)),
    };
    if (this.#sent.length < MAX_REMEMBERED) this.#sent.push(content);
    else this.#sent[content.ciphertext.length % MAX_REMEMBERED] = content;
    return content;
  }

  /** The content of a room key: the present state of a device's session in a room. */
  roomKey(from: Person, roomId: string): Json {
    const session = this.#megolmSession(from, roomId);
    return {
      algorithm: MEGOLM,
      room_id: roomId,
      session_id: session.sessionId,
      session_key: session.sessionKey(),
    };
  }

  /** The same, forwarded by a user that it does not belong to. */
  forwardedKey(from: Person, roomId: string): Json {
    const key = this.roomKey(from, roomId);
    using copy = this.#vodozemac.megolm.createInbound(String(key.session_key));
    return {
      ...key,
      session_key: copy.exportAt(0) ?? "",
      sender_key: from.account.curve25519Key,
      sender_claimed_ed25519_key: from.account.ed25519Key,
      forwarding_curve25519_key_chain: [],
    };
  }

  /** A content that was sent before. */
  replayed(random: Random): Json | undefined {
    return this.#sent.length === 0 ? undefined : random.pick(this.#sent);
  }

  [Symbol.dispose](): void {
    for (const { session } of this.#olm.values()) session[Symbol.dispose]();
    for (const session of this.#megolm.values()) session[Symbol.dispose]();
  }

  #olmSession(from: Person): OlmSession | undefined {
    const known = this.#olm.get(from);
    if (known !== undefined && known.messages++ < SESSION_MESSAGES) return known.session;
    const { curve25519, oneTimeKeys } = this.keys.recipient;
    // The newest: a client without keys on the server drops the oldest.
    const oneTimeKey = (oneTimeKeys as string[]).pop();
    if (oneTimeKey === undefined) return known?.session;
    known?.session[Symbol.dispose]();
    const session = from.account.createOutboundSession(curve25519, oneTimeKey);
    this.#olm.set(from, { session, messages: 1 });
    return session;
  }

  #megolmSession(from: Person, roomId: string): OutboundGroupSession {
    const name = `${from.userId} ${roomId}`;
    const known = this.#megolm.get(name);
    if (known !== undefined && known.messageIndex < SESSION_MESSAGES) return known;
    known?.[Symbol.dispose]();
    const session = this.#vodozemac.megolm.createOutbound();
    this.#megolm.set(name, session);
    return session;
  }
}
