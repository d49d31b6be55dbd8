/**
 * The in-process homeserver as a host of the operations, set up as the Synapse of the tests is.
 *
 * @module
 */

import { Homeserver, type HomeserverOptions } from "@greenroom/matrix/testing";
import type { OperationsHost } from "./operation.ts";

/** A homeserver in this process; disposing of it fails if something went wrong inside it. */
export class InProcessHost implements OperationsHost, AsyncDisposable {
  readonly baseUrl: string;
  readonly serverName: string;
  readonly fetch: typeof fetch;
  readonly homeserver: Homeserver;
  readonly #errors: unknown[] = [];

  /** @param options What else is set about it. */
  constructor(options: HomeserverOptions = {}) {
    this.homeserver = new Homeserver({
      onError: (error) => this.#errors.push(error),
      previewFetch: fetch,
      turnServer: { uris: ["turn:127.0.0.1?transport=udp"], username: "u", password: "p", ttl: 3600 },
      unstableFeatures: { "uk.tcpip.msc4133.stable": true, "org.matrix.msc4380.stable": true },
      ...options,
    });
    this.baseUrl = this.homeserver.baseUrl;
    this.serverName = this.homeserver.serverName;
    this.fetch = this.homeserver.fetch;
  }

  register(name: string): ReturnType<OperationsHost["register"]> {
    return Promise.resolve(this.homeserver.createUser(`${name}-${crypto.randomUUID().slice(0, 8)}`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.homeserver[Symbol.asyncDispose]();
    if (this.#errors.length > 0) {
      throw new AggregateError(this.#errors, "Cannot pass the test: the homeserver failed inside");
    }
  }
}
