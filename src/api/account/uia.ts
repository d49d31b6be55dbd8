/**
 * Logins, and user-interactive authentication: before some operations the server wants to know once more who
 * is asking.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#user-interactive-authentication-api | User-interactive authentication}
 *
 * Over 300 lines because what a login needs and what comes of it are read together.
 *
 * @module
 */

import { UnrecognizedError } from "../../errors/errcodes.ts";
import { asksFor } from "../../errors/hints.ts";
import { checkOptions, type OptionNames } from "../../errors/known_names.ts";
import { challengeIn, MatrixRequestError } from "../../errors/request_error.ts";
import {
  type AuthenticationData,
  type AuthenticationResponse,
  AuthenticationStage,
  type LoginResponse,
} from "../../types/api/login.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { type JsonObject, objectOf } from "../../types/json.ts";
import {
  CALL,
  type Call,
  checkedBaseUrl,
  checkRequestOptions,
  type Endpoint,
  fillPath,
  type HTTPAPI,
  queryString,
  type RequestOptions,
  type Session,
} from "../http/mod.ts";

/** More stages than this no server can mean. */
const MAX_ROUNDS = 10;

/** Stages that are done at a page of the account management, whose address the server says. */
const OWN_PAGES: readonly string[] = [AuthenticationStage.OAUTH, "org.matrix.cross_signing_reset"];

/** A stage that is about to be done. */
export interface StageRequest {
  /** The stage, such as `m.login.terms`. */
  readonly stage: string;
  /** What the server says about the stage. */
  readonly params: JsonObject;
  /** A page where a user can do the stage in a browser. */
  readonly fallbackUrl: string;
  /** The whole of what the server wants. */
  readonly challenge: AuthenticationResponse;
  /** The signal of the operation that needs the authentication. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Does a stage: gives what the server has to be sent, without `type` and `session`; or nothing once
 * the stage was done somewhere else, in a browser for example.
 */
export type StageHandler = (
  request: StageRequest,
) => JsonObject | undefined | void | Promise<JsonObject | undefined | void>;

/**
 * How to authenticate: all that is given here may be used; `m.login.dummy`, which needs nothing,
 * goes without saying.
 */
export interface Authentication {
  /** The acting user's password, for `m.login.password`. Default: none. */
  password?: string;
  /**
   * A token that the server's administration gave out, for `m.login.registration_token`. Default:
   * none.
   */
  registrationToken?: string;
  /**
   * Whether the user agrees to the policies in `params`, for `m.login.terms`. Default: not
   * asked.
   */
  acceptTerms?: (request: StageRequest) => boolean | Promise<boolean>;
  /** Does stages of any other kind, by name; goes before all the above. Default: none. */
  stages?: { readonly [stage: string]: StageHandler };
  /**
   * Shows a user `fallbackUrl`, for every stage that nothing else does; done when its promise is.
   * Default: none.
   */
  fallback?: (request: StageRequest) => void | Promise<void>;
}

const AUTHENTICATION: OptionNames<Authentication> = {
  ...{ password: true, registrationToken: true, acceptTerms: true, stages: true, fallback: true },
};

/**
 * Refuses ways to authenticate that there are not.
 *
 * @throws {ValueError} If there is one.
 */
export function checkAuthentication(authentication: Authentication | undefined, action: string): void {
  checkOptions(authentication, AUTHENTICATION, action, "authentication.");
}

/** Options of the operations that may need authentication. */
export interface AuthenticationOptions extends RequestOptions {
  /**
   * How to authenticate if the server wants it. Default: not at all; an `AuthenticationNeededError`
   * then says what the server requires.
   */
  authentication?: Authentication;
}

/** Authentication for any operation. */
export interface UiaAPI {
  /**
   * Runs a request that may need authentication: as often as there are stages to be done.
   *
   * The operations of Greenroom that need it take it as their option `authentication`; this is for
   * all others.
   *
   * @param request Sends the request, with `auth` in its body if there is any.
   * @param authentication What proves that the user agrees, such as a password.
   * @param options Request options, of which the signal counts.
   * @returns What the request returned in the end.
   * @throws {AuthenticationNeededError} If no way that the server offers can be gone with what was
   * given; its `challenge` has the ways (`flows`) and the session.
   * @throws {MatrixRequestError} If a stage was refused.
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice", { password: "curtain" });
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * await client.withUia(
   *   (auth) =>
   *     client.request("POST", "/_matrix/client/v3/delete_devices", { body: { devices: ["OLD"], auth } }),
   *   { password: "curtain" },
   * );
   * ```
   */
  withUia<Result>(
    request: (auth: AuthenticationData | undefined) => Promise<Result>,
    authentication: Authentication,
    options?: RequestOptions,
  ): Promise<Result>;
}

/** Makes the authentication for any operation. */
export function uiaAPI(session: Session): UiaAPI {
  return {
    async withUia(request, authentication, options = {}) {
      checkRequestOptions(options, "authenticate");
      return await withUia(session, request, authentication, options);
    },
  };
}

/** Asks an endpoint that may need authentication. */
export async function authenticated<Path extends string, Result>(
  session: Session,
  endpoint: Endpoint<Path, Result>,
  call: Call<Path>,
  { authentication, ...options }: AuthenticationOptions = {},
): Promise<Result> {
  const request = (auth: AuthenticationData | undefined) =>
    session.http[CALL](endpoint, { ...call, body: { ...call.body, auth } }, options);
  return authentication === undefined
    ? await request(undefined)
    : await withUia(session, request, authentication, options);
}

async function withUia<Result>(
  session: Session,
  request: (auth: AuthenticationData | undefined) => Promise<Result>,
  authentication: Authentication,
  options: RequestOptions,
): Promise<Result> {
  checkAuthentication(authentication, "authenticate");
  const handlers = stageHandlers(session, authentication, options);
  const tried = new Set<string>();
  let auth: AuthenticationData | undefined;
  let id: string | undefined;
  for (;;) {
    try {
      return await request(auth);
    } catch (error) {
      const challenge = error instanceof MatrixRequestError ? challengeIn(error) : undefined;
      // A stage that was tried and is still to be done was refused: once more would be of no use.
      const stage = challenge && nextStage(challenge, handlers);
      if (challenge === undefined || stage === undefined || tried.has(stage) || tried.size >= MAX_ROUNDS) {
        throw error;
      }
      tried.add(stage);
      id = challenge.session ?? id;
      options.signal?.throwIfAborted();
      const data = await handlers(stage)?.(
        stageRequest(session, stage, { ...challenge, session: id }, options),
      );
      auth = data ? { ...data, type: stage, session: id } : { session: id };
    }
  }
}

type Handlers = (stage: string) => StageHandler | undefined;

/** The first stage still to be done on the shortest way that can be gone. */
function nextStage(
  { flows, completed = [] }: AuthenticationResponse,
  handlers: Handlers,
): string | undefined {
  return flows
    .map(({ stages }) => stages.filter((stage) => !completed.includes(stage)))
    .filter((stages) => stages.every((stage) => handlers(stage) !== undefined))
    .sort((one, other) => one.length - other.length)[0]?.[0];
}

function stageRequest(
  session: Session,
  stage: string,
  challenge: AuthenticationResponse,
  { signal }: RequestOptions,
): StageRequest {
  const params = challenge.params?.[stage];
  const path = fillPath("/_matrix/client/v3/auth/{stage}/fallback/web", { stage });
  const url = OWN_PAGES.includes(stage) ? String(params?.url) : "";
  const ownUrl = /^https?:/.test(url) ? url : undefined;
  return {
    stage,
    params: objectOf(params),
    fallbackUrl: ownUrl ?? `${session.http.baseUrl}${path}${queryString({ session: challenge.session })}`,
    challenge,
    signal,
  };
}

function stageHandlers(session: Session, given: Authentication, options: RequestOptions): Handlers {
  const { password, registrationToken, acceptTerms, stages = {}, fallback } = given;
  const known = new Map<string, StageHandler>([[AuthenticationStage.DUMMY, () => ({})]]);
  if (password !== undefined) {
    known.set(AuthenticationStage.PASSWORD, async () => ({
      identifier: { type: "m.id.user", user: await session.userId(options) },
      password,
    }));
  }
  if (registrationToken !== undefined) {
    known.set(AuthenticationStage.REGISTRATION_TOKEN, () => ({ token: registrationToken }));
  }
  if (acceptTerms !== undefined) {
    known.set(AuthenticationStage.TERMS, async (request) => await acceptTerms(request) ? {} : undefined);
  }
  for (const [stage, handler] of Object.entries(stages)) known.set(stage, handler);
  return (stage) => known.get(stage) ?? fallback;
}

/** What a login or a registration says of the new session. */
export interface NewSession {
  /** Whom the homeserver logged in. */
  user_id: UserID;
  /** The device that it made or went on with. */
  device_id?: DeviceID;
  /** Authorises requests. Secret. */
  access_token?: string;
  /** Buys the next access token. Secret. */
  refresh_token?: string;
  /** How long the access token lives, in milliseconds. */
  expires_in_ms?: number;
}

/** Makes a session that of another user or device. */
export function storeLogin(session: Session, login: NewSession): void {
  session.beginLogin(login.user_id, login.device_id);
  session.http.setTokens({
    accessToken: login.access_token ?? "",
    refreshToken: login.refresh_token,
    expiresIn: login.expires_in_ms,
  });
  session.reset();
  session.mxid = login.user_id;
  session.deviceId = login.device_id;
}

/**
 * Ends a login on this side: what was begun as it ends.
 *
 * @param forgets Whether to forget the tokens, too, so that it can do no more. The user stays known.
 */
export function endLogin(session: Session, { forgets }: { readonly forgets: boolean }): void {
  session.endLogin();
  if (!forgets) return;
  session.http.accessToken = "";
  session.deviceId = undefined;
}

/**
 * Moves to the homeserver's address that a login returned. An address that can't be one, or that
 * would give up encryption, is passed over: the login has succeeded where we are, and the token
 * must not be lost.
 */
export function followLogin(session: Session, { well_known }: LoginResponse): void {
  const { http } = session;
  const told: unknown = well_known?.["m.homeserver"]?.base_url;
  if (told === undefined) return;
  try {
    const url = checkedBaseUrl(String(told));
    if (url.startsWith("https:") || !http.baseUrl.startsWith("https:")) {
      http.baseUrl = url;
      session.reset();
      return;
    }
  } catch {
    // logged below
  }
  http.log.warn("Kept the homeserver's address: the one that came with the login can't be used", {
    operation: "login",
  });
}

/**
 * Why a login has failed, or a logout of all devices; of a server that knows none any more, also what to do.
 *
 * @param mend What to do, by what the server says of its authorization server.
 */
export async function throwExplained(
  error: unknown,
  http: HTTPAPI,
  mend: (metadata: unknown) => string,
): Promise<never> {
  if (error instanceof UnrecognizedError) {
    const answer = await http.request("GET", "/_matrix/client/v1/auth_metadata", { retry: false })
      .then((metadata) => ({ metadata }), () => undefined);
    if (answer !== undefined) {
      error.message += `; this server offers OAuth 2.0 only: ${mend(answer.metadata)}`;
      if (mend === otherLogin) asksFor(error, "another login");
    }
  }
  throw error;
}

/** Returns what to call in place of a login. */
export function otherLogin(): string {
  return "call loginByDeviceCode() of @greenroom/matrix/oauth";
}

/** Returns the page on which to end all sessions. */
export function accountPage(metadata: unknown): string {
  const { account_management_uri: page } = metadata as { account_management_uri?: unknown };
  const where = typeof page === "string" && URL.canParse(page) ? ` at ${new URL(page).href}` : "";
  return `end them in the account management${where}; logout() ends that of this client`;
}
