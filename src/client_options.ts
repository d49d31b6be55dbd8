/**
 * How a client is made.
 *
 * @module
 */

import type { Crypto } from "./actors/crypto_protocol.ts";
import type { HTTPAPI } from "./api/http_api.ts";
import type { HTTPAPIOptions } from "./api/http_options.ts";
import type { FillMemberEventCallback } from "./api/session.ts";
import { ValueError } from "./errors/value_error.ts";
import type { KvStore } from "./store/kv_store.ts";
import type { DeviceID, UserID } from "./types/ids.ts";

/** How a {@linkcode Client} is made: a homeserver, as `baseUrl` or as `api`, is all it must have. */
export interface ClientOptions extends Omit<HTTPAPIOptions, "baseUrl"> {
  /** The homeserver's address; a path in it is kept in front of every request's. */
  baseUrl?: string | URL;
  /** A transport that is there already, in place of one made of the other options. */
  api?: HTTPAPI;
  /** The acting user. Default: whoever the access token belongs to; the server is asked when it matters. */
  mxid?: UserID;
  /** The device that the access token belongs to. Default: as the server says. */
  deviceId?: DeviceID;
  /**
   * Where room state and the position in the sync are kept; it may be shared by many clients, and is left open. Default:
   * in memory, for this client alone.
   */
  store?: KvStore;
  /** End-to-end encryption. Default: none; sending into a room that is known to be encrypted is refused. */
  crypto?: Crypto;
  /** Types of event that are never encrypted. Default: `m.reaction`. */
  encryptionBlacklist?: Iterable<string>;
  /** Completes member events that are sent by hand. Default: with the profile that is known. */
  fillMemberEventCallback?: FillMemberEventCallback;
  /**
   * What a restart with the same store goes on from. With `at-least-once` it is what handlers have settled for, so that an
   * event whose handler was cut off comes again; with `at-most-once` it is what was received. Default: `at-least-once`.
   */
  deliver?: "at-least-once" | "at-most-once";
  /** How many handlers may be at work when the next sync is asked for. Default: 10,000. */
  maxPendingHandlers?: number;
  /** How long each part may take to stop when the client is closed, in milliseconds. Default: 5,000. */
  closeDeadline?: number;
}

/**
 * What the transport of a client is made of.
 *
 * @throws {ValueError} If there is no homeserver.
 */
export function httpOptions({ baseUrl, ...options }: ClientOptions): HTTPAPIOptions {
  if (baseUrl !== undefined) return { ...options, baseUrl };
  throw new ValueError("Cannot make a client: it needs a homeserver; give it baseUrl or api");
}
