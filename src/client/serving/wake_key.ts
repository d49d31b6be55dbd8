/**
 * What a homeserver shows when it wakes a bot: the push key, derived from the application's secret.
 *
 * @module
 */

import { nodeCrypto } from "../../base/node_crypto.ts";
import { isSameSecret } from "../../base/same_secret.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { Session } from "../../api/http/mod.ts";
import type { WakeOptions } from "../wake_options.ts";

/** The longest push key that the specification allows, in bytes; ours has 43. */
const MAX_KEY = 512;

/** Makes the push key of a device, and recognises it. */
export class WakeKey {
  readonly #session: Pick<Session, "account">;
  readonly #secret: string;
  #key: Promise<string> | undefined;

  /**
   * @param session Whose device it is.
   * @param wake Has the secret.
   * @throws {ValueError} If there is none.
   */
  constructor(session: Pick<Session, "account">, wake: WakeOptions | undefined) {
    if (wake === undefined) {
      throw new ValueError("Cannot register a wake: the client has no secret for it; make it with wake");
    }
    this.#session = session;
    this.#secret = wake.secret;
  }

  /** The push key. Asks the server once whose the token is, if that is not known. */
  async get(): Promise<string> {
    return await (this.#key ??= this.#derive().catch((error) => {
      this.#key = undefined; // the next call tries again
      throw error;
    }));
  }

  /** Whether a text is the push key. How long that takes does not depend on what it says. */
  async matches(text: string): Promise<boolean> {
    if (text.length > MAX_KEY) return false;
    return await isSameSecret(text, await this.get());
  }

  async #derive(): Promise<string> {
    const account = await this.#session.account();
    const { createHmac } = await nodeCrypto();
    return createHmac("sha256", this.#secret).update(JSON.stringify(["greenroom wake", ...account]))
      .digest("base64url");
  }
}
