/** Claims of one-time keys, without a server. */

import { type KeyClaim, OlmClaims } from "../../../src/crypto/olm/olm.ts";
import type { UserID } from "@greenroom/matrix/types";
import { memoryVault, step } from "../support/vault.ts";

/** Claims for as many devices. */
export async function claims(count: number) {
  let names = 0;
  const vault = memoryVault();
  const made = new OlmClaims({ server: { answers: 0 }, uniqueId: () => `claim-${++names}` });
  const devices = Array.from({ length: count }, (_, index) => ({
    userId: `@u${index % 7}:s${index % 7}` as UserID,
    deviceId: `D${index}`,
  }));
  await step(vault, (tx) => made.want(tx, devices));
  return { made, devices, vault };
}

/** The devices that a claim names. */
export const namesIn = (claim: KeyClaim | undefined) =>
  Object.values(claim?.oneTimeKeys ?? {}).flatMap((devices) => Object.keys(devices));
