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

/** Clients that act as users. */
export class ActingClients {
  readonly #options: ActingClientsOptions;
  readonly #clients = new RecentMap<UserID, Client>();
  /** Clients that are being closed: another of the same user waits for its device. */
  readonly #closing = new Set<Promise<void>>();

  /** @param options What they are made of. */
  constructor(options: ActingClientsOptions) {
    this.#options = options;
  }

  /** The client that acts as a user. */
  of(userId: UserID): Client {
    const { bot, limit } = this.#options;
    if (userId === bot.mxid) return bot;
    const known = this.#clients.get(userId);
    if (known !== undefined) return known;
    const client = this.#make(userId);
    this.#clients.set(userId, client);
    while (this.#clients.size > limit) this.#close(this.#clients.removeOldest());
    return client;
  }

  /** Closes all. */
  async close(): Promise<void> {
    while (this.#clients.size > 0) this.#close(this.#clients.removeOldest());
    await Promise.all(this.#closing);
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
  #close(client: Client | undefined): void {
    if (client?.crypto === undefined) return;
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
