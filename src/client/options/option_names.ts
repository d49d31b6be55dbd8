/**
 * Which options a client has.
 *
 * @module
 */

import type { EncryptionOptions } from "../../actors/crypto/encryption_options.ts";
import { checkNames } from "../../errors/known_names.ts";
import type { ClientLeaseOptions, ClientOptions } from "../client_options.ts";
import type { WakeOptions } from "../serving/wake_options.ts";

type Names<Options> = Readonly<Record<keyof Options, true>>; // a name that is missing here does not compile

const CLIENT: Names<ClientOptions> = {
  ...{ baseUrl: true, api: true, mxid: true, deviceId: true, store: true, lease: true, wake: true },
  ...{ encryption: true, crypto: true, feed: true, stateStore: true, encryptionBlacklist: true },
  ...{ fillMemberEventCallback: true, deliver: true, maxPendingHandlers: true, closeDeadline: true },
  ...{ token: true, refreshToken: true, expiresInMs: true, onTokensRefreshed: true, findTokens: true },
  ...{ fetch: true, log: true, clock: true, retry: true, requestTimeout: true, maxResponseSize: true },
  ...{ userAgent: true, asUserId: true, asDeviceId: true, prepare: true },
};

const ENCRYPTION: Names<EncryptionOptions> = {
  ...{ sendTo: true, accept: true, unencrypted: true, answerKeyRequests: true, shareHistory: true },
  ...{ onNewRecipient: true, verification: true, recoveryKey: true, passphrase: true },
  ...{ onRecoveryKey: true, password: true, authentication: true, backup: true, dehydratedDevice: true },
};

const LEASE: Names<ClientLeaseOptions> = { duration: true, held: true, owner: true };
const WAKE: Names<WakeOptions> = { secret: true, timeLimit: true };

/**
 * Refuses options that a client has not, as of a typing error.
 *
 * @throws {ValueError} If there is one.
 */
export function checkClientOptions(options: ClientOptions): void {
  check("", options, CLIENT);
  check("encryption.", options.encryption, ENCRYPTION);
  check("lease.", options.lease, LEASE);
  check("wake.", options.wake, WAKE);
}

function check(prefix: string, given: unknown, names: Readonly<Record<string, true>>): void {
  if (typeof given !== "object" || given === null) return;
  const known = Object.keys(names).map((name) => prefix + name);
  const all = Object.keys(given).map((name) => prefix + name);
  checkNames(all, known, { action: "make a client", what: "option" });
}
