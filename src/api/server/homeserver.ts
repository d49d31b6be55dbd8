/**
 * A homeserver, by its address or its server name. The domain of a server name is asked without its port, as the
 * specification says; if it has no discovery file (404), the homeserver is at the name itself, with the port.
 *
 * A file of its own because discovery alone says where a domain's homeserver is, and not what people write for one.
 *
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import type { FindAddress, HTTPAPI, HTTPAPIOptions } from "../http/mod.ts";
import { homeserverOf } from "./discovery.ts";

const SERVER_NAME =
  /^(?:localhost|[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,20}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Returns whether a text is the address of a homeserver. */
export function isAddress(text: string): boolean {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "");
}

/** Returns whether a text is a server name: one without a dot is more likely a token, but for `localhost`. */
export function isServerName(text: string): boolean {
  return SERVER_NAME.test(text);
}

/** The homeserver, as it is given in one of these ways; and what asks the domain of a server name. */
interface HomeserverOptions
  extends Pick<HTTPAPIOptions, "fetch" | "log" | "clock" | "retry" | "requestTimeout" | "userAgent"> {
  readonly homeserver?: string;
  readonly baseUrl?: string | URL | FindAddress;
  readonly api?: HTTPAPI;
}

/**
 * Where requests find the homeserver; undefined: no way says it.
 *
 * @param action What is made with it, as the error has it.
 * @throws {ValueError} If that is said in two ways, or can't be one.
 */
export function homeserverAddress(
  { homeserver, baseUrl, api, fetch, log, clock, retry, requestTimeout, userAgent }: HomeserverOptions,
  action: string,
): string | URL | FindAddress | undefined {
  if (homeserver === undefined) return baseUrl;
  const other = baseUrl !== undefined ? "baseUrl" : api !== undefined ? "api" : undefined;
  if (other !== undefined) {
    throw new ValueError(`Cannot ${action}: it has both homeserver and ${other}; leave out one of them`);
  }
  if (typeof homeserver === "string") {
    if (isAddress(homeserver)) return homeserver;
    const options = { fetch, log, clock, retry, requestTimeout, userAgent };
    if (isServerName(homeserver)) {
      return (signal) => homeserverOf(homeserver, { ...options, signal });
    }
  }
  throw new ValueError(
    `Cannot ${action}: homeserver must be an address like https://matrix.example.org, or a server name like ` +
      "example.org",
  );
}
