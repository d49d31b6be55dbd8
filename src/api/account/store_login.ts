/**
 * What a client makes of a login: from then on it acts as the user who logged in. And why there was none.
 *
 * @module
 */

import type { LoginResponse } from "../../types/api/login.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import { asksFor } from "../../errors/hints.ts";
import { checkedBaseUrl, type HTTPAPI, type Session } from "../http/mod.ts";
import { UnrecognizedError } from "../../errors/errcodes.ts";

/** What a login or a registration says of the new session. */
export interface NewSession {
  /** Whom the homeserver logged in. */
  user_id: UserID;
  /** The device that it made or went on with. */
  device_id?: DeviceID;
  /** Authorises requests. Secret. */
  access_token?: string;
  /** Buys the next access token. Secret. */
  refresh_token?: string;
  /** How long the access token lives, in milliseconds. */
  expires_in_ms?: number;
}

/** Makes a session that of another user or device. */
export function storeLogin(session: Session, login: NewSession): void {
  session.beginLogin(login.user_id, login.device_id);
  session.http.setTokens({
    accessToken: login.access_token ?? "",
    refreshToken: login.refresh_token,
    expiresIn: login.expires_in_ms,
  });
  session.reset();
  session.mxid = login.user_id;
  session.deviceId = login.device_id;
}

/**
 * Ends a login on this side: what was begun as it ends.
 *
 * @param forgets Whether to forget the tokens, too, so that it can do no more. The user stays known.
 */
export function endLogin(session: Session, { forgets }: { readonly forgets: boolean }): void {
  session.endLogin();
  if (!forgets) return;
  session.http.accessToken = "";
  session.deviceId = undefined;
}

/**
 * Moves to the homeserver's address that a login returned. An address that can't be one, or that
 * would give up encryption, is passed over: the login has succeeded where we are, and the token
 * must not be lost.
 */
export function followLogin(session: Session, { well_known }: LoginResponse): void {
  const { http } = session;
  const told: unknown = well_known?.["m.homeserver"]?.base_url;
  if (told === undefined) return;
  try {
    const url = checkedBaseUrl(String(told));
    if (url.startsWith("https:") || !http.baseUrl.startsWith("https:")) {
      http.baseUrl = url;
      session.reset();
      return;
    }
  } catch {
    // logged below
  }
  http.log.warn("Kept the homeserver's address: the one that came with the login can't be used", {
    operation: "login",
  });
}

/**
 * Why a login has failed, or a logout of all devices; of a server that knows none any more, also what to do.
 *
 * @param mend What to do, by what the server says of its authorization server.
 */
export async function throwExplained(
  error: unknown,
  http: HTTPAPI,
  mend: (metadata: unknown) => string,
): Promise<never> {
  if (error instanceof UnrecognizedError) {
    const answer = await http.request("GET", "/_matrix/client/v1/auth_metadata", { retry: false })
      .then((metadata) => ({ metadata }), () => undefined);
    if (answer !== undefined) {
      error.message += `; this server offers OAuth 2.0 only: ${mend(answer.metadata)}`;
      if (mend === otherLogin) asksFor(error, "another login");
    }
  }
  throw error;
}

/** Returns what to call in place of a login. */
export function otherLogin(): string {
  return "call loginByDeviceCode() of @greenroom/matrix/oauth";
}

/** Returns the page on which to end all sessions. */
export function accountPage(metadata: unknown): string {
  const { account_management_uri: page } = metadata as { account_management_uri?: unknown };
  const where = typeof page === "string" && URL.canParse(page) ? ` at ${new URL(page).href}` : "";
  return `end them in the account management${where}; logout() ends that of this client`;
}
