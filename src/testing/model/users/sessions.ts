/**
 * Access and refresh tokens.
 *
 * @module
 */

import type { Clock } from "../../../base/clock.ts";
import type { UserID } from "../../../types/ids.ts";
import { Failure } from "../../http/failure.ts";
import type { IdGenerator } from "../../ids.ts";
import type { Device } from "./device.ts";
import type { User } from "./user.ts";

/** What an access token stands for. */
export interface Session {
  /** The user. */
  readonly user: User;
  /** The device. */
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

  /** Whose access token this is, whether or not it still works. */
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
