/**
 * The devices of others, and how far they are to be trusted.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#tracking-the-device-list-for-a-user | Tracking device lists}
 * @module
 */

import { ValueError } from "../../errors/matrix_error.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import type { DeviceID, UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { unpadded } from "../../types/base64.ts";
import type { CryptoContext } from "../context/context.ts";
import {
  ChangeLog,
  GONE_PEER_DAYS,
  LEFT_USER_DAYS,
  schedulePruning,
  type Transaction,
} from "../records/mod.ts";
import { type StoredIdentity, type UserIdentity, userIdentity, verifierOf } from "./user_identity.ts";
import {
  type ComparedDevice,
  type CryptoDevice,
  devicesIn,
  everByIdentityKey,
  type FormerDevice,
  NO_RECORD,
  userKey,
  type UserRecord,
  withLocalTrust,
  withSignedDevice,
} from "./user_record.ts";
import { DeviceListChanges, isQueryResponse, nextPiece, pruneLeftUser, receiveUser } from "./user_answer.ts";
import { type DeviceQuery, TrackedUsers } from "./tracked_users.ts";
import type { Credentials, LocalTrust, StoredDevice } from "./device_keys_check.ts";

/**
 * Keeps track of devices, of at most 1,000 for each user.
 *
 * A user's record outlives the tracking: the keys of a device never change, and neither does the
 * user's identity, unless the application accepts another.
 */
export class DeviceLists {
  readonly #context: CryptoContext;
  /** The users that are tracked, and the queries about them. */
  readonly tracked: TrackedUsers = new TrackedUsers();
  /** The users of whom any device, its trust or the identity has changed, once that is durable. */
  readonly changes: ChangeLog<UserID> = new ChangeLog<UserID>();
  /** The own user-signing key, which verifies other users; undefined: none does. */
  #verifier: string | undefined;

  constructor(context: CryptoContext) {
    this.#context = context;
  }

  /** Reads which users are tracked. */
  async load(tx: Transaction): Promise<void> {
    const [own] = await Promise.all([tx.get(userKey(this.#context.own.userId)), this.tracked.load(tx)]);
    this.#verifier = verifierOf(own?.identity);
  }

  /**
   * Ends the tracking of users. Their records are kept; tracked again, they are dirty.
   *
   * Users who are still in an encrypted room have to be tracked again, after this and in the same
   * step.
   */
  left(tx: Transaction, users: Iterable<UserID>): void {
    for (const userId of this.tracked.left(tx, users)) {
      schedulePruning(tx, userId, { now: this.#context.clock.now(), days: LEFT_USER_DAYS });
    }
  }

  /** Makes users dirty who were queried before a time; returns the earliest time of the others. */
  outdate(users: Iterable<UserID>, since = Infinity): number {
    return this.tracked.outdate(users, { since, now: this.#context.clock.now() });
  }

  /**
   * Returns whether users' devices have to be looked up. They are tracked from now on.
   *
   * @param options.since How old what is known may be, as ms since the epoch; undefined: syncs show changes.
   */
  areStale(
    tx: Transaction,
    { users, since }: { readonly users: readonly UserID[]; readonly since?: number },
  ): boolean {
    this.tracked.track(tx, users);
    if (since !== undefined) this.outdate(users, since);
    return !users.every((userId) => this.tracked.isFollowed(userId)) || this.tracked.isDirty(users);
  }

  /**
   * Receives the response to a query under way, or the next piece of it.
   *
   * @param query The query.
   * @param response The body of the response, unchecked.
   */
  async receiveQuery(tx: Transaction, query: DeviceQuery, response: JsonObject): Promise<DeviceListChanges> {
    const changes = new DeviceListChanges();
    if (!isQueryResponse(response)) {
      tx.onCommit(() => this.tracked.failed(query, { now: this.#context.clock.now() }));
      return changes;
    }
    const asked = this.tracked.asked(query);
    const users = nextPiece(asked, response);
    changes.more = users.length < asked.length;
    const records = await tx.getMany(users.map(userKey));
    for (const [index, userId] of users.entries()) {
      const before = records[index] ?? NO_RECORD;
      const isVisitor = this.tracked.isVisitor(userId);
      const parts = { context: this.#context, tracked: this.tracked, verifier: this.#verifier };
      const after = receiveUser(tx, parts, { userId, query, response, before, changes });
      if (after === before) continue;
      this.#write(tx, userId, after);
      changes.note(userId, { before, after }, this.#verifier);
      if (isVisitor) schedulePruning(tx, userId, { now: this.#context.clock.now(), days: LEFT_USER_DAYS });
    }
    for (const { userId } of changes.removed) {
      // A day has a beginning.
      schedulePruning(tx, userId, { now: this.#context.clock.now(), days: GONE_PEER_DAYS + 1 });
    }
    tx.onCommit(() => {
      for (const userId of changes.changed) this.changes.note(userId);
    });
    return changes;
  }

  /** The devices of users, without the own one; users without devices are missing. */
  async devicesOf(
    tx: Transaction,
    users: readonly UserID[],
  ): Promise<ReadonlyMap<UserID, readonly CryptoDevice[]>> {
    const records = await tx.getMany(users.map(userKey));
    const found = new Map<UserID, readonly CryptoDevice[]>();
    for (const [index, userId] of users.entries()) {
      const record = records[index];
      if (record !== undefined && record.devices.length > 0) {
        found.set(userId, devicesIn(record, { userId, verifier: this.#verifier }));
      }
    }
    return found;
  }

  /** A device, of which the own one is always `verified`; undefined if it is not there. */
  async device(tx: Transaction, userId: UserID, deviceId: DeviceID): Promise<CryptoDevice | undefined> {
    if (this.#isOwn(userId, deviceId)) return this.#own();
    return (await this.#devices(tx, userId)).find((device) => device.deviceId === deviceId);
  }

  /** The device of a user that has a Curve25519 identity key; undefined if none is there. */
  async byIdentityKey(
    tx: Transaction,
    userId: UserID,
    curve25519: string,
  ): Promise<CryptoDevice | undefined> {
    const key = unpadded(curve25519);
    const { own } = this.#context;
    if (userId === own.userId && key === own.curve25519) return this.#own();
    return (await this.#devices(tx, userId)).find((device) => device.curve25519 === key);
  }

  /**
   * A user's present or former device by its identity key, with its trust as of now.
   *
   * @param credentials What it has shown of itself: with that it may be one that was never seen.
   */
  async everByIdentityKey(
    tx: Transaction,
    userId: UserID,
    curve25519: string,
    credentials?: Credentials,
  ): Promise<FormerDevice | undefined> {
    const record = await tx.get(userKey(userId));
    // The own device is in no record, and known by its keys.
    const isOwn = credentials !== undefined && this.#isOwn(userId, credentials.deviceId);
    const device = { curve25519: unpadded(curve25519), ...(!isOwn && { credentials }) };
    return record && everByIdentityKey(record, device, this.#verifier);
  }

  /**
   * Sets the trust in a device, whatever its user signed; the server need not show it any more.
   *
   * @param device The device, with the key that was compared.
   * @param trust The trust; undefined: the application's decision is removed.
   * @throws {ValueError} If no device with that key is known, or it is the own one.
   */
  async setTrust(tx: Transaction, device: ComparedDevice, trust: LocalTrust | undefined): Promise<void> {
    const { userId, deviceId } = device;
    if (this.#isOwn(userId, deviceId)) {
      const named = `device ${JSON.stringify(deviceId)} of ${JSON.stringify(userId)}`;
      throw new ValueError(`Cannot set the trust of ${named}: it is this device, which trusts itself`);
    }
    this.#put(tx, userId, withLocalTrust(await tx.get(userKey(userId)) ?? NO_RECORD, device, trust));
  }

  /**
   * Notes that the own identity has signed a device of the own user.
   *
   * @throws {ValueError} If no such device is there, or it has another key than was compared.
   */
  async setSigned(tx: Transaction, device: ComparedDevice): Promise<StoredDevice> {
    const { record, signed } = withSignedDevice(await tx.get(userKey(device.userId)) ?? NO_RECORD, device);
    this.#put(tx, device.userId, record);
    return signed;
  }

  /** The identity with which a user signs devices; undefined if there never was one. */
  async identityOf(tx: Transaction, userId: UserID): Promise<UserIdentity | undefined> {
    return userIdentity((await tx.get(userKey(userId)))?.identity, userId, this.#verifier);
  }

  /**
   * Returns whether a device counts as one that its user has signed although it is not: an own one, as long
   * as the account never had an identity that could sign it.
   */
  async isSpared(
    tx: Transaction,
    { userId, trust }: Pick<CryptoDevice, "userId" | "trust">,
  ): Promise<boolean> {
    const { own, policy } = this.#context;
    if (!policy.sparesOwn || userId !== own.userId || trust !== "unsigned") return false;
    const { identity, hadIdentity } = await tx.get(userKey(userId)) ?? NO_RECORD;
    return identity === undefined && hadIdentity !== true;
  }

  /** Changes what is known of a user's identity; the change gets the own user-signing key too. */
  async changeIdentity(
    tx: Transaction,
    userId: UserID,
    change: (before: StoredIdentity | undefined, verifier: string | undefined) => StoredIdentity | undefined,
  ): Promise<void> {
    const before = await tx.get(userKey(userId)) ?? NO_RECORD;
    const identity = change(before.identity, this.#verifier);
    if (identity !== before.identity) this.#put(tx, userId, { ...before, identity });
  }

  /** Removes the devices of a user who is not tracked: no encrypted room is shared. */
  async pruneUser(tx: Transaction, userId: UserID): Promise<void> {
    if (this.tracked.has(userId)) return;
    if (!await pruneLeftUser(tx, userId, this.#context.clock.now())) return;
    tx.onCommit(() => this.changes.note(userId));
  }

  #put(tx: Transaction, userId: UserID, record: UserRecord): void {
    this.#write(tx, userId, record);
    tx.onCommit(() => this.changes.note(userId));
  }

  /** Another own user-signing key verifies other users, whose signatures are looked for again. */
  #write(tx: Transaction, userId: UserID, record: UserRecord): void {
    tx.set(userKey(userId), record);
    const [before, verifier] = [this.#verifier, verifierOf(record.identity)];
    if (userId !== this.#context.own.userId || before === verifier) return;
    this.#verifier = verifier;
    tx.onAbort(() => this.#verifier = before);
    tx.onCommit(() => this.changes.noteAll());
    if (verifier !== undefined) this.tracked.invalidateOthers(tx, userId);
  }

  async #devices(tx: Transaction, userId: UserID): Promise<readonly CryptoDevice[]> {
    const record = await tx.get(userKey(userId));
    return record === undefined ? [] : devicesIn(record, { userId, verifier: this.#verifier });
  }

  #isOwn(userId: UserID, deviceId: DeviceID): boolean {
    const { own } = this.#context;
    return userId === own.userId && deviceId === own.deviceId;
  }

  #own(): CryptoDevice {
    const algorithms = [EncryptionAlgorithm.OLM_V1, EncryptionAlgorithm.MEGOLM_V1];
    return { ...this.#context.own, algorithms, isDehydrated: false, trust: "verified" };
  }
}
