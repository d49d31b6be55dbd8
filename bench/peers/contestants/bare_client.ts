/**
 * The least that a client can be: `fetch`, `JSON.parse`, and nothing around them.
 *
 * @module
 */

import { TEXT, url } from "./drive.mjs";

/** What of a sync response is looked at. */
export interface Response {
  readonly next_batch: string;
  readonly rooms?: {
    readonly join?: Readonly<Record<string, { readonly state?: Events; readonly timeline: Events }>>;
  };
  readonly to_device?: Events;
  readonly device_one_time_keys_count?: Readonly<Record<string, number>>;
}

interface Events {
  readonly events: readonly Event[];
}

/** An event. */
export interface Event {
  readonly type: string;
  readonly state_key?: string;
  readonly content: Readonly<Record<string, unknown>>;
}

/** A client with an access token. */
export class BareClient {
  readonly #headers: Readonly<Record<string, string>>;
  #sent = 0;

  /** @param token Its access token. */
  constructor(token: string) {
    this.#headers = { authorization: `Bearer ${token}` };
  }

  /** Syncs for as long as the process lives; asks for more when a response has been taken. */
  async sync(take: (response: Response) => unknown): Promise<void> {
    for (let since = "";;) {
      const query = since === "" ? "" : `&since=${since}`;
      const body: Response = await this.#fetch("GET", `sync?timeout=30000${query}`);
      since = body.next_batch;
      await take(body);
    }
  }

  /** Answers each event of a response's timelines with a message. */
  answer({ rooms }: Response, send: (roomId: string, body: string) => unknown): void {
    for (const [roomId, { timeline }] of Object.entries(rooms?.join ?? {})) {
      for (const _event of timeline.events) send(roomId, TEXT);
    }
  }

  /** Sends an event. */
  send(roomId: string, type: string, content: object): Promise<unknown> {
    return this.put(`rooms/${encodeURIComponent(roomId)}/send/${type}/t${this.#sent++}`, content);
  }

  /** Puts something. */
  put(path: string, body: object): Promise<unknown> {
    return this.#fetch("PUT", path, body);
  }

  /** Posts something. */
  post(path: string, body: object): Promise<unknown> {
    return this.#fetch("POST", path, body);
  }

  // deno-lint-ignore no-explicit-any -- whatever the server says
  async #fetch(method: string, path: string, body?: object): Promise<any> {
    const response = await fetch(`${url}/_matrix/client/v3/${path}`, {
      method,
      headers: this.#headers,
      body: body && JSON.stringify(body),
    });
    return JSON.parse(await response.text());
  }
}
