/**
 * A request as the handlers of the in-process homeserver see it.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { Device } from "../model/users/device.ts";
import type { ServerState } from "../model/server_state.ts";
import type { Session } from "../model/users/sessions.ts";
import type { User } from "../model/users/user.ts";
import { badRequest, Failure, invalidParam, missingParam } from "./failure.ts";

/** What arrived, before anyone has looked at the token. */
export interface RawRequest {
  /** The HTTP method, in capitals. */
  readonly method: string;
  /** The URL it was sent to. */
  readonly url: URL;
  /** The request headers. */
  readonly headers: Headers;
  /** The whole request body. */
  readonly body: Uint8Array<ArrayBuffer>;
  /** Aborted when the client no longer waits for an answer. */
  readonly signal: AbortSignal;
}

/** A request with its path parameters. */
export class MatrixRequest {
  /** The homeserver's state. */
  readonly server: ServerState;
  /** The request as it arrived. */
  readonly raw: RawRequest;
  readonly #params: Readonly<Record<string, string>>;
  #json: JsonObject | undefined;

  /** Wraps a request. */
  constructor(server: ServerState, raw: RawRequest, params: Readonly<Record<string, string>>) {
    this.server = server;
    this.raw = raw;
    this.#params = params;
  }

  /** The path parameter `name` of the route, decoded. */
  param(name: string): string {
    return this.#params[name] ?? "";
  }

  /** The query parameter `name`. */
  query(name: string): string | undefined {
    const value = this.raw.url.searchParams.get(name) ?? undefined;
    // deno-lint-ignore no-control-regex -- ASCII begins with the control characters
    if (name !== "filter" && value !== undefined && !/^[\x00-\x7f]*$/.test(value)) {
      throw badRequest("M_UNKNOWN", `Query parameter '${name}' must be ascii`);
    }
    return value;
  }

  /** The query parameter `name`, which must be there. */
  requiredQuery(name: string): string {
    const value = this.query(name);
    if (value === undefined) {
      throw new Failure(400, "M_MISSING_PARAM", `Missing required string query parameter ${name}`);
    }
    return value;
  }

  /** The query parameter `name` as a number that is not negative. */
  queryInteger(name: string): number | undefined {
    const value = this.query(name);
    if (value === undefined) return undefined;
    if (!/^-?\d+$/.test(value)) throw invalidParam(`Query parameter ${name} must be an integer`);
    if (Number(value) < 0) throw invalidParam(`Query parameter ${name} must be a positive integer.`);
    return Number(value);
  }

  /** The query parameter `name` as a flag. */
  queryFlag(name: string): boolean {
    const value = this.query(name);
    if (value === undefined) return false;
    if (value !== "true" && value !== "false") {
      throw invalidParam(`Boolean query parameter '${name}' must be one of ['true', 'false']`);
    }
    return value === "true";
  }

  /** The query parameter `name`, one of `values`. */
  queryOneOf(name: string, values: readonly string[]): string | undefined {
    const value = this.query(name);
    if (value !== undefined && !values.includes(value)) {
      throw invalidParam(`Query parameter '${name}' must be one of [${values.join(", ")}]`);
    }
    return value;
  }

  /** The body, which must be a JSON object. */
  get json(): JsonObject {
    return this.jsonOr("M_BAD_JSON");
  }

  /** The body, which is refused with an errcode of the caller's choice if it is no JSON object. */
  jsonOr(errcode: string): JsonObject {
    this.#json ??= parseObject(this.raw.body, errcode);
    return this.#json;
  }

  /** The body, where an absent one counts as `{}`, and `null` too. */
  get jsonOrEmpty(): JsonObject {
    const isNothing = /^(null)?$/.test(new TextDecoder().decode(this.raw.body.subarray(0, 5)));
    return isNothing ? {} : this.json;
  }

  /**
   * The bearer token, from the header or, as old clients do, from the query; empty if the header is
   * there but has none.
   */
  get token(): string | undefined {
    const header = this.raw.headers.get("authorization");
    return header === null ? this.query("access_token") : /^Bearer ([^ ]+)$/.exec(header)?.[1] ?? "";
  }
}

/** A request of a user who has shown a valid access token. */
export class AuthedRequest extends MatrixRequest {
  /** The session that the token belongs to. */
  readonly session: Session;

  /** Adds the session to a request. */
  constructor(
    server: ServerState,
    raw: RawRequest,
    params: Readonly<Record<string, string>>,
    session: Session,
  ) {
    super(server, raw, params);
    this.session = session;
  }

  /** Who asks. */
  get user(): User {
    return this.session.user;
  }

  /** From which device. */
  get device(): Device {
    return this.session.device;
  }

  /** Refuses unless the path parameter `userId` names the caller. */
  requireSelf(message: string): void {
    if (this.param("userId") !== this.user.id) throw new Failure(403, "M_FORBIDDEN", message);
  }
}

function parseObject(bytes: Uint8Array<ArrayBuffer>, errcode: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badRequest("M_NOT_JSON", "Content not JSON.");
  }
  if (!isJsonObject(value)) throw badRequest(errcode, "Content must be a JSON object.");
  return value;
}

/** The keys that `object` lacks are refused together, as Synapse does. */
export function requireKeys(object: JsonObject, ...keys: string[]): void {
  for (const key of keys) if (object[key] === undefined) throw missingParam(key);
}
