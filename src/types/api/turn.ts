/**
 * Servers that relay calls.
 *
 * @module
 */

/** How to use the server's TURN servers. */
export interface TurnServer {
  /** The user name. */
  username: string;
  /** The password. Secret. */
  password: string;
  /** Where the TURN servers are: URIs that start with `turn:` or `turns:`. */
  uris: string[];
  /** For how long user name and password are good, in seconds. */
  ttl: number;
}
