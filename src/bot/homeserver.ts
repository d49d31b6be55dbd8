/**
 * A bot's homeserver, by its address or its server name. The domain of a server name is asked without its port,
 * as the specification says; if it has no discovery file (404), the homeserver is at the name itself, with the port.
 *
 * @module
 */

import { type ClientOptions, ValueError } from "../../mod.ts";
import { homeserverOf } from "../api/server/server.ts";
import type { BotOptions } from "./bot_options.ts";

const SERVER_NAME =
  /^(?:localhost|[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,20}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Whether a text is the address of a homeserver. */
export function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

/** Whether a text is a server name: one without a dot is more likely a token, but for `localhost`. */
export function isServerName(text: string): boolean {
  return SERVER_NAME.test(text);
}

/**
 * Where a bot's client finds the homeserver.
 *
 * @throws {ValueError} If that is said in two ways, or can't be one.
 */
export function homeserverAddress(
  { homeserver, baseUrl, api, mxid, fetch, log, clock, retry, requestTimeout, userAgent }: BotOptions,
): Pick<ClientOptions, "baseUrl"> {
  if (homeserver === undefined && baseUrl === undefined && api === undefined && mxid === undefined) {
    throw new ValueError(
      'Cannot make a bot: it needs a homeserver; give it homeserver: "https://matrix.example.org"',
    );
  }
  if (homeserver === undefined) return { baseUrl };
  const other = baseUrl !== undefined ? "baseUrl" : api !== undefined ? "api" : undefined;
  if (other !== undefined) {
    throw new ValueError(`Cannot make a bot: it has both homeserver and ${other}; leave out one of them`);
  }
  if (typeof homeserver === "string") {
    if (isAddress(homeserver)) return { baseUrl: homeserver };
    const options = { fetch, log, clock, retry, requestTimeout, userAgent };
    if (isServerName(homeserver)) {
      return { baseUrl: (signal) => homeserverOf(homeserver, { ...options, signal }) };
    }
  }
  throw new ValueError(
    "Cannot make a bot: homeserver must be an address like https://matrix.example.org, or a server name like " +
      "example.org",
  );
}
