/**
 * The clients that act as users of an application service: made when they act, and only so many at
 * a time.
 *
 * @module
 */

import { HTTPAPI } from "../api/http/http_api.ts";
import type { HTTPAPIOptions, Prepare } from "../api/http/http_options.ts";
import { RecentMap } from "../base/recent_map.ts";
import { Client } from "../client/client.ts";
import type { ClientOptions } from "../client/client_options.ts";
import type { DeviceID, UserID } from "../types/ids.ts";

/** What acting clients are made of. */
export interface ActingClientsOptions extends Pick<ClientOptions, "store" | "lease" | "encryption"> {
  /** The transport of all. */
  readonly transport: HTTPAPIOptions;
  /** The client of the own user. */
  readonly bot: Client;
  /** The device that each user has; undefined: none. */
  readonly deviceId: DeviceID | undefined;
  /** What has to be done before a request of a user. */
  readonly prepare: (userId: UserID) => Prepare;
  /** How many there are at a time. */
  readonly limit: number;
}

/** A client that acts. */
interface Acting {
  readonly client: Client;
  /** How many of its operations have not ended. */
  busy: number;
}

/** Clients that act as users. */
export class ActingClients {
  readonly #options: ActingClientsOptions;
  readonly #clients = new RecentMap<UserID, Acting>();
  /** Those that have to go, and are still at work. */
  readonly #leaving = new Map<UserID, Acting>();
  /** Clients that are being closed: another of the same user waits for its device. */
  readonly #closing = new Set<Promise<void>>();

  /** @param options What they are made of. */
  constructor(options: ActingClientsOptions) {
    this.#options = options;
  }

  /**
   * Has the client of a user do something.
   *
   * @param call What; the client is kept until what it returns has settled.
   * @returns What it returned.
   */
  run<Result>(userId: UserID, call: (client: Client) => Result): Result {
    const { bot } = this.#options;
    if (userId === bot.mxid) return call(bot);
    const acting = this.#of(userId);
    const result = call(acting.client);
    if (result instanceof Promise) {
      acting.busy++;
      const ended = (): void => this.#ended(userId, acting);
      result.then(ended, ended);
    }
    return result;
  }

  /** Closes all. */
  async close(): Promise<void> {
    for (const { client } of this.#leaving.values()) this.#close(client);
    this.#leaving.clear();
    for (let oldest; (oldest = this.#clients.removeOldest()) !== undefined;) this.#close(oldest.client);
    await Promise.all(this.#closing);
  }

  #of(userId: UserID): Acting {
    const known = this.#clients.get(userId);
    if (known !== undefined) return known;
    const acting = this.#leaving.get(userId) ?? { client: this.#make(userId), busy: 0 };
    this.#leaving.delete(userId);
    this.#clients.set(userId, acting);
    while (this.#clients.size > this.#options.limit) {
      const oldest = this.#clients.removeOldest();
      if (oldest === undefined) break;
      if (oldest.busy > 0) this.#leaving.set(oldest.client.mxid as UserID, oldest); // it was made with one
      else this.#close(oldest.client);
    }
    return acting;
  }

  #ended(userId: UserID, acting: Acting): void {
    acting.busy--;
    if (acting.busy > 0 || this.#leaving.get(userId) !== acting) return;
    this.#leaving.delete(userId);
    this.#close(acting.client);
  }

  #make(userId: UserID): Client {
    const { transport, bot: { stateStore }, deviceId, prepare, store, lease, encryption } = this.#options;
    const http = { ...transport, asUserId: userId, asDeviceId: deviceId, prepare: prepare(userId) };
    const api = new HTTPAPI(http);
    const { log } = transport;
    const common = { api, mxid: userId, deviceId: deviceId ?? "", stateStore, log };
    if (deviceId === undefined) return new Client(common);
    const client = new Client({ ...common, store, lease, encryption: ofGhost(encryption) });
    void client.fetch; // it does not sync, and keeps its device no longer than it takes to send
    return client;
  }

  /** Without encryption there is nothing to close. */
  #close(client: Client): void {
    if (client.crypto === undefined) return;
    const closed = client.close().finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

/** How users other than the own one encrypt: they have no identity of their own. */
function ofGhost(encryption: ClientOptions["encryption"]): ClientOptions["encryption"] {
  if (typeof encryption !== "object") return encryption;
  const { sendTo, accept, unencrypted } = encryption;
  return { sendTo, accept, unencrypted };
}
