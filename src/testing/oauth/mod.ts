/**
 * The authorization server: clients, logins and tokens.
 *
 * @module
 */

export { OAuthServer } from "./oauth_server.ts";
export { readMetadata } from "./clients.ts";
export { NO_STORE, refusal } from "./refusal.ts";
