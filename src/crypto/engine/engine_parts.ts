/**
 * The parts of the engine, what it is made with, and what goes in and comes out: plain data; and the pruning
 * of records that need not be kept any more, in small steps.
 *
 * Used group sessions of other devices are kept forever, so that history can be read, and with them the log
 * that refuses replays. Nothing that is pruned would make a message count twice, or be lost.
 *
 * Over 300 lines because it makes all parts, and the one that prunes them.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { DeviceKeys, KeysUploadRequest } from "../../types/api/device_keys.ts";
import type { RoomEncryptedContent } from "../../types/content/encryption_content.ts";
import type { Membership } from "../../types/enums.ts";
import type { MessageEvent, ToDeviceEvent } from "../../types/events/event.ts";
import type { RoomID, SyncToken, TransactionID, UserID } from "../../types/ids.ts";
import type { OwnKeys } from "../account/account.ts";
import { type BackupRequest, BackupRequests, BackupRestore, KeyBackup } from "../backup/backup.ts";
import type { CryptoContext, CryptoPolicy, EngineAccount } from "../context/context.ts";
import { Dehydration } from "../dehydration/dehydration.ts";
import { DeviceLists, DeviceOwners } from "../devices/mod.ts";
import { type BundleRequest, HistoryIntake, HistoryOffers } from "../history/history.ts";
import {
  DueSignatures,
  IdentitySigning,
  OwnIdentity as OwnIdentityKeys,
  type SignaturesUpload,
} from "../identity/identity.ts";
import { KeyRequests } from "../key_requests/key_requests.ts";
import {
  DueSessions,
  InboundSessions,
  type JudgedEvent,
  type RecoveredEvent,
  type ToDeviceMessage,
  UndecryptableEvents,
} from "../megolm/mod.ts";
import { type KeyClaim, OlmChannels } from "../olm/olm.ts";
import {
  duePruning,
  GONE_PEER_DAYS,
  LEFT_PEER_DAYS,
  pruningDone,
  RECORDS_A_STEP,
  type ScheduledPruning,
  schedulePruning,
  type Transaction,
  type Vault,
} from "../records/mod.ts";
import { type DeviceMessages, Outbox } from "../requests/requests.ts";
import { SecretAnswers, SecretRequests } from "../secret_requests/secret_requests.ts";
import { EncryptedRooms, OutboundSessions, type RoomStateInput } from "../sharing/mod.ts";
import { Verifications } from "../verification/verification.ts";

export interface EngineOptions {
  /** Whose it is. */
  readonly account: EngineAccount;
  /** Stores its records. */
  readonly vault: Vault;
  /** The wall clock. */
  readonly clock: Clock;
  /** Where it logs. */
  readonly log: Logger;
  /** Whom it encrypts for, and what it accepts. */
  readonly policy: CryptoPolicy;
}

export interface EngineParts {
  /** What they share. */
  readonly context: CryptoContext;
  /** The own account: identity, one-time and fallback keys. */
  readonly ownKeys: OwnKeys;
  /** The private keys of the own identity. */
  readonly ownIdentity: OwnIdentityKeys;
  /** What the own identity signs. */
  readonly signing: IdentitySigning;
  /** Signatures that the server does not have yet. */
  readonly signatures: DueSignatures;
  /** Others' devices. */
  readonly devices: DeviceLists;
  /** Olm: from device to device. */
  readonly olm: OlmChannels;
  /** Messages and events that have not arrived. */
  readonly outbox: Outbox;
  readonly rooms: EncryptedRooms;
  /** Megolm sessions of other devices, and copies of the own. */
  readonly inbound: InboundSessions;
  /** The own Megolm sessions. */
  readonly outbound: OutboundSessions;
  /** Undecryptable events that wait for their key. */
  readonly undecryptable: UndecryptableEvents;
  readonly keyRequests: KeyRequests;
  /** Secrets that other own devices are asked for. */
  readonly secretRequests: SecretRequests;
  /** Secrets that they ask for. */
  readonly secretAnswers: SecretAnswers;
  /** The backup of room keys. */
  readonly backup: KeyBackup;
  /** Room keys on their way out of it. */
  readonly backupRestore: BackupRestore;
  /** Requests about it. */
  readonly backupRequests: BackupRequests;
  /** Devices that receive keys while none is there. */
  readonly dehydration: Dehydration;
  /** History that inviters share. */
  readonly history: HistoryIntake;
  /** History that is shared with who is invited. */
  readonly historyOffers: HistoryOffers;
  /** Verifications of devices and users. */
  readonly verifications: Verifications;
  /** Removes what need not be kept any more. */
  readonly pruner: Pruner;
}

/** Makes the parts, and loads what must be in memory. */
export async function engineParts(
  tx: Transaction,
  context: CryptoContext,
  ownKeys: OwnKeys,
): Promise<EngineParts> {
  const outbox = new Outbox();
  const devices = new DeviceLists(context);
  const ownIdentity = new OwnIdentityKeys({ context, account: ownKeys.account, devices });
  const { account } = ownKeys;
  const signatures = new DueSignatures(context);
  const signing = new IdentitySigning({ context, account, devices, ownIdentity, signatures });
  const rooms = new EncryptedRooms(context);
  const olm = new OlmChannels({ context, ownKeys, devices, outbox });
  const due = new DueSessions(context.uniqueId);
  const inbound = new InboundSessions(context, devices, new DeviceOwners(devices.changes), due);
  const outbound = new OutboundSessions({ context, rooms, devices, olm, outbox, inbound });
  const undecryptable = new UndecryptableEvents(context, inbound.decryption);
  const keyRequests = new KeyRequests({ context, devices, olm, outbox, inbound, outbound });
  const backup = new KeyBackup({ context, ownKeys, ownIdentity, devices, due });
  const secretRequests = new SecretRequests({ context, devices, ownIdentity, backup, outbox });
  const secretAnswers = new SecretAnswers({ context, devices, olm, outbox, ownIdentity, backup });
  const pruner = new Pruner({ context, devices, olm, outbound, undecryptable });
  const verifications = new Verifications({ context, devices, signing, outbox });
  const history = new HistoryIntake({ context, devices, inbound, keyRequests, undecryptable });
  const historyOffers = new HistoryOffers({ context, devices, olm, outbox });
  // Side by side: in a store behind a network, each read takes a round trip.
  await Promise.all([
    history.load(tx),
    outbox.load(tx),
    devices.load(tx),
    ownIdentity.load(tx),
    signatures.load(tx),
    rooms.load(tx),
    olm.load(tx),
    inbound.load(tx),
    undecryptable.load(tx),
    keyRequests.load(tx),
    backup.load(tx),
    secretRequests.load(tx),
    secretAnswers.load(tx),
  ]);
  await verifications.load(tx, outbound.load(tx)); // which goes by rooms, and by the outbox
  devices.tracked.track(tx, [context.own.userId]);
  devices.outdate([context.own.userId]); // it may have changed while no process was running
  const backupRestore = new BackupRestore({ context, backup, inbound, keyRequests, undecryptable });
  const dehydration = new Dehydration({ context, ownIdentity, devices, inbound, keyRequests, undecryptable });
  const backupRequests = new BackupRequests({ context, backup, restore: backupRestore, due, inbound });
  return {
    backup,
    backupRestore,
    backupRequests,
    dehydration,
    history,
    historyOffers,
    context,
    ownKeys,
    ownIdentity,
    signing,
    signatures,
    devices,
    olm,
    outbox,
    rooms,
    inbound,
    outbound,
    undecryptable,
    keyRequests,
    verifications,
    secretRequests,
    secretAnswers,
    pruner,
  };
}

/** The parts of a sync response that concern encryption. */
export interface CryptoInput {
  /** The token that the response ends with. */
  readonly nextBatch: SyncToken;
  /** Whether the request had no token: what is known of others' devices may be out of date. */
  readonly initial: boolean;
  /** All messages to this device, in order. */
  readonly toDevice: readonly ToDeviceEvent[];
  /** Users whose devices have to be looked up again. */
  readonly deviceLists: { readonly changed: readonly UserID[]; readonly left: readonly UserID[] };
  /**
   * How many one-time keys the server has left, by algorithm; one that is missing has none. Undefined: the
   * response says how many there were when it came first.
   */
  readonly oneTimeKeyCounts: Readonly<Record<string, number>> | undefined;
  /** Algorithms whose fallback key is unused; undefined if the server has no fallback keys. */
  readonly unusedFallbackTypes: readonly string[] | undefined;
  /** State that changes, by room, in order: members come and go, rooms become encrypted. */
  readonly state: readonly RoomStateInput[];
  /** Encrypted events of timelines, in order. */
  readonly encrypted: readonly MessageEvent[];
  /** Events of verifications that came in clear through rooms, in order. Default: none. */
  readonly verifying?: readonly MessageEvent[];
  /** Whether earlier responses are handled: then events that come again are not handled again. */
  readonly handledBefore: boolean;
  /** Whether nobody handles its events: those that can't be read are not kept for later. Default: no. */
  readonly isIgnored?: boolean;
}

/** What the engine returns for a sync response. */
export interface CryptoOutput {
  /** The messages to this device that are left for handlers, decrypted. */
  readonly toDevice: readonly ToDeviceMessage[];
  /** For each of {@link CryptoInput.encrypted}, in the same order, what became of it. */
  readonly decrypted: readonly JudgedEvent[];
  /** Indices of {@link CryptoInput.encrypted} that are being handled, or have been. */
  readonly underway: readonly number[];
  /** Earlier events that can be decrypted now, in the order in which they came. */
  readonly recovered: readonly RecoveredEvent[];
  /** The response's rooms that were known to be encrypted before it. */
  readonly encryptedRooms: ReadonlySet<RoomID>;
}

/** The same, from the engine. */
export interface EngineOutput extends CryptoOutput {
  /** Whether there may be requests to make; if not, it takes another step to change that. */
  readonly mayRequest: boolean;
}

/** A request to the server that the engine asks for. */
export type EngineRequest =
  | BackupRequest
  | BundleRequest
  | {
    /** Its unique ID. */
    readonly id: string;
    readonly kind: "keysUpload";
    readonly body: KeysUploadRequest;
  }
  | { readonly id: string; readonly kind: "keysQuery"; readonly users: readonly UserID[] }
  | { readonly id: string; readonly kind: "signaturesUpload"; readonly signatures: SignaturesUpload }
  | { readonly kind: "keysClaim" } & KeyClaim
  | {
    readonly id: string;
    readonly kind: "toDevice";
    readonly eventType: string;
    readonly txnId: TransactionID;
    readonly messages: DeviceMessages;
    /** The group session that it is about, if it is about one. */
    readonly sessionId?: string;
  }
  | {
    /** An event that an earlier process did not send. */
    readonly id: string;
    readonly kind: "roomEvent";
    readonly roomId: RoomID;
    readonly txnId: TransactionID;
    readonly content: RoomEncryptedContent;
    /** When it was encrypted, in milliseconds since the epoch. */
    readonly createdAt: number;
  };

/** A membership that this client has just changed. */
export interface MemberChange {
  readonly roomId: RoomID;
  readonly userId: UserID;
  readonly membership: Membership;
}

/** An encrypted event that need not be sent any more. */
export interface SentRoomEvent {
  /** Where it was sent. */
  readonly roomId: RoomID;
  /** The transaction ID that it was encrypted for. */
  readonly txnId: TransactionID;
  /** Whether it has arrived; if not, it never will. */
  readonly hasArrived: boolean;
}

/** The own device's public keys. */
export interface OwnDeviceKeys {
  /** The device's keys as they are published. */
  readonly deviceKeys: DeviceKeys;
  /** The Ed25519 key, by which users compare devices. */
  readonly ed25519: string;
  /** The Curve25519 key. */
  readonly curve25519: string;
}

/** Returns the own device's public keys, with the signatures that they have now. */
export function ownKeysOf({ own, account: { deviceKeys } }: OwnKeys): OwnDeviceKeys {
  return { deviceKeys, curve25519: own.curve25519, ed25519: own.ed25519 };
}

/** What a call of `prune` has done. */
export interface PruneReport {
  /** Whether nothing is left to do for today; else call it again. */
  readonly done: boolean;
  /** How many records were removed, by their kind. */
  readonly removed: Readonly<Record<string, number>>;
}

type PrunedParts = Pick<EngineParts, "context" | "devices" | "olm" | "outbound" | "undecryptable">;

/** A task of pruning; whether it has more to do. */
type PruneTask = (tx: Transaction) => Promise<"done" | "more">;

/** How many tasks a step runs, which may all find nothing. */
const TASKS_A_STEP = 200;

/**
 * Prunes in steps; the client's housekeeping says when. Its progress is in memory only: the next
 * process begins again, and finds less to do.
 */
export class Pruner {
  readonly #parts: PrunedParts;
  /** The tasks that are left, the next one last; undefined: none was begun. */
  #tasks: PruneTask[] | undefined;

  /** @param parts The parts that it prunes. */
  constructor(parts: PrunedParts) {
    this.#parts = parts;
  }

  /** Does a part of it; the first call after one that was done starts again. */
  async step(tx: Transaction): Promise<PruneReport> {
    const tasks = [...this.#tasks ?? this.#begin()];
    let done = false;
    for (let count = 0; count < TASKS_A_STEP && tx.changes < RECORDS_A_STEP; count++) {
      const task = tasks.at(-1);
      if (task === undefined && tx.changes > 0) break; // the changes of this step would not show
      done = task === undefined && !await this.#addDue(tx, tasks);
      if (done) break;
      if (task !== undefined && await task(tx) === "done") tasks.pop();
    }
    tx.onCommit(() => this.#tasks = done ? undefined : tasks);
    return { done, removed: tx.removals };
  }

  #begin(): PruneTask[] {
    const { olm: { housekeeping }, outbound, undecryptable } = this.#parts;
    return [
      ...outbound.sessionRooms().map((roomId: RoomID): PruneTask => (tx) => outbound.pruneRoom(tx, roomId)),
      ...housekeeping.wanted().map((device) => one((tx) => housekeeping.pruneWanted(tx, device))),
      ...housekeeping.unknownDevices().map((unknown) =>
        one((tx) => housekeeping.pruneUnknownDevice(tx, unknown))
      ),
      (tx) => Promise.resolve(undecryptable.forgetOld(tx, RECORDS_A_STEP)),
    ];
  }

  /** Adds tasks for the next users who are due; whether there are any. */
  async #addDue(tx: Transaction, tasks: PruneTask[]): Promise<boolean> {
    const due = await duePruning(tx, { now: this.#parts.context.clock.now(), limit: TASKS_A_STEP });
    for (const leftover of due) tasks.push((tx) => this.#pruneUser(tx, leftover));
    return due.length > 0;
  }

  async #pruneUser(tx: Transaction, leftover: ScheduledPruning): Promise<"done" | "more"> {
    const { devices, olm, context: { clock } } = this.#parts;
    const { userId } = leftover;
    const days = devices.tracked.isFollowed(userId) ? GONE_PEER_DAYS : LEFT_PEER_DAYS;
    await devices.pruneUser(tx, userId); // first: sessions with devices that go may go with them
    const outcome = await olm.housekeeping.pruneUser(tx, userId, days);
    if (outcome === "more") return "more";
    pruningDone(tx, leftover);
    if (outcome === "later") schedulePruning(tx, userId, { now: clock.now(), days: GONE_PEER_DAYS });
    return "done";
  }
}

function one(task: (tx: Transaction) => Promise<void> | void): PruneTask {
  return async (tx) => {
    await task(tx);
    return "done";
  };
}
