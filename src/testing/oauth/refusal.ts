/**
 * How the authorization server refuses: an `error` in place of an `errcode`.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6749#section-5.2 | RFC 6749}
 *
 * @module
 */

import type { JsonObject } from "../../types/json.ts";
import { Failure } from "../json/json.ts";

/** A refusal of the authorization server. */
export class OAuthRefusal extends Failure {
  override readonly body: JsonObject;

  /** Makes a refusal. */
  constructor(status: number, error: string, description: string) {
    super(status, error, description, { headers: NO_STORE });
    this.body = { error, error_description: description };
  }
}

/** What keeps an answer out of caches. */
export const NO_STORE: Readonly<Record<string, string>> = { "cache-control": "no-store", pragma: "no-cache" };

/** 400, as most refusals are. */
export const refusal = (error: string, description: string): OAuthRefusal =>
  new OAuthRefusal(400, error, description);
