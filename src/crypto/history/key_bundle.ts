/**
 * History that is shared: the file with its keys, and how devices are told where it is.
 *
 * @module
 */

import type { EncryptedFile } from "../../types/content/file_info.ts";
import { EncryptionAlgorithm } from "../../types/enums.ts";
import { isReceivedRoomId, parseContentUri } from "../../types/identifiers.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { readSecrets, writeSecrets } from "../attachments/attachments.ts";
import {
  type ExportedSession,
  type ImportedRoomKey,
  readSessionJson,
  readSharedReason,
  type SharedReason,
} from "../megolm/mod.ts";
import { type CryptoDevice, type DeviceLists, isVouchedFor } from "../devices/mod.ts";
import { type CryptoContext, newTxn } from "../context/context.ts";
import { BUNDLE_TYPES, type OlmChannels } from "../olm/olm.ts";
import type { Transaction } from "../records/mod.ts";
import type { Outbox } from "../requests/requests.ts";

/** How many sessions a bundle has, and how many are taken out of one: 30 MB of JSON. */
export const MAX_BUNDLED = 50_000;

/** How many reasons for missing sessions are taken out of one. */
const MAX_WITHHELD = 500;

/** What is in the file. */
export interface KeyBundle {
  /** The keys that may be shared. */
  readonly room_keys: readonly JsonObject[];
  /** The sessions whose keys may not. */
  readonly withheld: readonly JsonObject[];
}

/**
 * Returns whether a session goes into a bundle, by which its user vouches for whose it is. What only a
 * backup says can be the server's word: that does for what this user reads, and not to tell another.
 */
export function isBundled({ content, senderEd25519, source }: ExportedSession): boolean {
  return content.sender_key !== "" && senderEd25519 !== "" && source !== "backup";
}

/** Puts sessions of a room into a bundle: with their keys only those whose makers allow it. */
export function bundleOf(sessions: readonly ExportedSession[]): KeyBundle {
  const usable = sessions.filter(isBundled);
  const withheld = usable.filter(({ sharedHistory }) => !sharedHistory).map(({ content }) => ({
    algorithm: EncryptionAlgorithm.MEGOLM_V1,
    room_id: content.room_id,
    session_id: content.session_id,
    sender_key: content.sender_key,
    code: "m.history_not_shared",
    reason: "Who sent the messages has not allowed them to be shared",
  }));
  const room_keys = usable.filter(({ sharedHistory }) => sharedHistory).map((session) => ({
    ...session.content,
    sender_claimed_keys: { ed25519: session.senderEd25519 },
  }));
  return { room_keys, withheld };
}

/**
 * Takes the keys of a room out of a bundle, which may be anything.
 *
 * @param sharedBy Who has sent it, and alone vouches for whose keys they are.
 */
export function keysIn(
  bundle: JsonObject,
  { roomId, sharedBy }: { readonly roomId: RoomID; readonly sharedBy: UserID },
): ImportedRoomKey[] {
  const entries: readonly unknown[] = Array.isArray(bundle.room_keys) ? bundle.room_keys : [];
  const keys: ImportedRoomKey[] = [];
  for (const entry of entries.slice(0, MAX_BUNDLED)) {
    if (!isJsonObject(entry) || entry.room_id !== roomId || typeof entry.session_id !== "string") continue;
    const said = readSessionJson(entry);
    if (said === undefined) continue;
    keys.push({
      ...said,
      roomId,
      sessionId: entry.session_id,
      sharedHistory: true,
      source: "bundle",
      sharedBy,
    });
  }
  return keys;
}

/** Takes out of a bundle, which may be anything, why sessions of a room are not in it. */
export function withheldIn(bundle: JsonObject, roomId: RoomID): SharedReason[] {
  const entries: readonly unknown[] = Array.isArray(bundle.withheld) ? bundle.withheld : [];
  const reasons = entries.slice(0, MAX_WITHHELD).map((entry) => readSharedReason(entry, roomId));
  return reasons.filter((reason) => reason !== undefined);
}

/** Where a bundle is, and for which room. */
export interface BundlePlace {
  readonly roomId: RoomID;
  readonly file: EncryptedFile;
}

/** Reads the message that says where a bundle is; undefined if it is none. */
export function readBundlePlace({ room_id: roomId, file }: JsonObject): BundlePlace | undefined {
  if (!isReceivedRoomId(roomId) || !isJsonObject(file)) return undefined;
  const { url } = file;
  if (typeof url !== "string") return undefined;
  try {
    const secrets = writeSecrets(readSecrets(file)); // whatever else is in it is not kept
    const { serverName, mediaId } = parseContentUri(url);
    return { roomId, file: { ...secrets, url: `mxc://${serverName}/${mediaId}` } };
  } catch {
    return undefined;
  }
}

/** A request for a file of room keys. */
export interface BundleRequest {
  /** Its unique ID. */
  readonly id: string;
  /** A file is downloaded, and decrypted. */
  readonly kind: "historyBundle";
  readonly file: EncryptedFile;
}

/** Who would get the keys. */
export interface HistoryRecipients {
  /** Whether the own identity is verified: others take nothing from who has none. */
  readonly isVerified: boolean;
  /** How many devices of the user may get them. */
  readonly devices: number;
  /** How many of those can't be written to before their one-time keys have come. */
  readonly waiting: number;
}

/** What is to be told to whom. */
export interface HistoryOffer extends BundlePlace {
  readonly userId: UserID;
}

/** Tells where room keys are. */
export class HistoryOffers {
  readonly #options;

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** The devices of users. */
    readonly devices: Pick<DeviceLists, "devicesOf" | "identityOf">;
    /** Encrypts for devices. */
    readonly olm: OlmChannels;
    /** Sends messages. */
    readonly outbox: Pick<Outbox, "add">;
  }) {
    this.#options = options;
  }

  /**
   * Looks who would get a room's keys, and has one-time keys claimed for them at once:
   * who asks again has waited.
   */
  async recipients(tx: Transaction, userId: UserID): Promise<HistoryRecipients> {
    const { context: { own }, devices, olm } = this.#options;
    const identity = await devices.identityOf(tx, own.userId);
    const all = await this.#devicesOf(tx, userId);
    const waiting = await olm.sessions.withoutSession(tx, all);
    if (waiting.length > 0) {
      await olm.claims.want(tx, waiting);
      olm.claims.endWait(waiting);
    }
    return { isVerified: identity?.isVerified === true, devices: all.length, waiting: waiting.length };
  }

  /** Tells a user's devices where the keys are; returns to how many. */
  async offer(tx: Transaction, { userId, roomId, file }: HistoryOffer): Promise<number> {
    const { context, olm, outbox } = this.#options;
    const contents: Record<string, JsonObject> = {};
    for (const device of await this.#devicesOf(tx, userId)) {
      const content = await olm.encrypt(tx, device, BUNDLE_TYPES[0], { room_id: roomId, file });
      if (content !== undefined) contents[device.deviceId] = content;
    }
    const count = Object.keys(contents).length;
    const message = {
      kind: "toDevice",
      eventType: "m.room.encrypted",
      messages: { [userId]: contents },
    } as const;
    if (count > 0) outbox.add(tx, message, newTxn(context));
    return count;
  }

  async #devicesOf(tx: Transaction, userId: UserID): Promise<CryptoDevice[]> {
    const { context: { policy }, devices } = this.#options;
    const found = (await devices.devicesOf(tx, [userId])).get(userId) ?? [];
    return found.filter((device) =>
      !device.isDehydrated && isVouchedFor(device) &&
      (policy.sendTo !== "verified" || device.trust === "verified")
    );
  }
}
