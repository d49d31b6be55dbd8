/**
 * Email addresses and phone numbers of accounts. Nobody has one: the homeserver sends no messages, as a Synapse that is
 * not set up to. A file of its own because no account has any.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#adding-account-administrative-contact-information | Contact information}
 * @module
 */

import { type AuthedRequest, openRoute, type Route, route } from "../http/http.ts";
import { type Answer, badRequest, Failure, requiredString } from "../json/json.ts";
import { checkAuth } from "../users/mod.ts";

const NO_MEDIUM = "M_THREEPID_MEDIUM_NOT_SUPPORTED";

function addAddress({ server, user, json }: AuthedRequest): never {
  checkAuth(json.auth);
  requiredString(json, "client_secret");
  requiredString(json, "sid");
  server.uia.require(json, "add a third-party identifier to your account", "m.login.password", user);
  throw badRequest("M_THREEPID_AUTH_FAILED", "No validated 3pid session found");
}

function withoutAddress({ json }: AuthedRequest): Answer {
  requiredString(json, "medium");
  requiredString(json, "address");
  return { id_server_unbind_result: "no-support" };
}

/** The routes of this file. */
export const addressRoutes: readonly Route[] = [
  route("GET", "v3/account/3pid", () => ({ threepids: [] })),
  openRoute("POST", "v3/account/3pid/email/requestToken", () => {
    throw badRequest(NO_MEDIUM, "Adding an email to your account is disabled on this server");
  }),
  openRoute("POST", "v3/account/3pid/msisdn/requestToken", () => {
    throw badRequest(NO_MEDIUM, "Adding phone numbers to user account is not supported by this homeserver");
  }),
  route("POST", "v3/account/3pid/bind", () => {
    throw new Failure(500, "M_UNKNOWN", "Internal server error"); // as Synapse says of a server that it can't reach
  }),
  route("POST", "v3/account/3pid/unbind", withoutAddress),
  route("POST", "v3/account/3pid/delete", withoutAddress),
];

/** What only a homeserver without an authorization server has. */
export const addressPasswordRoutes: readonly Route[] = [route("POST", "v3/account/3pid/add", addAddress)];
