/**
 * The backup of room keys that is in use: which version, and its keys.
 *
 * A version is never used because the server shows it, since the server could have made it: its
 * public key must be that of a private key that is there, or it must carry a signature of the own
 * identity, once that was accepted. One that was left for another is not used again unless the user
 * gives its key: nothing in a signature says that it is the last one.
 *
 * @module
 */

import { isJsonObject } from "../../types/json.ts";
import type { OwnKeys } from "../account/account.ts";
import type { DeviceLists } from "../devices/mod.ts";
import { verifySignedJson } from "../encoding/encoding.ts";
import type { CryptoContext } from "../context/context.ts";
import type { OwnIdentity } from "../identity/identity.ts";
import {
  BACKUP_ALGORITHM,
  type MegolmSessionRef,
  newAuthData,
  readPublicKey,
  type ShownVersion,
} from "../../types/identifiers.ts";
import { type RecordKey, recordKey, type Transaction } from "../records/mod.ts";
import { KEY_BYTES, readKeySecret } from "../secrets/secrets.ts";
import {
  type AdoptInput,
  type AdoptOutcome,
  type BackupPhase,
  backupSecret,
  type BackupState,
  type NewBackup,
  type NewBackupInput,
  publicBackupKey,
} from "./session_data.ts";
import type { DueSessions } from "../megolm/mod.ts";

/** The backup that is in use. */
export interface UsedBackup {
  readonly version: string;
  /** Its public key, in unpadded base64. */
  readonly publicKey: string;
  /** Its private key; absent: it is not there, and the own identity vouches for the version. */
  readonly privateKey?: Uint8Array;
  /** How it is with it. */
  readonly phase: BackupPhase;
  /**
   * Up to which session all that were there at the beginning are in it; `all`: up to the last.
   * Absent: none is yet.
   */
  readonly scanned?: MegolmSessionRef | "all";
}

/** What is stored. */
interface BackupRecord {
  /** The backup that is in use; absent: none is. */
  readonly used?: UsedBackup;
  /** The private key of a backup that is to be made; absent: none is. */
  readonly pending?: Uint8Array;
  /** The public keys of backups that were left for others, or forgotten. */
  readonly left?: readonly string[];
}

/** How many of them are kept: only the user makes more. */
const MAX_LEFT = 100;

/** Its record; secret. */
const KEY: RecordKey<BackupRecord> = { ...recordKey<BackupRecord>("backup"), held: true };

/** Keeps the backup that is in use. */
export class KeyBackup {
  readonly #options;
  #record: BackupRecord = {};

  /** @param options The parts that it needs. */
  constructor(options: {
    /** What the parts share. */
    readonly context: CryptoContext;
    /** Signs new versions. */
    readonly ownKeys: OwnKeys;
    /** Knows the own identity. */
    readonly devices: Pick<DeviceLists, "identityOf">;
    /** Signs new versions as well, so that the user's other devices follow to them. */
    readonly ownIdentity: Pick<OwnIdentity, "signWith">;
    /** The sessions that are to be backed up. */
    readonly due: DueSessions;
  }) {
    this.#options = options;
  }

  /** Reads what an earlier process has left; one that was not `on` is asked for once more. */
  async load(tx: Transaction): Promise<void> {
    const [record] = await tx.getMany([{ ...KEY, passing: true }]);
    const { used } = record ?? {};
    this.#keep(
      used === undefined || used.phase === "on"
        ? record ?? {}
        : { ...record, used: { ...used, phase: "asking" } },
    );
  }

  /** The backup that is in use; undefined: none is. */
  get used(): UsedBackup | undefined {
    return this.#record.used;
  }

  /** The same without what is secret. */
  get state(): BackupState | undefined {
    const { used } = this;
    if (used === undefined) return undefined;
    const { version, publicKey, privateKey, phase, scanned } = used;
    const isComplete = scanned === "all" && !this.#options.due.isAny;
    const pending = this.#pendingKey();
    const isReadable = privateKey !== undefined;
    return { version, publicKey, isReadable, phase, isComplete, ...(pending !== undefined && { pending }) };
  }

  /**
   * A backup that is to be made: the same until it is adopted or forgotten. What is there already
   * is not made again: a version since a call that was cut off, or the one in use.
   */
  async create(tx: Transaction, { latest, isNew, secret }: NewBackupInput): Promise<NewBackup> {
    const { context: { vodozemac }, ownKeys, ownIdentity } = this.#options;
    const { pending, used } = this.#record;
    const given = secret === undefined ? undefined : readKeySecret(secret);
    const known = isNew ? [pending] : [pending, used?.privateKey];
    const there = known.find((key) => key !== undefined && publicBackupKey(vodozemac, key) === latest);
    const key = there ?? given ?? pending ?? crypto.getRandomValues(new Uint8Array(KEY_BYTES));
    if (there === undefined && key !== pending) this.#write(tx, { ...this.#record, pending: key });
    const publicKey = publicBackupKey(vodozemac, key);
    const signed = newAuthData(publicKey, (object) => ownKeys.account.sign(object));
    const auth_data = await ownIdentity.signWith(tx, "master", signed) ?? signed;
    const definition = { algorithm: BACKUP_ALGORITHM, auth_data };
    return {
      definition,
      publicKey,
      secret: backupSecret(key),
      isThere: there !== undefined,
      isLeft: this.#isLeft(publicKey),
    };
  }

  /** Uses a version from now on, if its public key is that of a private key that is there. */
  adopt(tx: Transaction, { shown, secret, isChosen = false }: AdoptInput): AdoptOutcome {
    const publicKey = readPublicKey(shown);
    if (publicKey === undefined) return "unusable";
    const privateKey = secret === undefined ? this.used?.privateKey : readKeySecret(secret);
    const { vodozemac } = this.#options.context;
    if (privateKey === undefined || publicBackupKey(vodozemac, privateKey) !== publicKey) return "mismatch";
    if (this.#isLeft(publicKey) && !isChosen) return "left";
    this.#use(tx, { version: shown.version, publicKey, privateKey, phase: "on" });
    return "adopted";
  }

  /**
   * Follows the server to the version that it has now, if that can be trusted; else nothing is
   * backed up any more.
   *
   * @param shown The version; undefined: there is none.
   */
  async follow(tx: Transaction, shown: ShownVersion | undefined): Promise<void> {
    const { used } = this;
    if (used === undefined) return;
    const { log } = this.#options.context;
    if (shown === undefined) {
      log.warn("The backup of room keys was deleted, and goes on when there is a new one", {
        version: used.version,
      });
      return this.#enter(tx, used, "deleted");
    }
    const { version } = shown;
    if (this.adopt(tx, { shown }) === "adopted") {
      return log.info("Uses the backup of room keys", { version });
    }
    const publicKey = readPublicKey(shown);
    const { pending } = this.#record;
    if (publicKey !== undefined && publicKey === this.#pendingKey()) {
      log.info("Uses the backup of room keys that it has made", { version });
      this.#use(tx, { version, publicKey, privateKey: pending, phase: "on" });
      return this.#write(tx, { ...this.#record, pending }); // until its key is stored
    }
    if (publicKey !== undefined && !this.#isLeft(publicKey) && await this.#isSigned(tx, shown)) {
      log.info("Uses the backup of room keys, which it can't read before trust() has its key", {
        version,
      });
      return this.#use(tx, { version, publicKey, phase: "on" });
    }
    const todo = "if the user has made it, give its key to crypto.backup.trust()";
    log.warn(`The backup of room keys was replaced, and nothing shows by whom: ${todo}`, { version });
    this.#enter(tx, used, "replaced");
  }

  /** The server does not take keys for the version: it must say which there is now. */
  ask(tx: Transaction): void {
    const { used } = this;
    if (used !== undefined) this.#enter(tx, used, "asking");
    tx.leadsToRequest = true;
  }

  /** Notes up to which session all are backed up. */
  scanned(tx: Transaction, scanned: MegolmSessionRef | "all"): void {
    const { used } = this;
    if (used !== undefined) this.#write(tx, { ...this.#record, used: { ...used, scanned } });
  }

  /** Forgets the backup in use and its keys, and one that was to be made. */
  forget(tx: Transaction): void {
    const { used, pending } = this.#record;
    this.#write(tx, { left: this.#leftFor(undefined) });
    tx.onCommit(() => [used?.privateKey, pending].forEach((key) => key?.fill(0)));
  }

  /** Returns whether the own identity vouches for a version, and was accepted. */
  async #isSigned(tx: Transaction, { auth_data }: ShownVersion): Promise<boolean> {
    const { context: { vodozemac, own: { userId } }, devices } = this.#options;
    const { pinned, hasChanged } = await devices.identityOf(tx, userId) ?? {};
    if (pinned === undefined || hasChanged || !isJsonObject(auth_data)) return false;
    return verifySignedJson(vodozemac, auth_data, { userId, keyId: `ed25519:${pinned}`, publicKey: pinned });
  }

  /** Nothing is there yet of what was in another version. */
  #use(tx: Transaction, next: UsedBackup): void {
    const { used } = this;
    const isSame = used?.version === next.version && used.publicKey === next.publicKey &&
      (used.phase === "on" || used.phase === "asking");
    const scanned = isSame ? used.scanned : undefined;
    const left = this.#leftFor(next.publicKey);
    this.#write(tx, { used: { ...next, ...(scanned !== undefined && { scanned }) }, left });
    tx.leadsToRequest = true;
  }

  /** The public key of the backup that is to be made. */
  #pendingKey(): string | undefined {
    const { pending } = this.#record;
    return pending && publicBackupKey(this.#options.context.vodozemac, pending);
  }

  #isLeft(publicKey: string): boolean {
    return this.#record.left?.includes(publicKey) === true;
  }

  /** The backups that are left once another is used; undefined: none. */
  #leftFor(next: string | undefined): readonly string[] {
    const { used, left = [] } = this.#record;
    const all = new Set([...left, ...(used === undefined ? [] : [used.publicKey])]);
    return [...all].filter((publicKey) => publicKey !== next).slice(-MAX_LEFT);
  }

  #enter(tx: Transaction, used: UsedBackup, phase: BackupPhase): void {
    this.#write(tx, { ...this.#record, used: { ...used, phase } });
  }

  #write(tx: Transaction, record: BackupRecord): void {
    const before = this.#record;
    tx.set(KEY, record);
    this.#keep(record);
    tx.onAbort(() => this.#keep(before));
  }

  #keep(record: BackupRecord): void {
    this.#record = record;
    const { phase } = record.used ?? {};
    this.#options.due.isOn = phase === "on" || phase === "asking";
  }
}
