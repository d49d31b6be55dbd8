/**
 * Requests to an authorization server, each with a limit of its time and of the size of its answer.
 * The protocol is that of `oauth4webapi`, which is loaded at the first request; its errors become
 * ours, without anything secret in them.
 *
 * @see {@link https://www.rfc-editor.org/rfc/rfc6749 | OAuth 2.0}
 *
 * Over 300 lines because each request and the check of its answer stand together.
 *
 * @module
 */

import { abortable } from "@std/async/abortable";
import { concat } from "@std/bytes/concat";
import type * as oauth from "oauth4webapi";
import type { Tokens } from "../api/http/mod.ts";
import { alarm, type Clock } from "../base/clock.ts";
import { Sent } from "../base/sent.ts";
import { OAuthError } from "../errors/account_errcodes.ts";
import { MatrixError, printable } from "../errors/matrix_error.ts";
import { connectionFailure, NetworkError, RequestTimeoutError } from "../errors/request_error.ts";
import { ServiceResponseError } from "../errors/service_response_error.ts";
import { isJsonObject } from "../types/json.ts";
import { type AuthMetadata, isLocal } from "./metadata.ts";

type Library = typeof oauth;

/** How requests are sent. */
export interface Transport {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

/** What a request to the server needs of the library. */
interface Ask {
  readonly library: Library;
  readonly server: oauth.AuthorizationServer;
  readonly client: oauth.Client;
  readonly auth: oauth.ClientAuth;
  readonly options: oauth.HttpRequestOptions<"POST", URLSearchParams>;
}

/** The longest token, in characters. */
const MAX_TOKEN = 16_384;

/** Refusals of a server that has a fault itself. */
const FAULTS = ["server_error", "temporarily_unavailable", "slow_down"];

/** One client of an authorization server. */
export class AuthorizationServer {
  /** What the server says of itself. */
  readonly metadata: AuthMetadata;
  /** By what the server knows this client. */
  readonly clientId: string;
  readonly #transport: Transport;

  /**
   * @param metadata What the server says of itself.
   * @param clientId The ID of the client.
   * @param transport How requests are sent.
   */
  constructor(metadata: AuthMetadata, clientId: string, transport: Transport) {
    [this.metadata, this.clientId, this.#transport] = [metadata, clientId, transport];
  }

  /** Begins a login by device code. */
  async authorizeDevice(scope: string, signal?: AbortSignal): Promise<oauth.DeviceAuthorizationResponse> {
    return await this.#ask("begin the login", signal, async ({ library, server, client, auth, options }) => {
      const answer = await library.deviceAuthorizationRequest(server, client, auth, { scope }, options);
      return await library.processDeviceAuthorizationResponse(server, client, answer);
    });
  }

  /** Asks whether the user has agreed to a login by device code. */
  async redeemDeviceCode(deviceCode: string, signal?: AbortSignal): Promise<Tokens> {
    return await this.#ask("log in", signal, async ({ library, server, client, auth, options }) => {
      const answer = await library.deviceCodeGrantRequest(server, client, auth, deviceCode, options);
      return tokensOf(await library.processDeviceCodeResponse(server, client, answer));
    });
  }

  /**
   * Makes the address at which a user agrees to a login by authorization code, and what the response is
   * checked with.
   */
  async authorizationUrl(scope: string, redirectUri: string): Promise<Authorization> {
    const library = await import("oauth4webapi");
    const [state, verifier] = [library.generateRandomState(), library.generateRandomCodeVerifier()];
    const url = new URL(this.metadata.authorization_endpoint ?? "");
    const params = {
      response_type: "code",
      response_mode: "query",
      client_id: this.clientId,
      redirect_uri: redirectUri,
      scope,
      state,
      code_challenge: await library.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
    return { url: url.href, redirectUri, state, verifier };
  }

  /** Takes the tokens for a response to the client's redirect URI. */
  async redeemCode(
    response: URL,
    { redirectUri, state, verifier }: Authorization,
    signal?: AbortSignal,
  ): Promise<Tokens> {
    return await this.#ask("log in", signal, async ({ library, server, client, auth, options }) => {
      const params = library.validateAuthResponse(server, client, response, state);
      const answer = await library.authorizationCodeGrantRequest(
        server,
        client,
        auth,
        params,
        redirectUri,
        verifier,
        options,
      );
      return tokensOf(await library.processAuthorizationCodeResponse(server, client, answer));
    });
  }

  /** Takes the next pair of tokens for a refresh token. */
  async refresh(refreshToken: string): Promise<Tokens> {
    return await this.#ask("refresh the tokens", undefined, async (ask) => {
      const { library, server, client, auth, options } = ask;
      const answer = await library.refreshTokenGrantRequest(server, client, auth, refreshToken, options);
      return tokensOf(await library.processRefreshTokenResponse(server, client, answer));
    });
  }

  /** Ends the session that a token belongs to. */
  async revoke(token: string, hint: "access_token" | "refresh_token"): Promise<void> {
    await this.#ask("revoke the tokens", undefined, async ({ library, server, client, auth, options }) => {
      const additionalParameters = { token_type_hint: hint };
      const all = { ...options, additionalParameters };
      const answer = await library.revocationRequest(server, client, auth, token, all);
      await library.processRevocationResponse(answer);
    });
  }

  /** Ends the session that tokens belong to. */
  async revokeAll({ accessToken, refreshToken }: Tokens): Promise<void> {
    if (refreshToken === undefined) await this.revoke(accessToken, "access_token");
    else await this.revoke(refreshToken, "refresh_token");
  }

  async #ask<Result>(
    action: string,
    signal: AbortSignal | undefined,
    ask: (ask: Ask) => Promise<Result>,
  ): Promise<Result> {
    const library = await import("oauth4webapi");
    const options = requestOptions(library, this.#transport, { action, signal, metadata: this.metadata });
    const client = { client_id: this.clientId };
    // The library's type has more members than are read here, and lists that could be written to.
    const server = this.metadata as unknown as oauth.AuthorizationServer;
    try {
      return await ask({ library, server, client, auth: library.None(), options });
    } catch (error) {
      throw await explained(library, error, action);
    }
  }
}

/** A login by authorization code that has begun. */
interface Authorization {
  /** Where the user agrees. */
  readonly url: string;
  /** Where the response goes. */
  readonly redirectUri: string;
  /** What the response must repeat. */
  readonly state: string;
  /** Proves that it was begun here. */
  readonly verifier: string;
}

/**
 * Registers a client.
 *
 * @returns Its ID.
 */
export async function register(
  metadata: AuthMetadata,
  client: Readonly<Record<string, string | readonly string[]>>,
  transport: Transport,
  signal?: AbortSignal,
): Promise<string> {
  const library = await import("oauth4webapi");
  const action = "register the client";
  try {
    const answer = await library.dynamicClientRegistrationRequest(
      metadata as unknown as oauth.AuthorizationServer, // as above
      client as Record<string, string>,
      requestOptions(library, transport, { action, signal, metadata }),
    );
    const { client_id: id } = await library.processDynamicClientRegistrationResponse(answer);
    if (id.length <= MAX_TOKEN) return id;
  } catch (error) {
    throw await explained(library, error, action);
  }
  throw strange(action, "the ID of the client is too long");
}

function requestOptions<Body = URLSearchParams>(
  library: Library,
  { fetch, clock }: Transport,
  { action, signal, metadata }: {
    readonly action: string;
    readonly signal: AbortSignal | undefined;
    readonly metadata: AuthMetadata;
  },
): oauth.HttpRequestOptions<"POST", Body> {
  return {
    signal,
    [library.customFetch]: boundedFetch(fetch, clock, action) as oauth.HttpRequestOptions<
      "POST",
      Body
    >[typeof library.customFetch],
    [library.allowInsecureRequests]: isLocal(metadata.issuer),
  };
}

/** The tokens in an answer, if they can be used. */
function tokensOf(answer: oauth.TokenEndpointResponse): Tokens {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: seconds } = answer;
  const action = "use the tokens of the authorization server";
  if (answer.token_type !== "bearer") throw strange(action, "they are not of the type Bearer");
  for (const token of [accessToken, refreshToken ?? ""]) {
    if (token.length > MAX_TOKEN) throw strange(action, "a token is too long");
  }
  if (!/^[\x21-\x7e]+$/.test(accessToken)) {
    throw strange(action, "the access token holds characters that no token has");
  }
  // 0 would have every request refresh them.
  return { accessToken, refreshToken, expiresIn: seconds ? seconds * 1_000 : undefined };
}

/** An error of the library in our words: its causes hold answers, and so tokens. */
async function explained(library: Library, error: unknown, action: string): Promise<unknown> {
  if (error instanceof MatrixError || error instanceof DOMException) return error;
  if (error instanceof library.ResponseBodyError || error instanceof library.AuthorizationResponseError) {
    return refused(action, error.error, error.error_description);
  }
  if (error instanceof library.WWWAuthenticateChallengeError) {
    const body = await error.response.json().catch(() => ({}));
    if (typeof body.error === "string") return refused(action, body.error, body.error_description);
    return strange(action, "the answer is 401, without an error of OAuth 2.0"); // as a proxy has it
  }
  return strange(
    action,
    error instanceof Error ? printable(error.message, 200) : "the answer makes no sense",
  );
}

function refused(action: string, error: string, description: unknown): OAuthError {
  const text = typeof description === "string" ? `: ${printable(description, 200)}` : "";
  return new OAuthError(
    `Cannot ${action}: the authorization server has refused (${printable(error, 100)}${text})`,
    { code: "OAUTH_REFUSED", error: printable(error, 100) },
  );
}

/** The error for an answer that is not what was asked for. */
export function strange(action: string, state: string): OAuthError {
  return new OAuthError(`Cannot ${action}: ${state}`, { code: "OAUTH_RESPONSE" });
}

/** Returns whether a server has refused for good. */
export function isFinal(error: unknown): error is OAuthError {
  return error instanceof OAuthError && error.code === "OAUTH_REFUSED" && !FAULTS.includes(error.error ?? "");
}

/** The error of a server that may answer another time: so requests are tried again, and a sync goes on. */
export function passing(error: unknown): unknown {
  if (!(error instanceof OAuthError || error instanceof ServiceResponseError)) return error;
  return new NetworkError(error.message, { cause: error });
}

/** How long a request may take, in milliseconds. */
export const ASK_LIMIT = 20_000;
/** The largest answer, in bytes. */
const MAX_ANSWER = 1 << 16;
/** The parameters that are secret. */
const SECRETS = ["refresh_token", "token", "code", "code_verifier", "device_code"];
/** Statuses of answers that have no body. */
const EMPTY = [204, 205, 304];

/**
 * Makes a `fetch` for one request.
 *
 * @param send What sends it.
 * @param clock Measures the time.
 * @param request Names the request in errors.
 */
function boundedFetch(send: typeof fetch, clock: Clock, request: string): typeof fetch {
  return async (input, init) => {
    const sent = new Sent({ url: String(input), credentials: () => secretsIn(init?.body) });
    const { host } = sent;
    const late = new AbortController();
    const over = alarm(clock, ASK_LIMIT, () => late.abort());
    const outer = init?.signal ?? undefined;
    const signal = outer === undefined ? late.signal : AbortSignal.any([outer, late.signal]);
    try {
      const answer = send(input, { ...init, signal, redirect: "manual" });
      const response = await abortable(answer, signal);
      const body = await abortable(bounded(response, request), signal);
      const { status, headers } = response;
      if (status === 429 || status >= 500) {
        throw new NetworkError(`Cannot ${request}: ${host} answered ${status}; it is tried again`);
      }
      const shown = response.ok ? body : withoutSecrets(body, sent);
      return new Response(EMPTY.includes(status) ? null : shown, { status, headers });
    } catch (error) {
      outer?.throwIfAborted();
      if (late.signal.aborted) {
        throw new RequestTimeoutError(`Cannot ${request}: ${host} did not answer within ${ASK_LIMIT} ms`);
      }
      throw error instanceof MatrixError ? error : connectionFailure(sent.shownError(error), request, host);
    } finally {
      over();
    }
  };
}

/** Returns those parts of a form that authorise somebody. */
function secretsIn(body: BodyInit | null | undefined): readonly string[] {
  if (!(body instanceof URLSearchParams)) return [];
  return [...body].filter(([name]) => SECRETS.includes(name)).map(([, value]) => value);
}

/** The body of a refusal, without what repeats a secret: its texts are shown. */
function withoutSecrets(body: Uint8Array<ArrayBuffer>, sent: Sent): BodyInit {
  try {
    const parsed = JSON.parse(new TextDecoder().decode(body));
    return isJsonObject(parsed) ? JSON.stringify(sent.shownBody(parsed)) : "";
  } catch {
    return "";
  }
}

async function bounded({ body }: Response, request: string): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MAX_ANSWER) {
      throw new ServiceResponseError(`Cannot ${request}: the answer has more than ${MAX_ANSWER} bytes`);
    }
  }
  return concat(chunks);
}
