/**
 * What the server lets the user do.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#capabilities-negotiation | Capabilities negotiation}
 * @module
 */

import type { Capabilities } from "../../types/api/capabilities.ts";
import { endpoint, field } from "../http/endpoint.ts";
import type { RequestOptions } from "../http/request_options.ts";
import type { Session } from "../session.ts";

const get = endpoint(
  "getCapabilities",
  "GET",
  "/_matrix/client/v3/capabilities",
  field<Capabilities>("capabilities", "object"),
);

/** The operation on capabilities. */
export interface CapabilitiesAPI {
  /**
   * Asks what the server lets the user do.
   *
   * @param options Request options.
   * @returns The capabilities; what is missing has the default that its documentation says.
   * @see {@link https://spec.matrix.org/v1.16/client-server-api/#get_matrixclientv3capabilities | GET /capabilities}
   */
  getCapabilities(options?: RequestOptions): Promise<Capabilities>;
}

/** Makes the operation on capabilities. */
export function capabilitiesAPI({ http }: Session): CapabilitiesAPI {
  return { getCapabilities: (options) => http.call(get, { path: {} }, options) };
}
