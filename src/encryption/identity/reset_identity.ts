/**
 * Replaces the own identity: `client.crypto.resetIdentity()`.
 *
 * The secret storage is opened, or its new key handed out, before the new identity is uploaded. Its
 * private keys are stored after that, so that a server which refuses it leaves all as it was; until
 * they are, they are durable here, and the next `ensureVerified()` stores them.
 *
 * @module
 */

import type { ResetIdentityOptions, VerificationReport } from "./identity_crypto.ts";
import { isVouchedFor } from "../../crypto/devices/mod.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { AccountSecrets, unlockOf } from "../secrets/secrets.ts";
import { ensureVerified } from "./ensure_verified.ts";
import { type IdentityCall, wipe } from "./identity_secrets.ts";
import { authenticationOf, handedOut, newStorage } from "./new_identity.ts";

/** It is to replace one that is published. */
const REPLACES = { replaces: true } as const;

/** Replaces the identity, or makes one if there is none. */
export async function resetIdentity(
  call: IdentityCall,
  { confirm, ...options }: ResetIdentityOptions,
): Promise<VerificationReport> {
  const { actor, identity, api } = call;
  const by = unlockOf(options);
  if (by === undefined && options.onRecoveryKey === undefined) {
    throw new ValueError(
      "Cannot reset the identity: nothing would keep its private keys; give recoveryKey, passphrase or onRecoveryKey",
    );
  }
  const { shown } = await identity.look();
  if (shown === undefined) return await ensureVerified(call, options);
  const hasStorage = await new AccountSecrets(api).defaultKeyId() !== undefined;
  const storage = by !== undefined && hasStorage ? await call.open(by) : undefined;
  const { userId, master } = shown;
  const devices = (await actor.devicesOf([userId]))
    .filter(isVouchedFor)
    .map(({ deviceId }) => deviceId);
  const secretStorage = storage === undefined && hasStorage ? "replaced" : "kept";
  if (await confirm({ master, devices, secretStorage }) !== true) {
    return { state: "declined", master, backup: undefined };
  }

  const made = await actor.createIdentity(REPLACES);
  let isSent = false;
  try {
    if (storage === undefined && hasStorage) await handedOut(actor, options, made);
    else if (!hasStorage) await newStorage(call, options);
    const { masterKey, selfSigningKey, userSigningKey } = made;
    const authentication = authenticationOf(options);
    isSent = true;
    await api.uploadCrossSigningKeys({ masterKey, selfSigningKey, userSigningKey, authentication });
  } catch (error) {
    if (!isSent || isRefusal(error)) await actor.abandonIdentity();
    throw error;
  } finally {
    wipe(made.seeds);
  }
  const report = await ensureVerified(call, options);
  return { ...report, state: report.state === "unconfirmed" ? "unconfirmed" : "reset" };
}

/** Returns whether the server has said no: what could not be asked may have been done. */
function isRefusal(error: unknown): boolean {
  return error instanceof MatrixRequestError && error.status >= 400 && error.status < 500;
}
