/**
 * Proving to a third party who one is.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#openid | OpenID}
 * @module
 */

import { CALL, endpoint, fields, type RequestOptions, type Session } from "../http/mod.ts";

/** A token that proves to a third party which Matrix user one is. */
export interface OpenIDToken {
  /** The token, for the third party to ask the homeserver about. Secret. */
  access_token: string;
  /** The kind of token: `Bearer`. */
  token_type: string;
  /** The homeserver to ask. */
  matrix_server_name: string;
  /** For how long the token is good, in seconds. */
  expires_in: number;
}

const request = endpoint(
  "getOpenIdToken",
  "POST",
  "/_matrix/client/v3/user/{userId}/openid/request_token",
  fields<OpenIDToken>({
    access_token: "string",
    token_type: "string",
    matrix_server_name: "string",
    expires_in: "number",
  }),
);

/** The operation on OpenID tokens. */
export interface OpenIDAPI {
  /**
   * Gets a token that proves to a third party who the user is. It gives no access to the account.
   *
   * @param options Request options.
   * @returns The token, and whom the third party has to ask about it.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#post_matrixclientv3useruseridopenidrequest_token | POST /user/{userId}/openid/request_token}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function signIn(client: Client, service: string): Promise<Response> {
   *   const token = await client.getOpenIdToken();
   *   return await fetch(service, { method: "POST", body: JSON.stringify(token) });
   * }
   * ```
   */
  getOpenIdToken(options?: RequestOptions): Promise<OpenIDToken>;
}

/** Makes the operation on OpenID tokens. */
export function openIdAPI(session: Session): OpenIDAPI {
  return {
    async getOpenIdToken(options) {
      const userId = await session.userId(options);
      return await session.http[CALL](request, { path: { userId } }, options);
    },
  };
}
