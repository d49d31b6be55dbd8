/**
 * The own keys: the device's identity, and the one-time and fallback keys with which others start
 * sessions with it.
 *
 * @module
 */

import type { Vodozemac } from "@greenroom/vodozemac-wasm";
import { type Clock, elapsed } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import { permanent } from "../../errors/matrix_error.ts";
import type { DeviceKeys, KeysUploadRequest } from "../../types/api/device_keys.ts";
import type { JsonObject } from "../../types/json.ts";
import type { EngineAccount, OwnDevice } from "../context/context.ts";
import type { Transaction } from "../records/mod.ts";
import { RateLimit, type RequestFailure } from "../requests/requests.ts";
import { countOf, KeyCounts, newUpload, sameKeys, SIGNED_CURVE25519, skipIds } from "./key_upload.ts";
import { OwnAccount, showsKeys } from "./own_account.ts";

export { newDeviceKeys, newUpload, SIGNED_CURVE25519 } from "./key_upload.ts";
export { DamagedAccountError, deviceConflict, OwnAccount, showsKeys } from "./own_account.ts";

const HOUR = 3_600_000;
const WEEK = 7 * 24 * HOUR;
/**
 * How many IDs of one-time keys to skip after the store was set back, as a multiple of those on the
 * server: the first time, and later.
 */
const SKIPPED = [20, 80] as const;

/** Keeps the own account, and decides which keys to upload. */
export class OwnKeys {
  /** How many one-time keys should lie on the server. */
  static readonly onServer: number = 50;
  readonly own: OwnDevice;
  /** The account: it signs, and starts Olm sessions. */
  readonly account: OwnAccount;
  readonly #clock: Clock;
  readonly #log: Logger;
  /**
   * Limits how often keys are generated or uploaded because of what the server says, which may be
   * anything.
   */
  readonly #doubts: RateLimit;
  #upload: { readonly of: object; readonly request: KeysUploadRequest | undefined } | undefined;
  /** How many one-time keys the server has. */
  readonly #counts: KeyCounts;

  private constructor(account: OwnAccount, { userId, deviceId }: EngineAccount, clock: Clock, log: Logger) {
    const { [`curve25519:${deviceId}`]: curve25519 = "", [`ed25519:${deviceId}`]: ed25519 = "" } =
      account.deviceKeys.keys;
    this.own = { userId, deviceId, curve25519, ed25519 };
    this.account = account;
    this.#clock = clock;
    this.#log = log;
    this.#counts = new KeyCounts(clock, OwnKeys.onServer);
    this.#doubts = new RateLimit(clock, { times: 3, periodMs: HOUR });
  }

  /**
   * Opens the account, or makes one if there is none.
   *
   * @param vodozemac Gives the primitives: another instance after one has trapped.
   * @param device Owns the keys.
   * @param clock The wall clock.
   * @param log Gets what goes wrong.
   * @throws {EncryptionError} If the store is that of another device, or damaged.
   */
  static async open(
    tx: Transaction,
    vodozemac: () => Vodozemac,
    device: EngineAccount,
    clock: Clock,
    log: Logger,
  ): Promise<OwnKeys> {
    const { userId, deviceId } = device;
    const found = await OwnAccount.open(tx, vodozemac);
    if (found !== undefined && (found.facts.userId !== userId || found.facts.deviceId !== deviceId)) {
      const { facts } = found;
      throw permanent(
        new EncryptionError(
          `Cannot open the keys of ${userId}, device ${deviceId}: the store holds those of ${facts.userId}, ` +
            `device ${facts.deviceId}; give each device a store of its own`,
        ),
      );
    }
    const account = found ?? OwnAccount.create(tx, vodozemac, { userId, deviceId });
    const keys = new OwnKeys(account, device, clock, log);
    if (found === undefined) keys.#generate(tx, { oneTimeKeys: OwnKeys.onServer, fallback: true });
    return keys;
  }

  /** The own device's keys as they are published: {@link OwnAccount.deviceKeys}. */
  deviceKeys(): DeviceKeys {
    return this.account.deviceKeys;
  }

  /** Whether the server has the device's keys, as far as is known. */
  get isPublished(): boolean {
    return this.account.facts.identityPublished;
  }

  /** Whether the server has a fallback key of the device. */
  get hasFallback(): boolean {
    return this.account.facts.fallbackPublishedAt !== undefined;
  }

  /**
   * Whether the server ever had keys of this store: if not, the device's one-time keys there belong
   * to another store.
   */
  get wasPublished(): boolean {
    const { identityPublished, fallbackPublishedAt, previousFallback } = this.account.facts;
    return identityPublished || fallbackPublishedAt !== undefined || previousFallback;
  }

  /**
   * Receives how many keys the server has left, and generates more if there are too few and none
   * are still to be uploaded. A server that does not say how many it has is not given more with each sync:
   * what its answers to uploads say bounds them.
   *
   * @param counts By algorithm; one that is missing has none.
   * @param unusedFallbackTypes Algorithms whose fallback key is unused; undefined if the server has
   *   no fallback keys.
   * @returns `lost` if the server may have lost the device: it has no unused fallback key, or no key at
   *   all if it has no fallback keys, though the device was published. What it has of the device is to
   *   be looked at; three times an hour at most. One-time keys alone show nothing: some may have come
   *   since.
   */
  receiveCounts(
    tx: Transaction,
    counts: Readonly<Record<string, number>>,
    unusedFallbackTypes: readonly string[] | undefined,
  ): "lost" | "there" {
    this.#forgetPrevious(tx);
    const count = countOf(counts);
    const counted = this.#counts.shown(count, this.account.facts.counted);
    if (counted !== undefined) this.account.change(tx, { counted });
    const fallback = this.#mayReplaceFallback(unusedFallbackTypes);
    this.#generate(tx, {
      oneTimeKeys: OwnKeys.onServer - this.#counts.believed(tx, count, this.account.facts.counted),
      fallback,
    });
    const hasAny = unusedFallbackTypes?.includes(SIGNED_CURVE25519) ?? count > 0;
    return !hasAny && this.isPublished && this.#doubts.take("none left") ? "lost" : "there";
  }

  /**
   * The keys to upload: durable ones only, and the same until the server has them. Undefined: none.
   */
  nextUpload(): KeysUploadRequest | undefined {
    const facts = this.account.durable;
    if (facts === undefined) return undefined;
    if (this.#upload?.of !== facts) this.#upload = { of: facts, request: this.#pending() };
    return this.#upload.request ?? (this.#counts.isToAsk ? {} : undefined);
  }

  /**
   * Notes that the server has taken an upload.
   *
   * @param request The upload.
   * @param response The response, with the number of one-time keys that the server has now.
   */
  receiveUpload(tx: Transaction, request: KeysUploadRequest, response: JsonObject): void {
    if (request.device_keys !== undefined && !this.isPublished) {
      this.account.change(tx, { identityPublished: true });
    }
    const counted = this.#counts.answered(tx, response);
    if (counted !== undefined) this.account.change(tx, { counted });
    // A response to an upload of other keys says nothing of these.
    if (this.account.facts.unpublished) {
      if (!sameKeys(request, this.#pending((object) => object))) return;
      const published = request.fallback_keys === undefined ? {} : { fallbackPublishedAt: this.#clock.now() };
      this.account.change(
        tx,
        { unpublished: false, ...published },
        (account) => account.markKeysAsPublished(),
      );
    } else if (Object.keys(request).length > 0) return; // else it has asked
    // A server that always reports too few keys must not get more and more: the next sync shows.
    if (counted !== undefined && Object.keys(request.one_time_keys ?? {}).length < OwnKeys.onServer) {
      this.#generate(tx, { oneTimeKeys: OwnKeys.onServer - counted.count, fallback: false });
    }
  }

  /**
   * Notes that an upload failed.
   *
   * @returns `clash` if the server has other keys under the same IDs, since the store is older than
   *   the last upload: call {@link recoverFromRollback}; three times an hour at most. Otherwise the
   *   same upload is to be retried.
   */
  failUpload({ status, message }: RequestFailure): "retry" | "clash" {
    this.#counts.failed();
    const clash = status === 400 && /already exists/i.test(message) && this.account.facts.unpublished;
    // A server that refuses whatever it is given must not have keys made for it in a circle.
    return clash && this.#doubts.take("upload") ? "clash" : "retry";
  }

  /**
   * Compares the own device with what the server shows of it.
   *
   * @param shown The device's keys as the server shows them, or that it has no such device.
   * @returns `same`; `upload` if the keys are to be uploaded (again); `differs` if the server has
   *   other keys, so that no device could ever talk to this one.
   */
  checkServer(tx: Transaction, shown: DeviceKeys | "missing"): "same" | "upload" | "differs" {
    if (shown === "missing") {
      if (this.isPublished && this.#doubts.take("lost")) {
        this.#log.warn("The server has lost the keys of this device: uploading them again");
        this.account.change(tx, { identityPublished: false });
      }
      return "upload";
    }
    if (!showsKeys(this.own, shown)) return "differs";
    if (!this.isPublished) this.account.change(tx, { identityPublished: true });
    return "same";
  }

  /**
   * Recovers after the store was set back: skips the IDs of one-time keys that may have been handed
   * out, and generates new one-time keys and a new fallback key. Keys that were to be uploaded stay
   * usable, but are not uploaded.
   */
  recoverFromRollback(tx: Transaction): void {
    const { rollbacks } = this.account.facts;
    const skipped = OwnKeys.onServer * (rollbacks === 0 ? SKIPPED[0] : SKIPPED[1]);
    this.#log.warn("The server has one-time keys that the store does not have: skipping their IDs", {
      skipped,
    });
    this.account.change(tx, { unpublished: false, rollbacks: rollbacks + 1 }, (account) => {
      account.markKeysAsPublished();
      skipIds(account, skipped);
    });
    this.#generate(tx, { oneTimeKeys: OwnKeys.onServer, fallback: true });
  }

  /**
   * Since when all older fallback keys are gone, in milliseconds since the epoch; undefined: not
   * yet. A message that needs an older one is a repetition, and can't be decrypted.
   */
  oldestFallbackSince(): number | undefined {
    const { previousFallback, previousPublishedAt, fallbackPublishedAt } = this.account.facts;
    return previousFallback ? previousPublishedAt : fallbackPublishedAt;
  }

  /** Frees objects of vodozemac: they are restored when they are needed. */
  clear(): void {
    this.account.clear();
  }

  /**
   * Generates keys, unless there are some that the server may not have yet: those are uploaded
   * first.
   */
  #generate(
    tx: Transaction,
    { oneTimeKeys, fallback }: { readonly oneTimeKeys: number; readonly fallback: boolean },
  ): void {
    if (this.account.facts.unpublished) return;
    if (oneTimeKeys > 0) this.account.generateOneTimeKeys(tx, oneTimeKeys);
    if (!fallback) return;
    const { fallbackPublishedAt, rollbacks } = this.account.facts;
    const previousFallback = fallbackPublishedAt !== undefined || rollbacks > 0; // else it is the first
    const facts = {
      fallbackPublishedAt: undefined,
      previousPublishedAt: fallbackPublishedAt,
      previousFallback,
    };
    this.account.change(tx, { unpublished: true, ...facts }, (account) => account.generateFallbackKey());
  }

  /** A new key replaces the last but one: messages that use that one get an hour to arrive. */
  #mayReplaceFallback(unusedTypes: readonly string[] | undefined): boolean {
    const age = elapsed(this.#clock.now(), this.account.facts.fallbackPublishedAt);
    if (unusedTypes === undefined || age < HOUR) return false;
    return !unusedTypes.includes(SIGNED_CURVE25519) || age >= WEEK;
  }

  #forgetPrevious(tx: Transaction): void {
    const { previousFallback, fallbackPublishedAt } = this.account.facts;
    if (!previousFallback || fallbackPublishedAt === undefined) return;
    if (elapsed(this.#clock.now(), fallbackPublishedAt) < HOUR) return;
    this.account.change(tx, { previousFallback: false }, (account) => account.forgetFallbackKey());
  }

  /** What is to be uploaded; it is compared without signatures, which take most of the time. */
  #pending(sign = (object: JsonObject) => this.account.sign(object)): KeysUploadRequest | undefined {
    const { unpublished, identityPublished } = this.account.facts;
    return newUpload({
      deviceKeys: identityPublished ? undefined : this.deviceKeys(),
      oneTimeKeys: unpublished ? this.account.account.oneTimeKeys() : [],
      fallbackKey: unpublished ? this.account.account.fallbackKey() : undefined,
      sign,
    });
  }
}
