/**
 * The parts of the engine, and what it is made with.
 *
 * @module
 */

import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import type { OwnKeys } from "../account/mod.ts";
import { BackupRequests, BackupRestore, KeyBackup } from "../backup/mod.ts";
import { DueSessions, InboundSessions, UndecryptableEvents } from "../megolm/mod.ts";
import { Dehydration } from "../dehydration/mod.ts";
import { DeviceLists, DeviceOwners } from "../devices/mod.ts";
import { HistoryIntake, HistoryOffers } from "../history/mod.ts";
import { DueSignatures, IdentitySigning, OwnIdentity } from "../identity/mod.ts";
import { OlmChannels } from "../olm/mod.ts";
import type { Transaction, Vault } from "../records/mod.ts";
import { KeyRequests } from "../key_requests/mod.ts";
import { SecretAnswers, SecretRequests } from "../secret_requests/mod.ts";
import { Outbox } from "../requests/mod.ts";
import { EncryptedRooms, OutboundSessions, RoomFreshness } from "../sharing/mod.ts";
import { Verifications } from "../verification/mod.ts";
import type { CryptoContext, CryptoPolicy, EngineAccount } from "../context/context.ts";
import { Pruner } from "./pruner.ts";

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

export type RunStep = <Result>(
  work: (tx: Transaction, parts: EngineParts) => Promise<Result>,
) => Promise<Result>;

export interface EngineParts {
  /** What they share. */
  readonly context: CryptoContext;
  /** The own account: identity, one-time and fallback keys. */
  readonly ownKeys: OwnKeys;
  /** The private keys of the own identity. */
  readonly ownIdentity: OwnIdentity;
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
  /** Checks that members and devices are up to date before something is encrypted. */
  readonly freshness: RoomFreshness;
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
  const ownIdentity = new OwnIdentity({ context, account: ownKeys.account, devices });
  const { account } = ownKeys;
  const signatures = new DueSignatures(context);
  const signing = new IdentitySigning({ context, account, devices, ownIdentity, signatures });
  const rooms = new EncryptedRooms(context);
  const olm = new OlmChannels({ context, ownKeys, devices, outbox });
  const due = new DueSessions(context.uniqueId);
  const inbound = new InboundSessions({ context, devices, owners: new DeviceOwners(devices), due });
  const outbound = new OutboundSessions({ context, rooms, devices, olm, outbox, inbound });
  const undecryptable = new UndecryptableEvents({ context, inbound });
  const keyRequests = new KeyRequests({ context, devices, olm, outbox, inbound, outbound });
  const backup = new KeyBackup({ context, ownKeys, ownIdentity, devices, due });
  const secretRequests = new SecretRequests({ context, devices, ownIdentity, backup, outbox });
  const secretAnswers = new SecretAnswers({ context, devices, olm, outbox, ownIdentity, backup });
  const pruner = new Pruner({ context, devices, olm, outbound, undecryptable });
  const verifications = new Verifications({ context, devices, signing, outbox });
  const history = new HistoryIntake({ context, devices, inbound, keyRequests, undecryptable });
  const historyOffers = new HistoryOffers({ context, devices, olm, outbox });
  const loaded = [
    history,
    outbox,
    devices,
    ownIdentity,
    signatures,
    rooms,
    olm,
    inbound,
    outbound,
    undecryptable,
    keyRequests,
    backup,
    verifications,
    secretRequests,
    secretAnswers,
  ];
  for (const part of loaded) await part.load(tx);
  devices.track(tx, [context.own.userId]);
  devices.outdate([context.own.userId]); // it may have changed while no process was running
  const freshness = new RoomFreshness({ context, rooms, devices, outbound, outbox });
  const backupRestore = new BackupRestore({ context, backup, inbound, keyRequests, undecryptable });
  const dehydration = new Dehydration({ context, ownIdentity, devices, inbound, keyRequests, undecryptable });
  const backupRequests = new BackupRequests({ context, backup, restore: backupRestore, due, inbound });
  return {
    freshness,
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
