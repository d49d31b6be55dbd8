/**
 * User-interactive authentication.
 *
 * @see
 * {@link https://spec.matrix.org/v1.16/client-server-api/#user-interactive-authentication-api | User-Interactive Authentication}
 * @module
 */

import { isJsonObject, type JsonObject } from "../../../types/json.ts";
import { badJson, badRequest, Failure, invalidParam, missingParam } from "../../http/failure.ts";
import { isTruthy, optionalString, stringAt, valueAt } from "../../http/read.ts";
import type { IdGenerator } from "../../ids.ts";
import type { User } from "./user.ts";

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
      throw badRequest("M_UNKNOWN", `Unknown session ID: ${session}`);
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
    if (auth.type !== stage) throw badRequest("M_INVALID_PARAM", `Unknown login type ${String(auth.type)}`);
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
  if (type !== "m.id.user") throw badRequest("M_UNKNOWN", "Unknown login identifier type");
  const name = valueAt(identifier, ["user"]);
  if (typeof name !== "string" || name === "") {
    throw badRequest("M_UNKNOWN", "User identifier is missing 'user' key");
  }
  return name;
}

function passwordFits(auth: JsonObject, user: User | undefined): boolean {
  if (typeof auth.password !== "string") throw invalidParam("Bad parameter: password");
  const name = namedUser(auth);
  return user?.password !== undefined && auth.password === user.password &&
    (name === user.id || name === user.localpart);
}
