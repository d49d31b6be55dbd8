/**
 * What the in-process homeserver has to know of an application service.
 *
 * @module
 */

/** Identifiers that an application service is interested in. */
export interface TestNamespace {
  /** A regular expression that the beginning of an identifier has to match. */
  readonly regex: string;
  /** Whether nobody else may make such a user or alias. */
  readonly exclusive: boolean;
}

/** A registration, by the names that it has in its file. */
export interface TestRegistration {
  /** Names the application service. */
  readonly id: string;
  /** Where it is reached; null: nowhere. */
  readonly url: string | null;
  /** What it shows to the homeserver. */
  readonly as_token: string;
  /** What the homeserver shows to it. */
  readonly hs_token: string;
  /** The part before the colon of the ID of its own user. */
  readonly sender_localpart: string;
  /** What it is interested in. */
  readonly namespaces: {
    /** User IDs. */
    readonly users?: readonly TestNamespace[];
    /** Room aliases. */
    readonly aliases?: readonly TestNamespace[];
    /** Room IDs. */
    readonly rooms?: readonly TestNamespace[];
  };
  /** Whether it is sent typing and receipts. */
  readonly receive_ephemeral?: boolean;
  /** Whether it is sent what encryption needs, and messages to devices with `receive_ephemeral`. */
  readonly "org.matrix.msc3202"?: boolean;
  /** Whether it makes its users' devices by itself, and none by a login. */
  readonly "io.element.msc4190"?: boolean;
}

/** Sends a request to an application service. */
export type AppserviceFetch = (request: Request) => Promise<Response>;
