/**
 * Servers that relay calls.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#voice-over-ip | Voice over IP}
 * @module
 */

import { CALL } from "../http/http_internals.ts";
import { endpoint, fields, jsonObject } from "../http/endpoint.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { Session } from "../session.ts";

/** How to use the server's TURN servers. */
export interface TurnServer {
  /** The user name. */
  username: string;
  /** The password. Secret. */
  password: string;
  /** Where the TURN servers are: URIs that start with `turn:` or `turns:`. */
  uris: string[];
  /** For how long user name and password are good, in seconds. */
  ttl: number;
}

const turnServer = fields<TurnServer>({
  username: "string",
  password: "string",
  uris: "array",
  ttl: "number",
});
const get = endpoint(
  "getTurnServer",
  "GET",
  "/_matrix/client/v3/voip/turnServer",
  // A server without TURN answers with an empty object.
  (body, request) =>
    Object.keys(jsonObject(body, request)).length === 0 ? undefined : turnServer(body, request),
);

/** The operation on servers that relay calls. */
export interface VoIPAPI {
  /**
   * Asks for servers that relay calls.
   *
   * @param options Request options.
   * @returns Where they are, and how to use them: keep it secret. Undefined if the homeserver has
   *   none.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3voipturnserver | GET /voip/turnServer}
   */
  getTurnServer(options?: RequestOptions): Promise<TurnServer | undefined>;
}

/** Makes the operation on servers that relay calls. */
export function voipAPI({ http }: Session): VoIPAPI {
  return { getTurnServer: (options) => http[CALL](get, { path: {} }, options) };
}
