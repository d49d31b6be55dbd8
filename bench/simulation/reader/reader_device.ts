/**
 * A device of a member, with the keys of another implementation: it publishes them, and afterwards
 * fetches all that it was given. Requests are made by hand, so that nothing of Greenroom is between.
 *
 * @module
 */

import type { JsonObject } from "../../../src/types/json.ts";
import type { ReaderKeys, Traffic } from "./libolm_reader.ts";

/** A homeserver, and who asks it. */
export interface ReaderAccount {
  readonly baseUrl: string;
  readonly fetch: typeof fetch;
  readonly token: string;
}

const API = "/_matrix/client/v3";

/** A device that collects what it can't read itself. */
export class ReaderDevice {
  readonly #account: ReaderAccount;
  readonly #keys: ReaderKeys;

  private constructor(account: ReaderAccount, keys: ReaderKeys) {
    this.#account = account;
    this.#keys = keys;
  }

  /** Publishes the keys of the device. */
  static async publish(account: ReaderAccount, keys: ReaderKeys): Promise<ReaderDevice> {
    const device = new ReaderDevice(account, keys);
    const { device_keys, one_time_keys } = keys;
    await device.#request("POST", "/keys/upload", { device_keys, one_time_keys });
    return device;
  }

  /** All that the device was given, in rooms that its user is in. */
  async traffic(): Promise<Traffic> {
    const { user_id, device_id } = this.#keys.device_keys as { user_id: string; device_id: string };
    const { joined_rooms } = await this.#request("GET", "/joined_rooms") as { joined_rooms: string[] };
    const members = new Set<string>();
    const events: unknown[] = [];
    for (const room of joined_rooms) {
      const path = `/rooms/${encodeURIComponent(room)}`;
      const { joined } = await this.#request("GET", `${path}/joined_members`) as { joined: JsonObject };
      for (const member of Object.keys(joined)) members.add(member);
      events.push(...await this.#encryptedEvents(path));
    }
    return {
      account: this.#keys.account,
      user_id,
      device_id,
      device_keys: await this.#devicesOf([...members]),
      to_device: await this.#toDevice(),
      events,
    };
  }

  async #encryptedEvents(room: string): Promise<unknown[]> {
    const events: unknown[] = [];
    let from = "";
    do {
      const page = await this.#request("GET", `${room}/messages?dir=f&limit=100${from}`) as {
        chunk: { type: string }[];
        end?: string;
      };
      events.push(...page.chunk.filter(({ type }) => type === "m.room.encrypted"));
      from = page.end === undefined ? "" : `&from=${encodeURIComponent(page.end)}`;
    } while (from !== "");
    // Not redacted.
    return events.filter((event) => Object.keys((event as { content: object }).content).length > 0);
  }

  async #toDevice(): Promise<unknown[]> {
    const messages: unknown[] = [];
    for (let since = "";;) {
      const { next_batch, to_device: { events = [] } = {} } = await this.#request(
        "GET",
        `/sync?timeout=0${since}`,
      ) as { next_batch: string; to_device?: { events?: unknown[] } };
      if (events.length === 0) return messages;
      messages.push(...events);
      since = `&since=${encodeURIComponent(next_batch)}`;
    }
  }

  async #devicesOf(users: readonly string[]): Promise<unknown[]> {
    const query = Object.fromEntries(users.map((user) => [user, []]));
    const { device_keys } = await this.#request("POST", "/keys/query", { device_keys: query }) as {
      device_keys: Record<string, Record<string, unknown>>;
    };
    return Object.values(device_keys).flatMap((devices) => Object.values(devices));
  }

  async #request(method: string, path: string, body?: unknown): Promise<unknown> {
    const { baseUrl, fetch, token } = this.#account;
    const response = await fetch(`${baseUrl}${API}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(`Cannot ${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  }
}
