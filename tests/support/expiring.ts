/**
 * A homeserver whose access tokens expire.
 *
 * @module
 */

import {
  refusal,
  type Rule,
  scripted,
  type ScriptedOptions,
  type ScriptedRequest,
} from "./scripted_fetch.ts";

/** The refresh, as it is logged. */
export const REFRESH = "POST /_matrix/client/v3/refresh";
/** The refusal of an access token that has expired. */
export const softLogout = refusal(401, "M_UNKNOWN_TOKEN", { soft_logout: true });
/** What a request is authorised with. */
export const tokenOf = ({ headers }: ScriptedRequest) => headers.get("authorization");

/** A homeserver that takes one token after the other: `t0`, and from each refresh on the next. */
export function expiring(options: ScriptedOptions = {}, refresh?: Rule, others: Record<string, Rule> = {}) {
  const server = { current: 0, refreshes: 0 };
  const rule: Rule = () => {
    server.refreshes++;
    server.current++;
    return { access_token: `t${server.current}`, refresh_token: `r${server.current}` };
  };
  const x: Rule = (request) =>
    tokenOf(request) === `Bearer t${server.current}` ? { ok: true } : softLogout.clone();
  const made = scripted({ "GET /x": x, "POST /x": x, [REFRESH]: refresh ?? rule, ...others }, {
    accessToken: "t0",
    refreshToken: "r0",
    ...options,
  });
  return { ...made, http: made.session.http, server };
}
