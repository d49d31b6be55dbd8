/**
 * Email addresses and phone numbers of the account: they are validated, added, bound at an identity server,
 * and removed; and proof to a third party of who the user is.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#adding-account-administrative-contact-information | Contact information}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#openid | OpenID}
 *
 * Over 300 lines because each operation has its documentation.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import type { Open, ThirdPartyMedium } from "../../types/enums.ts";
import {
  CALL,
  checkInteger,
  type Endpoint,
  endpoint,
  field,
  fields,
  nothing,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";
import { authenticated, type AuthenticationOptions } from "./uia.ts";

const THREEPID = "/_matrix/client/v3/account/3pid";

type Path = `${typeof THREEPID}/${string}`;

const tokenOf = fields<Omit<ThirdPartyValidation, "client_secret">>({ sid: "string", submit_url: "string?" });
const open = { auth: false };
const requestEmail = endpoint("requestEmailToken", "POST", `${THREEPID}/email/requestToken`, tokenOf, open);
const requestPhone = endpoint("requestPhoneToken", "POST", `${THREEPID}/msisdn/requestToken`, tokenOf, open);
const add = endpoint("addThirdPartyId", "POST", `${THREEPID}/add`, nothing);
const bind = endpoint("bindThirdPartyId", "POST", `${THREEPID}/bind`, nothing);
const unboundOf = field<UnbindResult>("id_server_unbind_result", "string");
const unbind = endpoint("unbindThirdPartyId", "POST", `${THREEPID}/unbind`, unboundOf);
const remove = endpoint("removeThirdPartyId", "POST", `${THREEPID}/delete`, unboundOf);

/**
 * Whether an identity server no longer says whose an address is;
 * `no-support`: the homeserver can't have it so.
 */
export type UnbindResult = "success" | "no-support";

/** The validation of an address that is under way. */
export interface ThirdPartyValidation {
  /** Names it. */
  sid: string;
  /** What proves that it is the client's. Secret. */
  client_secret: string;
  /** Where the token that the user has received is sent to; absent if the user does it by a link. */
  submit_url?: string;
}

/** An address outside Matrix. */
export interface ThirdPartyAddress {
  /** What the address is of. */
  medium: Open<ThirdPartyMedium>;
  /** The email address, or the phone number in digits with its country code. */
  address: string;
}

/** Options of {@link ThirdPartyAddressesAPI.requestEmailToken}. */
export interface RequestEmailTokenOptions extends RequestOptions {
  /** Proves later that the validation is the client's: the same for each attempt. Default: a new one. */
  clientSecret?: string;
  /** The number of the attempt: a server sends one message for each. Default: 1. */
  sendAttempt?: number;
  /** Where the user is sent once the address is validated. Default: a page of the server. */
  nextLink?: string;
}

/** Options of {@link ThirdPartyAddressesAPI.requestPhoneToken}. */
export interface RequestPhoneTokenOptions extends RequestEmailTokenOptions {
  /** The country that the number is of, if it is not international: two letters, such as `GB`. */
  country: string;
}

/** Options of {@link ThirdPartyAddressesAPI.bindThirdPartyId}. */
export interface BindThirdPartyIDOptions extends RequestOptions {
  /** The identity server: a server name. */
  idServer: string;
  /** An access token of that server. */
  idAccessToken: string;
}

/** Options of the operations that take an address away. */
export interface UnbindThirdPartyIDOptions extends RequestOptions {
  /** The identity server. Default: the one that the homeserver has bound it at. */
  idServer?: string;
}

/**
 * Operations on the addresses of the account outside Matrix: with them a password is reset, or a user found.
 * The capability `m.3pid_changes` says whether the server lets the user change them.
 */
export interface ThirdPartyAddressesAPI {
  /**
   * Has the homeserver send an email, so that its reader can validate the address.
   *
   * @param email The address.
   * @param options What the attempt is, and request options.
   * @returns The validation, for `addThirdPartyId()` once the address is validated.
   * @throws {ThreepidInUseError} If the address is that of an account.
   * @throws {ThreepidMediumNotSupportedError} If the server takes no email addresses.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidemailrequesttoken | POST /account/3pid/email/requestToken}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function addEmail(client: Client, email: string, password: string): Promise<void> {
   *   const validation = await client.requestEmailToken(email);
   *   if (!confirm("Follow the link of the email. Done?")) return;
   *   await client.addThirdPartyId(validation, { authentication: { password } });
   * }
   * ```
   */
  requestEmailToken(email: string, options?: RequestEmailTokenOptions): Promise<ThirdPartyValidation>;

  /**
   * Has the homeserver send a text message, so that its reader can validate the phone number.
   *
   * @param phoneNumber The number.
   * @param options Its country, what the attempt is, and request options.
   * @returns The validation, for `addThirdPartyId()` once the number is validated.
   * @throws {ThreepidInUseError} If the number is that of an account.
   * @throws {ThreepidMediumNotSupportedError} If the server takes no phone numbers.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidmsisdnrequesttoken | POST /account/3pid/msisdn/requestToken}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function validate(client: Client, number: string): Promise<string | undefined> {
   *   return (await client.requestPhoneToken(number, { country: "GB" })).submit_url;
   * }
   * ```
   */
  requestPhoneToken(phoneNumber: string, options: RequestPhoneTokenOptions): Promise<ThirdPartyValidation>;

  /**
   * Adds an address to the account that was validated.
   *
   * @param validation What `requestEmailToken()` or `requestPhoneToken()` has returned.
   * @param options How to authenticate, and request options.
   * @throws {ThreepidAuthFailedError} If the address is not validated.
   * @throws {AuthenticationNeededError} If the server wants an authentication
   *   that `authentication` does not cover.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidadd | POST /account/3pid/add}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function add(client: Client, sid: string, secret: string, password: string): Promise<void> {
   *   await client.addThirdPartyId({ sid, client_secret: secret }, { authentication: { password } });
   * }
   * ```
   */
  addThirdPartyId(validation: ThirdPartyValidation, options?: AuthenticationOptions): Promise<void>;

  /**
   * Has an identity server say that an address is the user's, so that others find the user by it.
   *
   * @param validation A validation that the identity server has made.
   * @param options The identity server and its token, and request options.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidbind | POST /account/3pid/bind}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function beFound(client: Client, sid: string, secret: string, token: string): Promise<void> {
   *   const at = { idServer: "identity.example.org", idAccessToken: token };
   *   await client.bindThirdPartyId({ sid, client_secret: secret }, at);
   * }
   * ```
   */
  bindThirdPartyId(validation: ThirdPartyValidation, options: BindThirdPartyIDOptions): Promise<void>;

  /**
   * Has an identity server no longer say whose an address is. The account keeps it.
   *
   * @param address The address.
   * @param options The identity server, and request options.
   * @returns Whether the identity server has done so.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3pidunbind | POST /account/3pid/unbind}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function hide(client: Client, address: string): Promise<boolean> {
   *   return await client.unbindThirdPartyId({ medium: "email", address }) === "success";
   * }
   * ```
   */
  unbindThirdPartyId(address: ThirdPartyAddress, options?: UnbindThirdPartyIDOptions): Promise<UnbindResult>;

  /**
   * Removes an address from the account.
   *
   * @param address The address.
   * @param options The identity server, and request options.
   * @returns Whether the identity server no longer says whose it is.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3account3piddelete | POST /account/3pid/delete}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function removeAll(client: Client): Promise<void> {
   *   for (const each of await client.getThirdPartyIds()) await client.removeThirdPartyId(each);
   * }
   * ```
   */
  removeThirdPartyId(address: ThirdPartyAddress, options?: UnbindThirdPartyIDOptions): Promise<UnbindResult>;
}

/**
 * Refuses values that are no texts.
 *
 * @throws {ValueError} If there is one; the values are secret, and not in it.
 */
function checkTexts(operation: string, values: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string" && value !== "") continue;
    throw new ValueError(`Cannot ${operation}: ${name} must be a text that is not empty`);
  }
}

/** Makes the operations on addresses outside Matrix. */
export function thirdPartyIdsAPI(session: Session): ThirdPartyAddressesAPI {
  const { http } = session;
  const request = async (
    which: Endpoint<Path, { sid: string; submit_url?: string }>,
    of: { readonly email: string } | { readonly phone_number: string; readonly country: string },
    { clientSecret = crypto.randomUUID(), sendAttempt = 1, nextLink, ...options }: RequestEmailTokenOptions,
  ): Promise<ThirdPartyValidation> => {
    checkTexts(which.operation, { ...of, clientSecret });
    checkInteger("sendAttempt", sendAttempt);
    const secret = { client_secret: clientSecret };
    const body = { ...of, ...secret, send_attempt: sendAttempt, next_link: nextLink };
    const { sid, submit_url } = await http[CALL](which, { path: {}, body }, options);
    return { sid, ...secret, ...(submit_url && { submit_url }) };
  };
  const takeAway =
    (which: Endpoint<Path, UnbindResult>): ThirdPartyAddressesAPI["unbindThirdPartyId"] =>
    async (given, { idServer, ...options } = {}) => {
      const { medium, address } = given ?? {};
      checkTexts(which.operation, { medium, address });
      return await http[CALL](which, { path: {}, body: { medium, address, id_server: idServer } }, options);
    };
  return {
    requestEmailToken: (email, options = {}) => request(requestEmail, { email }, options),
    async requestPhoneToken(phoneNumber, given) {
      const { country, ...options } = given ?? {};
      return await request(requestPhone, { phone_number: phoneNumber, country }, options);
    },
    async addThirdPartyId(validation, options) {
      const { sid, client_secret } = validation ?? {};
      checkTexts(add.operation, { sid, client_secret });
      await authenticated(session, add, { path: {}, body: { sid, client_secret } }, options);
    },
    async bindThirdPartyId(validation, given) {
      const { sid, client_secret } = validation ?? {};
      const { idServer, idAccessToken, ...options } = given ?? {};
      checkTexts(bind.operation, { sid, client_secret, idServer, idAccessToken });
      const body = { sid, client_secret, id_server: idServer, id_access_token: idAccessToken };
      await http[CALL](bind, { path: {}, body }, options);
    },
    unbindThirdPartyId: takeAway(unbind),
    removeThirdPartyId: takeAway(remove),
  };
}

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
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3useruseridopenidrequest_token | POST /user/{userId}/openid/request_token}
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
