/**
 * The authorization server: clients, logins and tokens.
 *
 * @module
 */

export { OAuthServer } from "./oauth_server.ts";
export { NO_STORE, readMetadata, refusal } from "./clients.ts";
