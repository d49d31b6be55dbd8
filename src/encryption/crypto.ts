/**
 * End-to-end encryption, as a client has it in `client.crypto`.
 *
 * Over 300 lines because half of it is the documentation of what applications see.
 *
 * @module
 */

import type { ComparedDevice, CryptoDevice, LocalTrust } from "../crypto/devices/mod.ts";
import type { Decryption, RecoveredEvent } from "../crypto/megolm/mod.ts";
import type { OwnDeviceKeys, SentRoomEvent } from "../crypto/engine/engine.ts";
import type { ShareReport } from "../crypto/sharing/mod.ts";
import type { KeyFileData } from "../crypto/key_files/key_files.ts";
import type { RoomEncryptedContent } from "../types/content/encryption_content.ts";
import type { Membership } from "../types/enums.ts";
import type { MatrixEvent, MessageEvent } from "../types/events/event.ts";
import type { RoomID, TransactionID, UserID } from "../types/ids.ts";
import type { SyncCrypto } from "../actors/crypto/crypto.ts";
import type { CryptoDoctorOptions, CryptoFinding } from "./crypto_findings.ts";
import type { CryptoHints } from "./crypto_hints.ts";
import type { HistoryCrypto } from "./history.ts";
import type { IdentityCrypto } from "./identity/identity.ts";
import type { KeyBackup, KeyBackupMachine } from "./backup/backup.ts";
import type { VerificationCrypto } from "./verification/verification.ts";
import type { ExportKeysOptions, ImportKeysOptions, KeyImportReport } from "./key_files.ts";

/** Options of {@link Crypto.encrypt}. */
export interface EncryptOptions {
  /**
   * The transaction ID that the event will be sent with. Until {@link Crypto.sent}, encrypting it
   * again returns the same bytes, and a restart sends them. Default: none, and nothing is stored.
   */
  txnId?: TransactionID;
  /** Aborts the call. */
  signal?: AbortSignal;
}

/** End-to-end encryption of one device. A client makes its own with the option `encryption`. */
export interface Crypto extends IdentityCrypto, VerificationCrypto, HistoryCrypto, CryptoHints {
  /** The backup of room keys on the server. */
  readonly backup: KeyBackup;
  /**
   * Opens the engine, compares the device's keys with what the server has of it, and publishes them
   * if it has none. A server that can't be reached is asked again later; until it has answered,
   * nothing of the device is uploaded, or encrypted. A sync does so by itself, and waits for the
   * answer if the device's keys were not published from its store: it may be another's device, whose
   * messages would be taken.
   *
   * @throws {DeviceConflictError} If the server has other keys for the device.
   * @throws {EncryptionError} If the access token belongs to no device.
   * @throws {MatrixError} If the keys were not published from this store, and the server did not
   *   say what it has of the device.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function publishKeys(client: Client): Promise<void> {
   *   await client.crypto?.start(); // without a sync
   * }
   * ```
   */
  start(): Promise<void>;
  /**
   * Looks whether all is well: whether the device's keys are published and signed, the own identity
   * is proven, its private keys are at hand, the secret storage opens, the backup of room keys is on,
   * others find one-time keys, the clock is right, and the store is this process's. Changes nothing.
   *
   * @param options What opens the secret storage, and request options.
   * @returns A finding for each, with a code, a level, a sentence and what to do. It never rejects
   *   because of what it finds, and holds no secret.
   * @throws {EncryptionError} If the access token belongs to no device.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * for (const { level, message, mend } of await bot.crypto?.doctor() ?? []) {
   *   if (level !== "ok") console.warn(`${message} ${mend}`);
   * }
   * ```
   */
  doctor(options?: CryptoDoctorOptions): Promise<CryptoFinding[]>;
  /**
   * Returns whether an event came with a sync and could not be decrypted: it comes again once it can be.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function logEncrypted(client: Client): void {
   *   client.on("m.room.encrypted", (event) => {
   *     if (client.crypto?.isWaiting(event)) console.log(`${event.event_id} comes again once its key is there`);
   *   });
   * }
   * ```
   */
  isWaiting(event: MatrixEvent): boolean;
  /**
   * Returns whether an event that could not be decrypted when it came can be by now, and has come again: of
   * the latest thousand of this process.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export function logLate(client: Client): void {
   *   client.on("m.room.message", (event) => {
   *     if (client.crypto?.wasRecovered(event)) console.log(`${event.event_id} could not be read before`);
   *   });
   * }
   * ```
   */
  wasRecovered(event: Pick<MessageEvent, "event_id">): boolean;
  /**
   * Decrypts an event that did not come with a sync: one of the room's history, for example.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { MessageEvent } from "@greenroom/matrix/types";
   *
   * export async function read(client: Client, event: MessageEvent): Promise<string> {
   *   const decryption = await client.crypto?.decrypt(event);
   *   if (decryption === undefined) return "This client has no encryption";
   *   return "event" in decryption ? JSON.stringify(decryption.event.content) : decryption.reason;
   * }
   * ```
   */
  decrypt(event: MessageEvent): Promise<Decryption>;
  /**
   * Encrypts an event, creating and sharing a group session first if need be.
   *
   * @param roomId The room.
   * @param eventType The type of the event.
   * @param content Its content.
   * @param options The transaction ID, and a signal.
   * @returns The content of the `m.room.encrypted` event.
   * @throws {EncryptionError} If it can't be done; nothing was sent to the room.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function encryptText(client: Client, roomId: RoomID, body: string) {
   *   return await client.crypto?.encrypt(roomId, "m.room.message", { msgtype: "m.text", body });
   * }
   * ```
   */
  encrypt(
    roomId: RoomID,
    eventType: string,
    content: object,
    options?: EncryptOptions,
  ): Promise<RoomEncryptedContent>;
  /**
   * Notes that an event that was encrypted with a transaction ID has been sent, or never will be.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function sendOnce(client: Client, roomId: RoomID, txnId: string): Promise<void> {
   *   const text = { msgtype: "m.text", body: "Curtain!" };
   *   const content = await client.crypto?.encrypt(roomId, "m.room.message", text, { txnId });
   *   if (content === undefined) return;
   *   await client.sendMessageEvent(roomId, "m.room.encrypted", content, { txnId });
   *   await client.crypto?.sent({ roomId, txnId, hasArrived: true });
   * }
   * ```
   */
  sent(event: SentRoomEvent): Promise<void>;
  /**
   * Creates a group session for a room, if need be, and shares it with its members' devices.
   *
   * @param roomId The room.
   * @returns The devices that have the key, and those that do not get it.
   * @throws {EncryptionError} If it can't be done.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function withheld(client: Client, roomId: RoomID): Promise<void> {
   *   const report = await client.crypto?.shareGroupSession(roomId);
   *   for (const { device, code } of report?.withheld ?? []) console.log(`${device.deviceId}: ${code}`);
   * }
   * ```
   */
  shareGroupSession(roomId: RoomID): Promise<ShareReport>;
  /**
   * Discards a room's group session: the next event begins a new one.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function newSession(client: Client, roomId: RoomID): Promise<void> {
   *   await client.crypto?.discardGroupSession(roomId);
   * }
   * ```
   */
  discardGroupSession(roomId: RoomID): Promise<void>;
  /**
   * The own device's public keys.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function fingerprint(client: Client): Promise<string | undefined> {
   *   return (await client.crypto?.getOwnDeviceKeys())?.ed25519;
   * }
   * ```
   */
  getOwnDeviceKeys(): Promise<OwnDeviceKeys>;
  /**
   * A user's devices. They are looked up unless that was done in the last ten seconds: a sync does not
   * show the changes of users who share no room.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { DeviceID, UserID } from "@greenroom/matrix/types";
   *
   * export async function unsigned(client: Client, userId: UserID): Promise<DeviceID[]> {
   *   const devices = await client.crypto?.getDevices(userId) ?? [];
   *   return devices.filter(({ trust }) => trust === "unsigned").map(({ deviceId }) => deviceId);
   * }
   * ```
   */
  getDevices(userId: UserID): Promise<CryptoDevice[]>;
  /**
   * Sets whether a device is verified or blacklisted. A blacklisted device gets no keys from now
   * on. The trust lasts until it is set again, also while the server does not show the device. A
   * device that is not known is looked up.
   *
   * @param device The device whose Ed25519 key was compared: one of {@link Crypto.getDevices}, or
   *   its name with the key.
   * @param trust The trust; undefined removes it.
   * @throws {ValueError} If no such device is known, if it has another key, or if it is the own
   *   one.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * for (const device of await bot.crypto?.getDevices("@alice:localhost") ?? []) {
   *   if (confirm(`Does Alice's ${device.deviceId} show ${device.ed25519}?`)) {
   *     await bot.crypto?.setDeviceTrust(device, "verified");
   *   }
   * }
   * ```
   */
  setDeviceTrust(device: ComparedDevice, trust: LocalTrust | undefined): Promise<void>;
  /**
   * Exports the keys of sessions as a file that Element and other clients import: what this device
   * can read, who has the file and the passphrase can read.
   *
   * Memory is bounded, however many there are. A session that comes while the stream is read may be
   * in it or not. Read it to its end or cancel it.
   *
   * @param options The passphrase, and which keys.
   * @returns The file: text in ASCII. It fails if the engine can't be opened.
   * @throws {ValueError} If the passphrase is empty, or `rounds` out of range.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * const file = bot.crypto?.exportKeys({ passphrase: "correct horse battery staple" });
   * const text = await new Response(file).text(); // or Deno.writeFile("keys.txt", file)
   * console.assert(text.startsWith("-----BEGIN MEGOLM SESSION DATA-----"));
   * ```
   */
  exportKeys(options: ExportKeysOptions): ReadableStream<Uint8Array<ArrayBuffer>>;
  /**
   * Imports the keys of a file that Element or another client has exported. Events that waited for
   * one of them are delivered.
   *
   * A file can't prove whose keys are in it: events are of an `unknown-device`, with the `keySource`
   * `export`, until the device itself sends the key. Of two keys of a session the one that reads
   * more is kept, if they belong together; nothing in a file replaces what a device has sent.
   *
   * All of the file is authenticated before any of it is used, so it is held in memory, encrypted:
   * up to 256 MiB behind its base64, some 300,000 sessions. Keys are imported in steps; those
   * before a crash or an abort stay, and to import the file again is free.
   *
   * @param file The file: its text, or a stream of it, which is used up.
   * @param options The passphrase it was encrypted with.
   * @returns What has become of the sessions.
   * @throws {KeyFileError} If it can't be read (`problem` says why): `format`, `passphrase`,
   *   `size`. Nothing is imported then, unless the content breaks off although it is authentic.
   * @throws {ValueError} If the passphrase is empty.
   * @throws The reason of the signal, if that aborts.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { KeyFileError } from "@greenroom/matrix/errors";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * const file = "-----BEGIN MEGOLM SESSION DATA-----\n…"; // or (await Deno.open("keys.txt")).readable
   * try {
   *   const report = await bot.crypto?.importKeys(file, { passphrase: "correct horse battery staple" });
   *   console.log(`${report?.added} sessions more can be read`);
   * } catch (error) {
   *   if (!(error instanceof KeyFileError)) throw error;
   *   console.log(error.problem); // "passphrase": ask for it again
   * }
   * ```
   */
  importKeys(file: KeyFileData, options: ImportKeysOptions): Promise<KeyImportReport>;
  /**
   * Resolves when no request to the server is under way any more, nor a step of a verification.
   *
   * @throws {DeviceConflictError} If the server has other keys for the device.
   *
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function shareAndWait(client: Client, roomId: RoomID): Promise<void> {
   *   await client.crypto?.shareGroupSession(roomId);
   *   await client.crypto?.idle();
   * }
   * ```
   */
  idle(): Promise<void>;
}

/** Encryption as a client uses it: what applications call, and what its sync and its sends call. */
export interface CryptoMachine extends Crypto, SyncCrypto {
  /** The same as {@link Crypto.backup}, and what encryption asks of it. */
  readonly backup: KeyBackupMachine;
  /** The same as {@link Crypto.start}, for a client that begins to sync. */
  start: SyncCrypto["start"];
  /**
   * Whether syncs show what happens in rooms: they follow one another and one came in the last two
   * minutes, or one came in the last ten seconds. If not, the server is asked who is in a room, and
   * with which devices, before something is encrypted for it, unless it was asked in the last ten
   * seconds.
   */
  readonly isFollowing: boolean;
  /**
   * Returns whether it is known here that a room is encrypted, whatever the store says of the room, or the
   * server.
   */
  isRoomEncrypted(roomId: RoomID): Promise<boolean>;
  /**
   * Notes a user's membership of a room that this client has just changed; the sync will show it
   * too.
   */
  memberChanged(roomId: RoomID, userId: UserID, membership: Membership): Promise<void>;
  /**
   * Shares the history of a room with a user who is about to be invited, if that is wanted. Never rejects.
   */
  inviting(roomId: RoomID, userId: UserID): Promise<void>;
  /** Discards events that waited for their keys and have been handled. */
  settle(events: readonly RecoveredEvent[]): Promise<void>;
}
