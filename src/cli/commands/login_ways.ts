/**
 * The ways to log in: a password, a token that is handed over, OAuth 2.0, single sign-on.
 *
 * The session of a login by OAuth 2.0 stays in memory until the login is whole, so that the session before
 * goes on if the login fails, and is ended if it does not.
 *
 * @module
 */

import { ForbiddenError, OAuthError, ServiceResponseError, UnrecognizedError } from "../../../errors.ts";
import { Client, MatrixRequestError, MemoryStore, type Store, type StoreKey } from "../../../mod.ts";
import type { LoginFlow, UserID } from "../../../types.ts";
import type { OAuthSession } from "../../oauth/mod.ts";
import { CliError, drawnCode, shown, STATUS, type Terminal } from "../io/mod.ts";
import { refuseFromEnvironment, tokensOf } from "../project/mod.ts";

/** A login of the bot's own. */
export interface Login {
  readonly baseUrl: string;
  readonly user: UserID;
  readonly deviceId: string | undefined;
  /** Undefined: there is a session. */
  readonly token: string | undefined;
  /** Where the session is, until the login is whole. Undefined: there is a token. */
  readonly session?: Store;
  /** Undefined: there was none. */
  readonly password?: string;
  /** Whether it was made just now, so that it is ended if it comes to nothing. */
  readonly isNew: boolean;
}

/** Where a login is made, and by what. */
interface LoginPlace {
  readonly baseUrl: string;
  /** Undefined: that of the token. */
  readonly user: UserID | undefined;
  /** Where the bot's session will be. */
  readonly store: Store;
  readonly terminal: Terminal;
  /** Ends what waits for a person elsewhere, or for a server. */
  readonly signal: AbortSignal;
}

/** Takes over a token. */
export async function byToken({ baseUrl, user, terminal, signal }: LoginPlace): Promise<Login> {
  const token = (await terminal.readLine("the access token")).trim();
  await using client = plainClient(baseUrl, token);
  const { user_id, device_id } = await client.whoami({ signal });
  if (user !== undefined && user !== user_id) {
    throw new CliError(
      `Cannot log in as ${user}: the token is that of ${user_id}; get one of ${user}`,
      STATUS.REFUSED,
    );
  }
  return { baseUrl, user: user_id, token, deviceId: device_id, isNew: false };
}

/** Logs in by what the homeserver offers: a password first, since nobody has to leave the terminal. */
export async function byWhatIsOffered(place: LoginPlace, isPiped: boolean): Promise<Login> {
  await using client = plainClient(place.baseUrl);
  const flows = await flowsOf(client, place.signal);
  const offers = (type: string) => flows.some((flow) => flow.type === type);
  if (offers("m.login.password")) return await byPassword(client, place, isPiped);
  const session = isPiped ? undefined : await byDeviceCode(place);
  if (session !== undefined) return session;
  if (!isPiped && offers("m.login.sso")) return await bySso(client, place);
  throw new CliError(
    `Cannot log in at ${place.baseUrl}: it takes no passwords, but ${offered(flows)}; ` +
      (isPiped ? "leave out --password-stdin, or " : "") +
      "log the bot in with another client, take the access token of that login, use it no more there, and hand it " +
      "over: greenroom login --token-stdin",
    STATUS.REFUSED,
  );
}

/** Ends a login that was made just now. */
export async function undo(login: Login): Promise<void> {
  if (!login.isNew) return;
  try {
    await using client = new Client({ ...await tokensOfLogin(login), log: false });
    await client.logout();
  } catch {
    // The homeserver is away, or has forgotten it.
  }
}

/** What a client acts with, as the login has made it. */
export async function tokensOfLogin(
  { baseUrl, user: mxid, token, session }: Login,
): Promise<ReturnType<typeof tokensOf>> {
  return await tokensOf({ baseUrl, mxid, token }, session);
}

async function flowsOf(client: Client, signal: AbortSignal): Promise<readonly LoginFlow[]> {
  try {
    return await client.getLoginFlows({ signal });
  } catch (error) {
    if (error instanceof UnrecognizedError) return []; // OAuth 2.0 alone
    if (!isOfAnotherServer(error)) throw error;
    throw new CliError(
      `Cannot log in at ${client.api.baseUrl}: what answers there is no Matrix homeserver; check the address`,
      STATUS.UNREACHABLE,
      { cause: error },
    );
  }
}

/** Whether an error is the answer of a server that does not speak Matrix, such as that of a web site. */
function isOfAnotherServer(error: unknown): boolean {
  if (!(error instanceof MatrixRequestError)) return error instanceof ServiceResponseError;
  return error.status < 500 && error.body.errcode === undefined;
}

function offered(flows: readonly LoginFlow[]): string {
  const providers = flows.flatMap(({ identity_providers }) => identity_providers ?? []).map(({ name }) =>
    name
  );
  const types = flows.map(({ type }) => type).join(", ") || "nothing that it names";
  return shown(providers.length === 0 ? types : `${types} (${providers.join(", ")})`);
}

async function byPassword(client: Client, place: LoginPlace, isPiped: boolean): Promise<Login> {
  const { baseUrl, user, terminal, signal } = place;
  const password = await terminal.secret("password", { message: `The password of ${user}?`, isPiped });
  signal.throwIfAborted();
  // Not ended by the signal: the server may have made the device, and its token is needed to log that out.
  const answer = await client.login({ identifier: user, password, deviceName: DEVICE_NAME }).catch(
    (cause) => {
      if (!(cause instanceof ForbiddenError)) throw cause;
      const message = cause.message.replace(/^Cannot login \([^)]*\)/, `Cannot log in as ${user}`);
      throw new CliError(message, STATUS.REFUSED, { cause });
    },
  );
  const { user_id, access_token: token, device_id: deviceId } = answer;
  return { baseUrl, user: user_id, token, deviceId, password, isNew: true };
}

/** By a page that is opened anywhere; undefined: the server has no such login. */
async function byDeviceCode(
  { baseUrl, user, store, terminal, signal }: LoginPlace,
): Promise<Login | undefined> {
  const { loginByDeviceCode } = await import("../../oauth/mod.ts");
  const session = await apart(store);
  try {
    const { mxid, deviceId } = await loginByDeviceCode({
      ...{ baseUrl, mxid: user, store: session, signal, log: false, clientName: DEVICE_NAME },
      clientUri: "https://matrix.to/", // servers want a page with a plain path
      onUserCode: async ({ verification_uri, verification_uri_complete, user_code }) => {
        refuseFromEnvironment("MATRIX_PASSWORD", ""); // an empty one is none
        await showPage(verification_uri_complete, terminal);
        terminal.note(
          `Open ${verification_uri_complete ?? verification_uri} on any device, and log in as ${user}.`,
        );
        terminal.note(`The code is ${user_code}`);
      },
    });
    return { baseUrl, user: mxid, deviceId, token: undefined, session, isNew: true };
  } catch (error) {
    if (error instanceof OAuthError && error.code === "OAUTH_UNSUPPORTED") return undefined;
    throw error;
  }
}

/** Shows a page as a code, for a telephone; it stands as text below. */
async function showPage(page: string | undefined, terminal: Terminal): Promise<void> {
  if (page === undefined || !terminal.isInteractive) return;
  for (const line of await drawnCode(new TextEncoder().encode(page), terminal) ?? []) terminal.note(line);
}

/** By a browser on this machine. */
async function bySso(client: Client, { baseUrl, user, terminal, signal }: LoginPlace): Promise<Login> {
  const { loginBySso } = await import("../../oauth/mod.ts");
  const { user_id, access_token: token, device_id: deviceId } = await loginBySso(client, {
    deviceName: DEVICE_NAME,
    signal,
    onRedirectUrl: (url) => terminal.note(`Open ${url} in a browser on this machine, and log in as ${user}.`),
  });
  const login: Login = { baseUrl, user: user_id, token, deviceId, isNew: true };
  if (user === undefined || user === user_id) return login;
  await client.logout();
  throw new CliError(`Cannot log in as ${user}: the browser has logged in ${user_id}`, STATUS.REFUSED);
}

const DEVICE_NAME = "Greenroom bot";

function plainClient(baseUrl: string, accessToken?: string): Client {
  return new Client({
    ...{ baseUrl, accessToken, log: false },
    ...{ requestTimeout: 10_000, retry: { maxRetries: 1 } }, // a person waits
  });
}

/** Where sessions and clients are in a store. */
const ALL: StoreKey = ["greenroom.oauth"];

/** A store in memory for a login, which knows the clients that are registered already. */
async function apart(store: Store): Promise<MemoryStore> {
  const made = new MemoryStore();
  await copy(store, made, [...ALL, "client"]);
  return made;
}

/**
 * Puts a session that was kept apart into the store.
 *
 * @param finish Does what else makes the login whole; if that fails, the store is as it was.
 * @returns The session of the user that was there before.
 */
export async function putInPlace(
  { session, store, user: mxid }: { readonly session: Store; readonly store: Store; readonly user: UserID },
  finish: () => Promise<void>,
): Promise<OAuthSession | undefined> {
  const before = new MemoryStore();
  await copy(store, before, ALL);
  await copy(session, store, ALL);
  try {
    await finish();
  } catch (error) {
    for await (const { key } of store.list(ALL)) await store.commit([{ type: "delete", key }]);
    await copy(before, store, ALL);
    throw error;
  }
  const { OAuthSession } = await import("../../oauth/mod.ts");
  return await OAuthSession.resume({ store: before, mxid, log: false });
}

async function copy(from: Store, to: Store, prefix: StoreKey): Promise<void> {
  for await (const { key, value } of from.list(prefix)) await to.commit([{ type: "set", key, value }]);
}
