/**
 * Sees to the dehydrated device while a client runs.
 *
 * @module
 */

import type { DehydrationMachine, ShownIdentity } from "./dehydration.ts";
import type { EnsureVerifiedOptions } from "../identity/identity_crypto.ts";
import type { SecretsAPI } from "../secrets/account_secrets.ts";
import { HeldStorage, unlockOf } from "../identity/verify_parts.ts";

/** What it works with. */
export interface RenewParts {
  /** The own identity. */
  readonly identity: ShownIdentity;
  /** The operations. */
  readonly api: SecretsAPI;
  /** The dehydrated device. */
  readonly dehydration: Pick<DehydrationMachine, "ensure">;
}

/** Has it replaced if it is due. The secret storage may have another key for it by now. */
export async function renewDehydrated(
  { identity, api, dehydration }: RenewParts,
  options: EnsureVerifiedOptions,
): Promise<void> {
  using held = new HeldStorage(api);
  await dehydration.ensure(identity, async () => {
    const by = unlockOf(options);
    return by && await held.open(by);
  });
}
