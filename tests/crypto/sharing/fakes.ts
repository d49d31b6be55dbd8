/**
 * Devices, Olm and copies of sessions that do as they are told: what sharing keys works with,
 * without its cryptography.
 */

import { ChangeLog, type Transaction } from "../../../src/crypto/records/mod.ts";
import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type {
  CryptoDevice,
  DeviceTrust,
  JsonObject,
  RoomID,
  UserID,
  UserIdentity,
} from "@greenroom/matrix/types";
import type { ExportedSession, InboundSessions } from "../../../src/crypto/megolm/mod.ts";
import type { DeviceLists } from "../../../src/crypto/devices/mod.ts";
import type { OlmClaims } from "../../../src/crypto/olm/olm.ts";
import type { OlmSessions } from "../../../src/crypto/olm/olm_sessions.ts";

const { megolm } = await Vodozemac.load();

/** A device that is made up. */
export function device(userId: UserID, deviceId: string, facts: Partial<CryptoDevice> = {}): CryptoDevice {
  const trust: DeviceTrust = "unsigned";
  const keys = { curve25519: `curve of ${deviceId}`, ed25519: `ed of ${deviceId}` };
  return { userId, deviceId, ...keys, algorithms: [], isDehydrated: false, trust, ...facts };
}

/** Devices as the engine knows them. Belongs to the server: it outlives the process. */
export class FakeDevices implements Pick<DeviceLists, "devicesOf" | "identityOf" | "isSpared"> {
  readonly #devices = new Map<UserID, CryptoDevice[]>();
  readonly dirty = new Set<UserID>();
  /** The master keys of the users with one. */
  readonly masters = new Map<UserID, string>();
  /** The users who were verified at any time. */
  readonly verified = new Set<UserID>();
  /** The users whose unsigned devices count as signed. */
  readonly spared = new Set<UserID>();
  readonly trackedUsers = new Set<UserID>();
  readonly tracked = {
    version: 0,
    track: (_tx: Transaction, users: Iterable<UserID>): void => {
      for (const userId of users) this.trackedUsers.add(userId);
    },
    isDirty: (users: Iterable<UserID>): boolean => [...users].some((userId) => this.dirty.has(userId)),
  };
  readonly changes = new ChangeLog<UserID>();
  /** Of how many users devices were read. */
  reads = 0;

  put(...devices: CryptoDevice[]): void {
    for (const added of devices) {
      const others = (this.#devices.get(added.userId) ?? []).filter((each) =>
        each.deviceId !== added.deviceId
      );
      this.#devices.set(added.userId, [...others, added]);
      this.changes.note(added.userId);
    }
  }

  remove(userId: UserID, deviceId: string): CryptoDevice | undefined {
    const devices = this.#devices.get(userId) ?? [];
    this.#devices.set(userId, devices.filter((each) => each.deviceId !== deviceId));
    this.changes.note(userId);
    return devices.find((each) => each.deviceId === deviceId);
  }

  of(userId: UserID): readonly CryptoDevice[] {
    return this.#devices.get(userId) ?? [];
  }

  markDirty(userId: UserID): void {
    this.dirty.add(userId);
    this.tracked.version++;
  }

  devicesOf(
    _tx: Transaction,
    users: readonly UserID[],
  ): Promise<ReadonlyMap<UserID, readonly CryptoDevice[]>> {
    this.reads += users.length;
    return Promise.resolve(new Map(users.map((userId) => [userId, this.of(userId)])));
  }

  identityOf(_tx: Transaction, userId: UserID): Promise<UserIdentity | undefined> {
    const master = this.masters.get(userId);
    const none = {
      wasReset: false,
      hasChanged: false,
      isVerified: false,
      wasVerified: this.verified.has(userId),
    };
    return Promise.resolve(master === undefined ? master : { userId, master, pinned: master, ...none });
  }

  isSpared(_tx: Transaction, { userId, trust }: Pick<CryptoDevice, "userId" | "trust">): Promise<boolean> {
    return Promise.resolve(trust === "unsigned" && this.spared.has(userId));
  }
}

/** Olm without encryption. */
export class FakeOlm implements Pick<OlmSessions, "prefetch" | "wedgingIndex" | "shouldTellNoOlm"> {
  /** The devices with a session, by their identity keys. */
  readonly open = new Set<string>();
  readonly wedgings = new Map<string, number>();
  readonly told = new Set<string>();
  readonly wanted = new Set<string>();
  /** Devices that have no keys left. */
  readonly exhausted = new Set<string>();
  readonly changes = new ChangeLog<UserID>();

  begin({ userId, curve25519 }: CryptoDevice): void {
    this.open.add(curve25519);
    this.told.delete(curve25519);
    this.changes.note(userId);
  }

  wedge(lost: CryptoDevice): void {
    this.wedgings.set(lost.curve25519, (this.wedgings.get(lost.curve25519) ?? 0) + 1);
    this.begin(lost);
  }

  prefetch(): Promise<void> {
    return Promise.resolve();
  }

  encrypt(
    _tx: Transaction,
    to: CryptoDevice,
    type: string,
    content: JsonObject,
  ): Promise<JsonObject | undefined> {
    const known = this.open.has(to.curve25519);
    return Promise.resolve(known ? { to: to.curve25519, type, content } : undefined);
  }

  withoutSession(_tx: Transaction, devices: readonly CryptoDevice[]): Promise<CryptoDevice[]> {
    return Promise.resolve(devices.filter(({ curve25519 }) => !this.open.has(curve25519)));
  }

  readonly claims: Pick<OlmClaims, "want" | "endWait" | "isPromising"> = {
    want: (_tx, devices) => {
      for (const { curve25519 } of devices as readonly CryptoDevice[]) this.wanted.add(curve25519);
      return Promise.resolve();
    },
    endWait: () => {},
    isPromising: (device) => !this.exhausted.has((device as CryptoDevice).curve25519),
  };

  /** The answer to a claim. */
  claim(): void {
    for (const curve25519 of this.wanted) {
      if (!this.exhausted.has(curve25519)) this.open.add(curve25519);
    }
    this.wanted.clear();
    this.changes.noteAll();
  }

  wedgingIndex(_tx: Transaction, { curve25519 }: CryptoDevice): Promise<number> {
    return Promise.resolve(this.wedgings.get(curve25519) ?? 0);
  }

  shouldTellNoOlm(_tx: Transaction, { curve25519 }: CryptoDevice): Promise<boolean> {
    return Promise.resolve(!this.told.has(curve25519));
  }

  /** What notes something about a session is here, too. */
  get sessions(): this {
    return this;
  }

  /** Notes that a device gets the notice that there is no session with it. */
  note(tx: Transaction, { curve25519 }: CryptoDevice): Promise<void> {
    tx.onCommit(() => this.told.add(curve25519));
    return Promise.resolve();
  }
}

/** Copies of sessions. */
export class FakeCopies implements Pick<InboundSessions, "addOwn" | "exportSession"> {
  readonly added: {
    readonly roomId: RoomID;
    readonly sessionKey: string;
    readonly sharedHistory: boolean;
  }[] = [];
  /** Whether they can't be read any more. */
  damaged = false;

  addOwn(tx: Transaction, copy: FakeCopies["added"][number]): Promise<void> {
    tx.onCommit(() => this.added.push(copy));
    return Promise.resolve();
  }

  exportSession(
    _tx: Transaction,
    { roomId, sessionId }: { roomId: RoomID; sessionId: string },
    index: number,
  ): Promise<ExportedSession | undefined> {
    for (const { sessionKey, sharedHistory } of this.damaged ? [] : this.added) {
      using session = megolm.createInbound(sessionKey);
      if (session.sessionId !== sessionId) continue;
      const ids = { algorithm: "m.megolm.v1.aes-sha2", room_id: roomId, session_id: sessionId };
      const content = { ...ids, session_key: session.exportAt(index) ?? "", sender_key: "" };
      return Promise.resolve({
        content,
        senderEd25519: "",
        source: "direct",
        sharedHistory,
        firstIndex: index,
      });
    }
    return Promise.resolve(undefined);
  }
}
