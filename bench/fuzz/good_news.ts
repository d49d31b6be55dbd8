/**
 * Sync responses with messages that have to reach a handler, whatever came before.
 *
 * @module
 */

import type { Cast } from "./cast.ts";
import { ANY, type Served } from "./server.ts";

/** No other response mentions these rooms. */
const PLAIN_ROOM = "!plain:honest.example";
const ENCRYPTED_ROOM = "!encrypted:honest.example";
/** So often one of the messages is encrypted. */
const ENCRYPTED_EVERY = 4;

/** Whatever became of the response before: it is given as often as it is asked for. */
const AGAIN = { since: ANY, most: Infinity } as const;

const encoder = new TextEncoder();

/** Such a response. */
export interface News extends Served {
  readonly next: string;
  /** What the messages say. */
  readonly texts: readonly string[];
}

/** Makes them. */
export class GoodNews {
  readonly #cast: Cast;
  #count = 0;

  /** @param cast Says whose they are. */
  constructor(cast: Cast) {
    this.#cast = cast;
  }

  /** One that ends with a token. */
  tell(next: string): News {
    const number = this.#count++;
    const text = `plain ${number}`;
    const join = { [PLAIN_ROOM]: room(this.#message(text)) };
    const response = {
      next_batch: next,
      rooms: { join },
      device_one_time_keys_count: { signed_curve25519: this.#cast.keyCount },
      device_unused_fallback_key_types: ["signed_curve25519"],
    };
    if (number === 0 || number % ENCRYPTED_EVERY !== 0) {
      return { ...AGAIN, next, bytes: encoded(response), texts: [text], count: 0 };
    }
    const secret = `encrypted ${number}`;
    const { honest } = this.#cast;
    const key = this.#cast.olm(honest, "m.room_key", this.#cast.roomKey(honest, ENCRYPTED_ROOM));
    const payload = {
      type: "m.room.message",
      room_id: ENCRYPTED_ROOM,
      content: { msgtype: "m.text", body: secret },
    };
    const content = this.#cast.megolm(honest, ENCRYPTED_ROOM, payload);
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
      sender: this.#cast.honest.userId,
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
