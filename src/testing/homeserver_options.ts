/**
 * What can be set about the in-process homeserver.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { type AuthorizationServerOptions, checkAuthorizationServerOptions } from "./authorization_server.ts";

/** The versions of the specification that Synapse has. */
export const SYNAPSE_VERSIONS: readonly string[] = [
  ...["r0.0.1", "r0.1.0", "r0.2.0", "r0.3.0", "r0.4.0", "r0.5.0", "r0.6.0", "r0.6.1"],
  ...Array.from({ length: 15 }, (_, minor) => `v1.${minor + 1}`),
];

/** Proposals that Synapse has by default and that change what this one does. */
export const SYNAPSE_FEATURES: Readonly<Record<string, boolean>> = Object.fromEntries(
  ["msc4140", "msc4380.stable", "simplified_msc3575"].map((name) => [`org.matrix.${name}`, true]),
);

/** What some homeservers do, and a client has to live with. */
export interface HomeserverQuirks {
  /** Whether `GET /messages` reads on past `to`, as Dendrite does. Defaults to false. */
  ignoreTo?: boolean;
  /**
   * How many events a page of `GET /messages` has at most: 1 on Dendrite, at times. Defaults to
   * 1,000.
   */
  pageSize?: number;
  /** How many events that were shown before each timeline begins with. Defaults to 0. */
  showAgain?: number;
  /**
   * For how long a `GET /sync` that was answered with something new gets the same answer again, in
   * milliseconds of the homeserver's clock: 120,000 on Synapse. Defaults to 0: what happened in
   * between is shown.
   */
  syncCache?: number;
}

/** How often a user may do something: `perSecond` on average, and `burst` times at once. */
export interface RateLimit {
  /** How many times per second on average. */
  perSecond: number;
  /** The most requests at once. */
  burst: number;
}

/** How often each user may do what. What is left out has no limit. */
export interface RateLimits {
  /** Messages, state events, and redactions. Synapse's default: 0.2 and 10. */
  messages?: RateLimit;
  /** Joins. Synapse's default: 0.1 and 10. */
  joins?: RateLimit;
  /** Invitations that are sent. Synapse's default: 0.3 and 10. */
  invites?: RateLimit;
  /** Rooms that are created. Synapse's default: 0.016 and 10. */
  rooms?: RateLimit;
}

/** Options of `new Homeserver()`. */
export interface HomeserverOptions {
  /**
   * The name behind the colon of user IDs.
   *
   * @default {"localhost"}
   */
  readonly serverName?: string;
  /**
   * The clock that timestamps, long polls, typing and delays go by. Defaults to the machine's
   * clock.
   */
  readonly clock?: Clock;
  /** Where identifiers come from. Defaults to random ones. */
  readonly ids?: IdGenerator;
  /**
   * The specification versions in `GET /versions`. Defaults to those of Synapse 1.163: r0.0.1 to
   * v1.15.
   */
  readonly versions?: readonly string[];
  /**
   * The unstable features in `GET /versions`. With `org.matrix.simplified_msc3575` clients can sync by
   * sliding sync in Synapse's form. With `org.matrix.simplified_msc3575.stable` they can as it was merged,
   * and get the extensions whose proposals are named: `org.matrix.msc4538.stable` (messages to devices), and
   * so on for `msc4543` (encryption), `msc4548` (account data), `msc4551` (receipts) and `msc4508` (typing).
   *
   * @default {{ "org.matrix.msc4140": true, "org.matrix.msc4380.stable": true,
   *   "org.matrix.simplified_msc3575": true }}
   */
  readonly unstableFeatures?: Readonly<Record<string, boolean>>;
  /**
   * The version of rooms that are created without naming one.
   *
   * @default {"12"}
   */
  readonly defaultRoomVersion?: string;
  /**
   * The largest upload, in bytes.
   *
   * @default {52_428_800}
   */
  readonly maxUploadSize?: number;
  /**
   * Whether users log in at an OAuth 2.0 authorization server, which is {@link Homeserver.oauth}, and no
   * longer with a password: `POST /login` and all that goes with it are gone then. Options set about the
   * authorization server count as `true`.
   *
   * @default {false}
   */
  readonly oauth?: boolean | AuthorizationServerOptions;
  /**
   * How long access tokens live whose client asked for refresh tokens, and those of OAuth 2.0, in
   * milliseconds.
   *
   * @default {300_000}
   */
  readonly accessTokenLifetime?: number;
  /**
   * Whether media is for those with an access token only. Set it to `false` for a server of the
   * time before 1.11.
   *
   * @default {true}
   */
  readonly authenticatedMedia?: boolean;
  /**
   * Whether the user directory finds everyone, or only those who share a room with the asker or are
   * in a public one.
   *
   * @default {true}
   */
  readonly searchAllUsers?: boolean;
  /** What URL previews read pages with. Defaults to nothing: there are no previews. */
  readonly previewFetch?: typeof fetch;
  /**
   * What notifications are sent with, to the addresses that pushers name, as Synapse sends them: one
   * after the other, and again after growing waits where that fails. Defaults to nothing: none are
   * sent.
   */
  readonly pushFetch?: (input: string, init: RequestInit) => Promise<Response>;
  /**
   * Whether `POST /register` is open.
   *
   * @default {true}
   */
  readonly registration?: boolean;
  /**
   * What `GET /voip/turnServer` answers.
   *
   * @default {{}}
   */
  readonly turnServer?: Readonly<Record<string, unknown>>;
  /**
   * What other homeservers do and Synapse does not: see {@link Homeserver.quirks}. Defaults to
   * nothing.
   */
  readonly quirks?: HomeserverQuirks;
  /** How often each user may do what: see {@link Homeserver.rateLimits}. Defaults to no limits. */
  readonly rateLimits?: RateLimits;
  /**
   * How many requests {@link Homeserver.requests} keeps.
   *
   * @default {10_000}
   */
  readonly requestLogSize?: number;
  /** Called with errors inside the homeserver, for which the client gets a 500. Default: none. */
  readonly onError?: (error: unknown) => void;
}

const OPTIONS: OptionNames<HomeserverOptions> = {
  ...{ serverName: true, clock: true, ids: true, versions: true, unstableFeatures: true, onError: true },
  ...{ defaultRoomVersion: true, maxUploadSize: true, accessTokenLifetime: true, authenticatedMedia: true },
  ...{ searchAllUsers: true, previewFetch: true, pushFetch: true, registration: true, turnServer: true },
  ...{ quirks: true, rateLimits: true, requestLogSize: true, oauth: true },
};
const QUIRKS: OptionNames<HomeserverQuirks> = {
  ...{ ignoreTo: true, pageSize: true, showAgain: true, syncCache: true },
};
const LIMITS: OptionNames<RateLimits> = { messages: true, joins: true, invites: true, rooms: true };
const LIMIT: OptionNames<RateLimit> = { perSecond: true, burst: true };

/**
 * Refuses options that a homeserver has not, as of a typing error.
 *
 * @throws {ValueError} If there is one.
 */
export function checkHomeserverOptions(options: HomeserverOptions): void {
  const action = "make a homeserver";
  checkOptions(options, OPTIONS, action);
  checkOptions(options.quirks, QUIRKS, action, "quirks.");
  checkOptions(options.rateLimits, LIMITS, action, "rateLimits.");
  checkAuthorizationServerOptions(options.oauth ?? false);
  for (const [name, limit] of Object.entries(options.rateLimits ?? {})) {
    checkOptions(limit, LIMIT, action, `rateLimits.${name}.`);
  }
}

/** What an identifier is for. */
export type IdKind =
  | "access_token"
  | "authorization_code"
  | "client"
  | "delay"
  | "device"
  | "device_code"
  | "event"
  | "login_token"
  | "media"
  | "openid_token"
  | "refresh_token"
  | "room"
  | "uia_session"
  | "user_code";

/** Makes the opaque parts of identifiers. Give the homeserver one of your own to choose them. */
export interface IdGenerator {
  /**
   * The next identifier, without sigil and server name. It must never repeat for one kind.
   *
   * @param kind What it is for.
   * @param length How many characters it must have.
   */
  next(kind: IdKind, length: number): string;
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const LETTERS_AND_DIGITS = `${LETTERS}${LETTERS.toLowerCase()}0123456789`;

/** Identifiers that can't be guessed, and that no two homeservers share; the default. */
export function randomIds(): IdGenerator {
  return {
    next(kind, length) {
      const alphabet = kind === "device" ? LETTERS : LETTERS_AND_DIGITS;
      const bytes = crypto.getRandomValues(new Uint8Array(length));
      return Array.from(bytes, (byte) => alphabet.charAt(byte % alphabet.length)).join("");
    },
  };
}

/**
 * Identifiers that count up from one, the same in every run: for snapshots and for reading a
 * failing test.
 *
 * @param prefix Put before the number; two homeservers of one test need different ones.
 */
export function sequentialIds(prefix = ""): IdGenerator {
  const counts = new Map<IdKind, number>();
  return {
    next(kind, length) {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      const head = `${prefix}${kind.replaceAll("_", "")}`;
      return `${kind === "device" ? head.toUpperCase() : head}${
        String(count).padStart(length - head.length, "0")
      }`;
    },
  };
}

/** Identifiers that an application service is interested in. */
export interface TestNamespace {
  /** A regular expression that the beginning of an identifier has to match. */
  readonly regex: string;
  /** Whether nobody else may make such a user or alias. */
  readonly exclusive: boolean;
}

/** The users, aliases and rooms that an application service is interested in. */
export interface TestNamespaces {
  /** User IDs. */
  readonly users?: readonly TestNamespace[];
  /** Room aliases. */
  readonly aliases?: readonly TestNamespace[];
  /** Room IDs. */
  readonly rooms?: readonly TestNamespace[];
}

/** A registration, by the names that it has in its file. */
export interface TestRegistration {
  /** The ID of the application service. */
  readonly id: string;
  /** Where it is reached; null: nowhere. */
  readonly url: string | null;
  /** What it shows to the homeserver. */
  readonly as_token: string;
  /** What the homeserver shows to it. */
  readonly hs_token: string;
  /** The part before the colon of the ID of its own user. */
  readonly sender_localpart: string;
  /** The users, aliases and rooms that it is interested in. */
  readonly namespaces: TestNamespaces;
  /** Whether it is sent typing and receipts. */
  readonly receive_ephemeral?: boolean;
  /** Whether it is sent what encryption needs, and messages to devices with `receive_ephemeral`. */
  readonly "org.matrix.msc3202"?: boolean;
  /** Whether it makes its users' devices by itself, and none by a login. */
  readonly "io.element.msc4190"?: boolean;
}

/** Sends a request to an application service. */
export type AppserviceFetch = (request: Request) => Promise<Response>;
