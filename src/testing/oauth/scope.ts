/**
 * What tokens are for: scopes, and the device in them.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#allocating-a-device-id | Scopes}
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/2967 | MSC2967}
 *
 * @module
 */

/** Both spellings, with what stands behind them. */
const MATRIX =
  /^urn:matrix:(?:org\.matrix\.msc2967\.)?client:(?:(api:\*)|device:([A-Za-z0-9._~!$&'()*+,;=:@/-]{10,}))$/;
const UNSTABLE = "urn:matrix:org.matrix.msc2967.client:";
const STABLE = "urn:matrix:client:";
const OTHERS: ReadonlySet<string> = new Set(["openid", "email"]);

/** The scopes of a text. */
function scopesOf(scope: string): readonly string[] {
  return scope.split(" ").filter((part) => part !== "");
}

export function deviceOf(scope: string): string | undefined {
  return scopesOf(scope).map((part) => MATRIX.exec(part)?.[2]).find((id) => id !== undefined);
}

/** Why nobody can approve a scope, as the policy of the Matrix Authentication Service has it. */
export function problemOf(scope: string): string | undefined {
  const parts = scopesOf(scope);
  const strange = parts.find((part) => !MATRIX.test(part) && !OTHERS.has(part));
  if (strange !== undefined) return `scope '${strange}' not allowed`;
  const matrix = parts.map((part) => MATRIX.exec(part)).filter((match) => match !== null);
  const devices = matrix.filter((match) => match[2] !== undefined);
  if (devices.length > 1) return "only one device scope is allowed at a time";
  if (devices.length > 0 && !matrix.some((match) => match[1] !== undefined)) {
    return "device scopes are only allowed when the client-server API scope is requested";
  }
  const [unstable, stable] = [UNSTABLE, STABLE].map((start) => parts.some((part) => part.startsWith(start)));
  return unstable && stable ? "request cannot mix unstable and stable scopes" : undefined;
}

/** Whether a scope allows to use the client-server API. */
export function allowsApi(scope: string): boolean {
  return scopesOf(scope).some((part) => MATRIX.exec(part)?.[1] !== undefined);
}
