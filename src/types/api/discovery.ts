/**
 * Where a homeserver is, and what it supports.
 *
 * @module
 */

/** The answer of `/.well-known/matrix/client`. */
export interface DiscoveryInformation {
  /** Where the client-server API is. */
  "m.homeserver": DiscoveredServer;
  /** The identity server to use. */
  "m.identity_server"?: DiscoveredServer;
  /** Anything else. */
  [key: string]: unknown;
}

/** Where a server is. */
export interface DiscoveredServer {
  /** The URL in front of its endpoints. */
  base_url: string;
}

/** The answer of `/_matrix/client/versions`. */
export interface VersionsResponse {
  /** The versions of the specification that the server supports, such as `v1.11` or `r0.6.1`. */
  versions: string[];
  /** Which features of proposals the server supports; not the ones that are missing. */
  unstable_features?: { [feature: string]: boolean };
}
