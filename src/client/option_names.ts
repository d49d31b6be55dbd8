/**
 * Which options a client has.
 *
 * @module
 */

import { ENCRYPTION_OPTIONS, type OwnerVerificationOptions } from "../encryption/encryption.ts";
import type { StartOptions, SyncOnceOptions } from "../actors/syncer/syncer.ts";
import { checkAuthentication } from "../api/account/account.ts";
import { checkRetry, HTTP_OPTIONS } from "../api/http/mod.ts";
import { checkOptions, type OptionNames } from "../errors/known_names.ts";
import { ValueError } from "../errors/value_error.ts";
import type { ClientLeaseOptions, ClientOptions } from "./client_options.ts";
import type { WakeOptions } from "./wake_options.ts";

const CLIENT: OptionNames<ClientOptions> = {
  ...HTTP_OPTIONS,
  ...{ api: true, mxid: true, deviceId: true, store: true, lease: true, wake: true },
  ...{ encryption: true, encryptionBlacklist: true },
  ...{ fillMemberEventCallback: true, deliver: true, maxPendingHandlers: true, closeDeadline: true },
};

const LEASE: OptionNames<ClientLeaseOptions> = { duration: true, held: true, owner: true };
const WAKE: OptionNames<WakeOptions> = { secret: true, timeLimit: true };
const VERIFICATION: OptionNames<OwnerVerificationOptions> = { acceptFrom: true, confirm: true };

const SYNC: OptionNames<Omit<StartOptions, "signals" | "backoff">> = {
  ...{ filterData: true, lazyLoadMembers: true, ignoreInitialSync: true, ignoreFirstSync: true },
  ...{ fillGaps: true, timeout: true, signal: true },
};
const START: OptionNames<StartOptions> = { ...SYNC, signals: true, backoff: true };
const SYNC_ONCE: OptionNames<SyncOnceOptions> = { ...SYNC, deadline: true };
const BACKOFF: OptionNames<NonNullable<StartOptions["backoff"]>> = { base: true, cap: true };

/**
 * Refuses options that a client has not, as of a typing error.
 *
 * @throws {ValueError} If there is one.
 */
export function checkClientOptions(options: ClientOptions): void {
  const action = "make a client";
  if (options === undefined) throw new ValueError("Cannot make a client: it has no options; give it baseUrl");
  checkOptions(options, CLIENT, action);
  const { encryption, lease, wake, retry } = options;
  checkOptions(lease, LEASE, action, "lease.");
  checkOptions(wake, WAKE, action, "wake.");
  checkRetry(retry, action);
  if (typeof encryption === "boolean") return;
  checkOptions(encryption, ENCRYPTION_OPTIONS, action, "encryption.");
  checkAuthentication(encryption?.authentication, action);
  checkOptions(encryption?.verification, VERIFICATION, action, "encryption.verification.");
}

/**
 * Refuses options that `start()` has not.
 *
 * @throws {ValueError} If there is one.
 */
export function checkStartOptions(options: StartOptions | undefined): void {
  checkOptions(options, START, "start");
  checkOptions(options?.backoff, BACKOFF, "start", "backoff.");
}

/**
 * Refuses options that `syncOnce()` has not.
 *
 * @throws {ValueError} If there is one.
 */
export function checkSyncOnceOptions(options: SyncOnceOptions | undefined): void {
  checkOptions(options, SYNC_ONCE, "sync once");
}
