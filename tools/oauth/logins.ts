/**
 * The logins at the provider, and the tokens of each: what the Matrix Authentication Service remembers and
 * `oidc-provider` does not.
 *
 * @module
 */

// deno-lint-ignore no-explicit-any -- oidc-provider has no types
type Untyped = any;

const DEVICE_SCOPE = /^urn:matrix:(?:org\.matrix\.msc2967\.)?client:device:(.+)$/;

/** The device that a scope is for. */
export function deviceOf(scope: string): string | undefined {
  return scope.split(" ").map((part) => DEVICE_SCOPE.exec(part)?.[1]).find((id) => id !== undefined);
}

/**
 * Which tokens came from which refresh token: one that was used works again while what it gave is unused, as
 * with the Matrix Authentication Service, and an access token ends when the next one is given.
 */
export class Logins {
  provider: Untyped;
  /** The access token that came with a refresh token, by their IDs. */
  readonly #access = new Map<string, string>();
  /** What a refresh token was exchanged for. */
  readonly #next = new Map<string, string>();
  /** The access tokens that Synapse has asked for. */
  readonly #used = new Set<string>();
  /** Whose device each login is for, by the ID of its grant. */
  readonly #devices = new Map<string, string>();

  /** Withdraws what a refresh token was exchanged for, so that it works again; false if that was used. */
  async takeBack(token: Untyped): Promise<boolean> {
    const next = await this.provider.RefreshToken.find(this.#next.get(token.jti) ?? "");
    if (!next || next.consumed || this.#used.has(this.#access.get(next.jti) ?? "")) return false;
    await this.#endAccess(next.jti);
    await next.destroy();
    token.consumed = undefined;
    return true;
  }

  /** Notes that Synapse has asked for an access token. */
  use({ jti }: Untyped): void {
    this.#used.add(jti);
  }

  /** Notes the tokens of an answer. */
  async issued(
    { RotatedRefreshToken: old, RefreshToken: refresh, AccessToken: access }: Untyped,
  ): Promise<void> {
    const { grantId, accountId, scope } = access;
    this.#devices.set(grantId, `${accountId} ${deviceOf(scope)}`);
    if (!refresh) return;
    this.#access.set(refresh.jti, access.jti);
    if (!old) return;
    await this.#endAccess(old.jti);
    this.#next.set(old.jti, refresh.jti);
  }

  /** Ends a login; false if another has its device too. */
  end(grantId: string): boolean {
    const device = this.#devices.get(grantId);
    this.#devices.delete(grantId);
    return ![...this.#devices.values()].includes(device ?? "");
  }

  async #endAccess(refresh: string): Promise<void> {
    const access = await this.provider.AccessToken.find(this.#access.get(refresh) ?? "");
    await access?.destroy();
  }
}
