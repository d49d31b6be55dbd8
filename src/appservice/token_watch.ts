/**
 * Sees to it that a token that is dead ends the delivery, though no sync shows it.
 *
 * @module
 */

import { type HTTPAPI, IS_TOKEN_DEAD, type Prepare } from "../api/http/mod.ts";
import type { SyncFeed } from "../actors/syncer/syncer.ts";
import { UnknownTokenError } from "../errors/account_errcodes.ts";
import { ClientEndedError } from "../errors/matrix_error.ts";

/** Says whose token it is. */
const WHOAMI = "/_matrix/client/v3/account/whoami";
const REFUSED =
  "Cannot go on: the homeserver did not know the token for a while; make a new application service";

/** Watches the token of an application service, which all of its users have. */
export class TokenWatch {
  /** What it ends; set before anything is delivered. */
  feed!: Pick<SyncFeed, "fails">;
  /** The way to the homeserver as the own user; set before anything is delivered. */
  own!: HTTPAPI;
  readonly #http: HTTPAPI;

  /** @param http The way to the homeserver, as the application service itself. */
  constructor(http: HTTPAPI) {
    this.#http = http;
  }

  /** What has to be done before a request of the own user, whose client does not see that the token is dead there. */
  noticing(prepare: Prepare): Prepare {
    return async (...request) => {
      try {
        await prepare(...request);
      } catch (error) {
        if (error instanceof UnknownTokenError) await this.check();
        throw error;
      }
    };
  }

  /** Ends the delivery if the token is dead: what users were to do in handlers comes again. */
  async check(): Promise<void> {
    try {
      await this.#http.request("GET", WHOAMI);
    } catch (error) {
      if (error instanceof UnknownTokenError) this.feed.fails?.(error);
    }
  }

  /** Ends the delivery if the own user was refused: handlers may have been cut off. */
  async checkOwn(): Promise<void> {
    if (!this.own[IS_TOKEN_DEAD]) return;
    await this.own.request("GET", WHOAMI); // says so, in most cases
    this.feed.fails?.(new ClientEndedError(REFUSED));
  }
}
