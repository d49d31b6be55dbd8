/**
 * Proving to others who one is.
 *
 * @module
 */

/** A token that proves to a third party which Matrix user one is. */
export interface OpenIDToken {
  /** The token, for the third party to ask the homeserver about. Secret. */
  access_token: string;
  /** The kind of token: `Bearer`. */
  token_type: string;
  /** The homeserver to ask. */
  matrix_server_name: string;
  /** For how long the token is good, in seconds. */
  expires_in: number;
}
