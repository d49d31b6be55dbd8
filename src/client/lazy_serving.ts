/**
 * What a client answers, loaded with the first request.
 *
 * @module
 */

import type { AllAPI } from "../api/api.ts";
import type { ClientBasics } from "./client_basics.ts";
import type { ClientLife } from "./client_life.ts";
import type { WakeAPI } from "./client_options.ts";

/** What a client answers. */
export class LazyServing implements WakeAPI {
  readonly #of: [client: ClientBasics, life: ClientLife, api: AllAPI];
  #loading: Promise<import("./serving/serving.ts").Serving> | undefined;

  /**
   * @param client What lasts of the client.
   * @param life Makes passes.
   * @param api The operations.
   */
  constructor(client: ClientBasics, life: ClientLife, api: AllAPI) {
    this.#of = [client, life, api];
  }

  /** Answers a request; never rejects. */
  readonly fetch = async (request: Request): Promise<Response> =>
    await (await this.#loaded()).answer(request);

  readonly registerWake: WakeAPI["registerWake"] = async (url, options) =>
    await (await this.#loaded()).registerWake(url, options);

  async #loaded() {
    return await (this.#loading ??= import("./serving/serving.ts").then(({ Serving }) =>
      new Serving(...this.#of)
    ));
  }
}
