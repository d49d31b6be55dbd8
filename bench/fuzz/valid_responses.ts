/**
 * Sync responses with messages that have to reach a handler, whatever came before.
 *
 * @module
 */

import type { Senders } from "./senders.ts";
import { ANY, type Served } from "./server.ts";

/** No other response mentions these rooms. */
const PLAIN_ROOM = "!plain:honest.example";
export const ENCRYPTED_ROOM = "!encrypted:honest.example";
/** So often one of the messages is encrypted. */
const ENCRYPTED_EVERY = 4;

/** Served as often as it is requested, whatever the response before. */
const AGAIN = { since: ANY, most: Infinity } as const;

const encoder = new TextEncoder();

/** A valid response. */
export interface ValidResponse extends Served {
  readonly next: string;
  /** The texts of the messages. */
  readonly texts: readonly string[];
}

/** Makes valid responses. */
export class ValidResponses {
  readonly #senders: Senders;
  readonly #encryptedEvery: number;
  #count = 0;

  /**
   * @param senders The senders.
   * @param options.encryptedEvery Every how many responses have an encrypted message. Default: 4.
   */
  constructor(senders: Senders, { encryptedEvery = ENCRYPTED_EVERY } = {}) {
    this.#senders = senders;
    this.#encryptedEvery = encryptedEvery;
  }

  /** Makes one with a token. */
  make(next: string): ValidResponse {
    const number = this.#count++;
    const text = `plain ${number}`;
    const join = { [PLAIN_ROOM]: room(this.#message(text)) };
    const response = {
      next_batch: next,
      rooms: { join },
      device_one_time_keys_count: { signed_curve25519: this.#senders.keyCount },
      device_unused_fallback_key_types: ["signed_curve25519"],
    };
    if (number === 0 || number % this.#encryptedEvery !== 0) {
      return { ...AGAIN, next, bytes: encoded(response), texts: [text], count: 0 };
    }
    const secret = `encrypted ${number}`;
    const { honest } = this.#senders;
    const key = this.#senders.olm(honest, "m.room_key", this.#senders.roomKey(honest, ENCRYPTED_ROOM));
    const payload = {
      type: "m.room.message",
      room_id: ENCRYPTED_ROOM,
      content: { msgtype: "m.text", body: secret },
    };
    const content = this.#senders.megolm(honest, ENCRYPTED_ROOM, payload);
    const encrypted = { ...this.#message(secret), type: "m.room.encrypted", content };
    const both = { [PLAIN_ROOM]: room(this.#message(text)), [ENCRYPTED_ROOM]: room(encrypted) };
    return {
      ...AGAIN,
      count: 0,
      next,
      bytes: encoded({ ...response, to_device: { events: [key] }, rooms: { join: both } }),
      texts: [text, secret],
    };
  }

  #message(text: string): Record<string, unknown> {
    return {
      type: "m.room.message",
      event_id: `$${text.replace(" ", "")}`,
      sender: this.#senders.honest.userId,
      origin_server_ts: 1_790_000_000_000,
      content: { msgtype: "m.text", body: text },
    };
  }
}

function room(event: unknown): unknown {
  return { timeline: { events: [event], limited: false } };
}

function encoded(value: unknown): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify(value));
}
