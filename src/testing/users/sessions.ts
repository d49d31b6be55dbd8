/**
 * Access and refresh tokens, and user-interactive authentication.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#user-interactive-authentication-api | User-Interactive Authentication}
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { IdGenerator } from "../homeserver_options.ts";
import {
  badJson,
  Failure,
  invalidParam,
  isTruthy,
  missingParam,
  optionalString,
  refused,
  stringAt,
  valueAt,
} from "../json/json.ts";
import type { Device, User } from "./user.ts";

/** What an access token stands for. */
export interface Session {
  readonly user: User;
  readonly device: Device;
  /** The access token. */
  readonly token: string;
  /** When the token stops working, in milliseconds since the epoch. */
  readonly expiresAt: number | undefined;
  /** The refresh token that came with it. */
  readonly refreshToken: string | undefined;
}

/**
 * How long a token lives if the client can refresh it, in milliseconds. Synapse's default is the
 * same.
 */
export const ACCESS_TOKEN_LIFETIME = 300_000;

/** All sessions of a homeserver. */
export class Sessions {
  readonly #clock: Clock;
  readonly #ids: IdGenerator;
  readonly #lifetime: number;
  readonly #byToken = new Map<string, Session>();
  readonly #byRefreshToken = new Map<string, Session>();
  readonly #replaces = new Map<Session, Session>();

  /** Makes an empty set; `lifetime` is that of tokens that can be refreshed, in milliseconds. */
  constructor(clock: Clock, ids: IdGenerator, lifetime: number) {
    this.#clock = clock;
    this.#ids = ids;
    this.#lifetime = lifetime;
  }

  /** Opens a session. A `refreshable` one has a refresh token and ends by itself. */
  open(user: User, device: Device, { refreshable = false } = {}): Session {
    const session: Session = {
      user,
      device,
      token: `syt_${this.#ids.next("access_token", 32)}`,
      expiresAt: refreshable ? this.#clock.now() + this.#lifetime : undefined,
      refreshToken: refreshable ? `syr_${this.#ids.next("refresh_token", 32)}` : undefined,
    };
    this.#byToken.set(session.token, session);
    if (session.refreshToken !== undefined) this.#byRefreshToken.set(session.refreshToken, session);
    return session;
  }

  /** The session of an access token. */
  find(token: string | undefined): Session {
    if (token === undefined || token === "") {
      throw new Failure(401, "M_MISSING_TOKEN", "Missing access token");
    }
    const session = this.#byToken.get(token);
    if (session === undefined) throw unknownToken("Invalid access token passed.", { soft: false });
    if (session.expiresAt !== undefined && session.expiresAt <= this.#clock.now()) {
      throw unknownToken("Access token has expired", { soft: true });
    }
    this.#retire(session);
    return session;
  }

  /** Finds the user of an access token, whether or not it still works. */
  userOf(token: string): UserID | undefined {
    return this.#byToken.get(token)?.user.id;
  }

  /**
   * Exchanges a refresh token for a new pair. The old pair works until the new one has been used,
   * so that a client that has lost the answer can ask again.
   */
  refresh(refreshToken: string): Session {
    const old = this.#byRefreshToken.get(refreshToken);
    if (old === undefined) throw new Failure(401, "M_UNKNOWN_TOKEN", "refresh token isn't valid anymore");
    this.#retire(old);
    const next = this.open(old.user, old.device, { refreshable: true });
    this.#replaces.set(next, old);
    return next;
  }

  /** Forgets the session that this one came from, now that the client is known to have it. */
  #retire(session: Session): void {
    const old = this.#replaces.get(session);
    if (old === undefined) return;
    this.#replaces.delete(session);
    this.#byToken.delete(old.token);
    if (old.refreshToken !== undefined) this.#byRefreshToken.delete(old.refreshToken);
  }

  /** Ends the sessions for which `matches` holds. */
  close(matches: (session: Session) => boolean): void {
    for (const [token, session] of this.#byToken) if (matches(session)) this.#byToken.delete(token);
    for (const [token, session] of this.#byRefreshToken) {
      if (matches(session)) this.#byRefreshToken.delete(token);
    }
  }

  /**
   * Makes the tokens of a device expire now, as an administrator or a short lifetime would: a soft
   * logout.
   */
  expire(device: Device): void {
    for (const [token, session] of this.#byToken) {
      if (session.device === device) this.#byToken.set(token, { ...session, expiresAt: this.#clock.now() });
    }
  }
}

function unknownToken(message: string, { soft }: { soft: boolean }): Failure {
  return new Failure(401, "M_UNKNOWN_TOKEN", message, { extra: { soft_logout: soft } });
}

/** Authentications under way: the session and what it is for. */
export class UiaSessions {
  readonly #ids: IdGenerator;
  readonly #sessions = new Map<string, string>();

  /** Makes an empty set. */
  constructor(ids: IdGenerator) {
    this.#ids = ids;
  }

  /**
   * Returns if the body carries a valid `auth` for the one stage, and refuses with 401 and what is
   * needed otherwise.
   *
   * @param body The request body.
   * @param purpose What is to be allowed: a session can't be used for something else.
   * @param stage The stage that must be passed.
   * @param user Whose password counts.
   */
  require(body: JsonObject, purpose: string, stage: "m.login.password" | "m.login.dummy", user?: User): void {
    const auth = body.auth;
    checkAuth(auth);
    if (!isJsonObject(auth)) throw this.#challenge(purpose, stage, this.#open(purpose));
    const session = stringAt(auth, "session");
    if (session !== undefined && !this.#sessions.has(session)) {
      throw refused(`Unknown session ID: ${session}`);
    }
    if (session !== undefined && this.#sessions.get(session) !== purpose) {
      throw new Failure(
        403,
        "M_UNKNOWN",
        "Requested operation has changed during the UI authentication session.",
      );
    }
    const open = session ?? this.#open(purpose);
    if (auth.type === undefined || auth.type === null) {
      const isAttempt = Object.keys(auth).length > 0;
      throw this.#challenge(purpose, stage, open, isAttempt ? { completed: [] } : {});
    }
    if (auth.type !== stage) throw invalidParam(`Unknown login type ${String(auth.type)}`);
    if (stage === "m.login.password" && !passwordFits(auth, user)) {
      throw this.#challenge(purpose, stage, open, {
        errcode: "M_FORBIDDEN",
        error: "Invalid username or password",
        completed: [],
      });
    }
    this.#sessions.delete(open);
  }

  #open(purpose: string): string {
    const session = this.#ids.next("uia_session", 24);
    this.#sessions.set(session, purpose);
    return session;
  }

  #challenge(purpose: string, stage: string, session: string, extra: JsonObject = {}): Failure {
    const failure = new Failure(401, "M_UNAUTHORIZED", `More is needed to ${purpose}`);
    // A challenge is not an error: its body has an errcode only if an attempt has failed.
    return Object.assign(failure, { body: { session, flows: [{ stages: [stage] }], params: {}, ...extra } });
  }
}

/** Refuses what can't be authentication data. */
export function checkAuth(auth: unknown): void {
  if (auth === undefined || auth === null) return;
  if (!isJsonObject(auth)) throw badJson("'auth' must be an object");
  for (const key of ["session", "type"]) optionalString(auth, key);
}

/** The ID or name of the user that a login, or a proof of a password, is about. */
export function namedUser(login: JsonObject): string {
  const old = stringAt(login, "user");
  const identifier = old ? { type: "m.id.user", user: old } : login.identifier;
  if (!isTruthy(identifier)) throw invalidParam("Invalid login submission");
  const type = valueAt(identifier, ["type"]);
  if (type === undefined) throw missingParam("type");
  if (type !== "m.id.user") throw refused("Unknown login identifier type");
  const name = valueAt(identifier, ["user"]);
  if (typeof name !== "string" || name === "") {
    throw refused("User identifier is missing 'user' key");
  }
  return name;
}

function passwordFits(auth: JsonObject, user: User | undefined): boolean {
  if (typeof auth.password !== "string") throw invalidParam("Bad parameter: password");
  const name = namedUser(auth);
  return user?.password !== undefined && auth.password === user.password &&
    (name === user.id || name === user.localpart);
}
