/**
 * Makes the users of an application service, and has them join rooms: once each, when it is needed. Keys of
 * different users are kept apart here.
 *
 * @module
 */

import { type HTTPAPI, type Prepare, type RequestOptions, requestOptions } from "../api/http/mod.ts";
import { UserInUseError } from "../errors/account_errcodes.ts";
import { ForbiddenError, NotFoundError } from "../errors/errcodes.ts";
import { EncryptionError } from "../errors/encryption_error.ts";
import { RecentMap } from "../base/recent_map.ts";
import { Membership } from "../types/enums.ts";
import type { DeviceID, RoomID, UserID } from "../types/ids.ts";
import type { OwnUsers } from "./own_users.ts";
import type { ReceivedMember } from "./transaction.ts";
import type { EncryptionOptions } from "../encryption/encryption.ts";
import type { ClientOptions } from "../client/mod.ts";
import { derivedRecoveryKey } from "../encryption/recovery_key/recovery_key.ts";

/** Operations that only a member of the room can do. */
const OF_MEMBERS = new Set([
  "sendMessageEvent",
  "sendStateEvent",
  "redact",
  "setTyping",
  "sendReceipt",
  "setFullyReadMarker",
  "inviteUser",
  "kickUser",
  "banUser",
  "unbanUser",
]);
/** What is asked of a room before something is encrypted for it; only members can know. */
const BEFORE_ENCRYPTING = new Set(["getStateEvent", "getMembers"]);
/** How many users, and members of rooms, are remembered. */
const MAX_KNOWN = 100_000;

/** Makes users, and has them join. */
export class Ghosts {
  readonly #http: HTTPAPI;
  readonly #users: OwnUsers;
  readonly #deviceId: DeviceID | undefined;
  /** Who is registered, or about to be. */
  readonly #registered = new RecentMap<UserID, Promise<void>>(MAX_KNOWN);
  /** Who is in which room, or about to be: by user and room. */
  readonly #joined = new RecentMap<string, Promise<void>>(MAX_KNOWN);

  /**
   * @param http The way to the homeserver, as the application service itself.
   * @param users The users of the application service.
   * @param deviceId The device that each user has; undefined: none.
   */
  constructor(http: HTTPAPI, users: OwnUsers, deviceId: DeviceID | undefined) {
    this.#http = http;
    this.#users = users;
    this.#deviceId = deviceId;
  }

  /** Does what a request of a user needs before. */
  prepare(userId: UserID): Prepare {
    return async (operation, { roomId }, options) => {
      const { asUserId: acting = userId } = options;
      await this.register(acting, options);
      if (roomId === undefined || acting === this.#users.bot) return;
      if (OF_MEMBERS.has(operation) || this.#isBeforeEncrypting(operation)) {
        await this.join(acting, roomId as RoomID, options);
      }
    };
  }

  /** Returns whether something is asked that has to be known before something is encrypted. */
  #isBeforeEncrypting(operation: string): boolean {
    return this.#deviceId !== undefined && BEFORE_ENCRYPTING.has(operation);
  }

  /** Registers a user, and makes its device, unless that was done. */
  async register(userId: UserID, options: RequestOptions = {}): Promise<void> {
    await once(this.#registered, userId, () => this.#register(userId, options));
  }

  /** Has a user join a room, unless it is there: by invitation of the own user, where it takes one. */
  async join(userId: UserID, roomId: RoomID, options: RequestOptions = {}): Promise<void> {
    await once(this.#joined, `${userId} ${roomId}`, () => this.#join(userId, roomId, options));
  }

  /** Forgets that a user is registered: its device is gone, and the next request makes it anew. */
  forget(userId: UserID): void {
    this.#registered.remove(userId);
  }

  /** Forgets who is in which room: it was not told of all that has happened. */
  forgetRooms(): void {
    this.#joined.clear();
  }

  /** Learns from member events who has come and gone. */
  note(members: readonly ReceivedMember[]): void {
    for (const event of members) {
      const { state_key: userId, room_id: roomId, content: { membership } } = event;
      if (typeof userId !== "string" || !this.#users.isOwn(userId)) continue;
      const place = `${userId} ${String(roomId)}`;
      if (membership === Membership.JOIN) this.#joined.set(place, Promise.resolve());
      else this.#joined.remove(place);
    }
  }

  async #register(userId: UserID, options: RequestOptions): Promise<void> {
    const username = userId.slice(1, userId.indexOf(":"));
    const body = { type: "m.login.application_service", username, inhibit_login: true };
    try {
      await this.#http.request("POST", "/_matrix/client/v3/register", {
        ...own(options),
        body,
        idempotent: true,
      });
    } catch (error) {
      if (!(error instanceof UserInUseError)) throw error;
    }
    await this.#makeDevice(userId, options);
  }

  async #makeDevice(userId: UserID, options: RequestOptions): Promise<void> {
    const deviceId = this.#deviceId;
    if (deviceId === undefined) return;
    const path = { deviceId };
    const request = { ...own(options), path, body: {}, asUserId: userId };
    try {
      await this.#http.request("PUT", "/_matrix/client/v3/devices/{deviceId}", request);
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      throw new EncryptionError(
        `Cannot make a device of ${userId}: the homeserver does not let the application service; ` +
          "set io.element.msc4190 in its registration",
        { cause: error },
      );
    }
  }

  async #join(userId: UserID, roomId: RoomID, options: RequestOptions): Promise<void> {
    const { bot } = this.#users;
    const post = (action: string, body: object, asUserId?: UserID) =>
      this.#http.request("POST", `/_matrix/client/v3/rooms/{roomId}/${action}`, {
        ...own(options),
        path: { roomId },
        body,
        asUserId,
        idempotent: true,
      });
    try {
      await post("join", {}, userId);
    } catch (error) {
      if (!(error instanceof ForbiddenError)) throw error;
      const invite = async () => {
        await this.register(bot, options);
        await post("invite", { user_id: userId }, bot);
      };
      await invite().catch(() => {
        throw error; // that it can't join says more
      });
      await post("join", {}, userId);
    }
  }
}

/** The options that fit a request which is made before: it is the application service's own. */
function own(options: RequestOptions): RequestOptions {
  const { asUserId: _, asDeviceId: __, ...rest } = requestOptions(options);
  return rest;
}

/** Does something once, and again if it fails. */
async function once<Key>(known: RecentMap<Key, Promise<void>>, key: Key, work: () => Promise<void>) {
  const before = known.get(key);
  if (before !== undefined) return await before;
  const done = work();
  known.set(key, done);
  await done.catch((error) => {
    if (known.get(key) === done) known.remove(key);
    throw error;
  });
}

/**
 * Whether what the own user was given holds for all others; one that is missing here does not
 * compile. The others have secrets of their own, or none, and only send: nobody verifies with
 * them, and they read and keep nothing.
 */
const HOLDS: Readonly<Record<keyof EncryptionOptions, boolean>> = {
  ...{ sendTo: true, accept: true, unencrypted: true, onNewRecipient: true },
  ...{ answerKeyRequests: true, shareHistory: true },
  ...{ recoveryKey: false, passphrase: false, onRecoveryKey: false, password: false, authentication: false },
  ...{ backup: false, dehydratedDevice: false, verification: false },
};

/**
 * Returns the options by which a user encrypts: as the own user, with an identity of its own where that one
 * has a recovery key. Keys of rooms are not backed up: nobody reads with the device.
 */
export function ghostEncryption(
  encryption: ClientOptions["encryption"],
  userId: UserID,
): ClientOptions["encryption"] {
  if (typeof encryption !== "object") return encryption;
  const entries = Object.entries(encryption).filter(([name]) => HOLDS[name as keyof EncryptionOptions]);
  const common: EncryptionOptions = Object.fromEntries(entries);
  const { recoveryKey: key } = encryption;
  if (key === undefined) return common;
  return { ...common, recoveryKey: derivedRecoveryKey(key, `appservice ${userId}`), backup: false };
}
