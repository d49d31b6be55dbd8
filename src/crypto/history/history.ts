/**
 * Room keys that a user shares whose invitation was accepted: which file is fetched, and what is taken
 * out of it.
 *
 * That there is a file is durable when its message comes, and that the invitation was accepted when
 * the sync shows that; both go in one commit with the last key. A file is fetched only for who has
 * invited this user, for a day, and only if the device that has sent it is one that the inviter's
 * identity has signed.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4268 | MSC4268}
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import { RecentMap } from "../../base/recent_map.ts";
import type { DeviceKeys } from "../../types/api/device_keys.ts";
import type { EncryptedFile } from "../../types/content/file_info.ts";
import type { StateEvent } from "../../types/events/event.ts";
import { isUserId } from "../../types/identifiers.ts";
import type { DeviceID, RoomID, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { type CryptoDevice, type DeviceLists, isVouchedFor } from "../devices/mod.ts";
import { type KeyReceivers, receiveKeys } from "../key_requests/key_requests.ts";
import type { AnswerOutput, ImportedRoomKey, InboundSessions } from "../megolm/mod.ts";
import { DAY_MS, FairRecords, type Transaction } from "../records/mod.ts";
import { isRefusal, Retries } from "../requests/requests.ts";
import { type BundleRequest, keysIn, readBundlePlace, withheldIn } from "./key_bundle.ts";

export {
  bundleOf,
  type BundleRequest,
  type HistoryOffer,
  HistoryOffers,
  type HistoryRecipients,
  isBundled,
  type KeyBundle,
  MAX_BUNDLED,
} from "./key_bundle.ts";

/** A message that says where room keys are. */
interface AnnouncedHistory {
  /** Who has sent it. */
  readonly sender: UserID;
  /** The device, if it is known. */
  readonly device: CryptoDevice | undefined;
  /** The keys that it says are its own, if it has sent them along. */
  readonly deviceKeys: DeviceKeys | undefined;
  /** Its Curve25519 key. */
  readonly senderKey: string;
  /** Its Ed25519 key. */
  readonly senderEd25519: string;
  /** What it says. */
  readonly content: JsonObject;
}

/** Whose history of which room it is. */
interface Place {
  readonly sender: UserID;
  readonly roomId: RoomID;
}

/** Where room keys are, and which device has said so. */
interface Announced extends Place {
  readonly file: EncryptedFile;
  readonly deviceId: DeviceID;
  readonly curve25519: string;
  readonly ed25519: string;
}

/** An invitation that was accepted. */
interface Accepted extends Place {
  /** When, in milliseconds since the epoch. */
  readonly at: number;
}

/** A file on its way. */
interface Underway {
  readonly id: string;
  readonly announced: Announced;
  /** Its keys, once it has come. */
  keys?: readonly ImportedRoomKey[];
  /** How many of them were taken. */
  taken: number;
}

/** How many files are known of: the oldest of the user with the most goes first. */
const MAX_ANNOUNCED = 200;
/** How many accepted invitations are remembered. */
const MAX_ACCEPTED = 200;
/** How many keys a step takes: some milliseconds of work. */
const KEYS_A_STEP = 200;
/** How long after a failure it is tried again, in milliseconds. */
const FAILED = { base: 30_000, cap: 3_600_000 };

const partsOf = ({ sender, roomId }: Place): [string, string] => [sender, roomId];

/** Fetches the history that inviters share, and takes it in. */
export class HistoryIntake {
  readonly #options;
  readonly #announced = new FairRecords<Announced, Place>("history_announced", MAX_ANNOUNCED, partsOf);
  readonly #accepted = new FairRecords<Accepted, Place>("history_accepted", MAX_ACCEPTED, partsOf);
  readonly #failed = new Retries<string>(FAILED);
  /** For which of them the sender's devices were looked up in this process. */
  readonly #lookedUp = new RecentMap<string, Place>(MAX_ANNOUNCED);
  #underway: Underway | undefined;

  /** @param options The parts that it needs. */
  constructor(
    options: KeyReceivers & {
      readonly inbound: Pick<InboundSessions, "importAll" | "withheld">;
      /** The devices of those who share. */
      readonly devices: Pick<DeviceLists, "tracked" | "device">;
    },
  ) {
    this.#options = options;
  }

  /** Reads what an earlier process has left. */
  async load(tx: Transaction): Promise<void> {
    await Promise.all([this.#announced.load(tx), this.#accepted.load(tx)]);
  }

  /** Notes where room keys are; nothing is fetched before an invitation of the sender was accepted. */
  announced(tx: Transaction, history: AnnouncedHistory): void {
    const { context: { policy, own, log } } = this.#options;
    const { sender, device, deviceKeys, senderKey, senderEd25519, content } = history;
    if (!policy.shareHistory || sender === own.userId) return;
    const place = readBundlePlace(content);
    const deviceId = device?.deviceId ?? deviceKeys?.device_id;
    if (place === undefined || deviceId === undefined) {
      return log.warn("Ignored shared history that is not described as it must be", { sender });
    }
    this.#announced.set(tx, { ...place, sender, deviceId, curve25519: senderKey, ed25519: senderEd25519 });
    this.#lookUp(tx, { ...place, sender });
    tx.leadsToRequest = true;
  }

  /** Learns of a membership: whose invitation the own user has accepted. */
  memberEvent(tx: Transaction, roomId: RoomID, { state_key, content, unsigned, ...event }: StateEvent): void {
    const { policy, own, clock } = this.#options.context;
    if (!policy.shareHistory || state_key !== own.userId || content.membership !== "join") return;
    const { prev_content, prev_sender: sender }: JsonObject = { ...unsigned };
    const wasInvited = isJsonObject(prev_content) && prev_content.membership === "invite";
    if (!wasInvited || !isUserId(sender) || sender === own.userId) return;
    const now = clock.now();
    const at = Math.min(now, event.origin_server_ts);
    if (elapsed(now, at) >= DAY_MS) return;
    for (const each of this.#accepted.values) {
      if (elapsed(now, each.at) >= DAY_MS) this.#accepted.delete(tx, each);
    }
    this.#accepted.set(tx, { sender, roomId, at });
    this.#lookUp(tx, { sender, roomId });
    tx.leadsToRequest = true;
  }

  /** Whether there may be a request now, or something to look up for one. */
  get isDue(): boolean {
    const now = this.#options.context.clock.now();
    return this.#underway === undefined && this.#pairs().some((pair) => this.#isDue(pair, now));
  }

  /** In how many milliseconds there may be, because of time alone. */
  nextIn(now: number): number {
    if (this.#underway !== undefined) return Infinity;
    const waits = this.#pairs().filter((pair) => this.#isReady(pair)).map((pair) =>
      this.#failed.wait(nameOf(pair), now)
    );
    return Math.min(...waits); // infinity without any
  }

  /** The request that is to be made now, if there is one. */
  async take(tx: Transaction): Promise<BundleRequest[]> {
    const { context: { clock, uniqueId, log }, devices } = this.#options;
    const now = clock.now();
    for (const pair of this.#pairs()) {
      if (!this.#isDue(pair, now)) continue;
      const { sender, roomId, deviceId } = pair;
      if (this.#isUnknown(pair)) {
        devices.tracked.track(tx, [sender]);
        // No room is shared with who only invites: nothing shows changes.
        devices.tracked.changed(tx, [sender]);
        tx.onCommit(() => this.#lookedUp.set(nameOf(pair), pair));
        continue;
      }
      if (!isTrusted(await devices.device(tx, sender, deviceId), pair)) {
        log.warn("Ignored shared history: its sender's identity does not vouch for the device that sent it", {
          sender,
          roomId,
          deviceId,
        });
        this.#drop(tx, pair);
        continue;
      }
      const id = uniqueId();
      tx.onCommit(() => this.#underway = { id, announced: pair, taken: 0 });
      return [{ id, kind: "historyBundle", file: pair.file }];
    }
    return [];
  }

  /** Returns whether a request is one of these. */
  owns(id: string): boolean {
    return this.#underway?.id === id;
  }

  /** Receives a file, or the next piece of it. */
  async answer(
    tx: Transaction,
    _id: string,
    bundle: JsonObject,
  ): Promise<AnswerOutput & { readonly more?: boolean }> {
    const { log } = this.#options.context;
    const underway = this.#underway;
    if (underway === undefined) return { recovered: [], alarms: [] };
    const { announced, taken } = underway;
    const { sender, roomId } = announced;
    const keys = underway.keys ??= keysIn(bundle, { roomId, sharedBy: sender });
    const some = keys.slice(taken, taken + KEYS_A_STEP);
    const { recovered } = some.length === 0 ? { recovered: [] } : await receiveKeys(tx, this.#options, some);
    if (taken === 0) await this.#options.inbound.withheld.shared(tx, sender, withheldIn(bundle, roomId));
    const more = taken + some.length < keys.length;
    tx.onCommit(() => underway.taken += some.length);
    if (more) return { recovered, alarms: [], more };
    log.info("Imported the history that an inviter shares", { sender, roomId, keys: keys.length });
    this.#end(tx);
    this.#drop(tx, announced);
    return { recovered, alarms: [] };
  }

  /** Receives a failure: what is gone is not asked for again. */
  async fail(
    tx: Transaction,
    _id: string,
    { status }: { readonly status: number },
  ): Promise<Record<never, never>> {
    const { announced } = this.#underway ?? {};
    if (announced === undefined) return {};
    this.#end(tx);
    const { log, clock } = this.#options.context;
    if (isRefusal(status) && status !== 401) {
      const { sender, roomId } = announced;
      log.warn("The history that an inviter shares is gone", { sender, roomId, status });
      this.#drop(tx, announced);
    } else tx.onCommit(() => this.#failed.failed(nameOf(announced), clock.now()));
    return await Promise.resolve({});
  }

  /** Returns what was announced by those whose invitation was accepted within a day. */
  #pairs(): Announced[] {
    const now = this.#options.context.clock.now();
    const accepted = this.#accepted.values.filter(({ at }) => elapsed(now, at) < DAY_MS).map(nameOf);
    return accepted.length === 0
      ? []
      : this.#announced.values.filter((announced) => accepted.includes(nameOf(announced)));
  }

  #isDue(pair: Announced, now: number): boolean {
    return this.#failed.isOver(nameOf(pair), now) && this.#isReady(pair);
  }

  /** Returns whether nothing has to come before something can be done for it. */
  #isReady(place: Place): boolean {
    return this.#isUnknown(place) || !this.#options.devices.tracked.isBehind(place.sender);
  }

  /** Returns whether to ask the server about a sender: who has left all rooms since is no longer followed. */
  #isUnknown(place: Place): boolean {
    return this.#lookedUp.get(nameOf(place)) === undefined ||
      !this.#options.devices.tracked.isFollowed(place.sender);
  }

  /** Has a sender looked up, once more if need be: what was known may be outdated since, and stay so. */
  #lookUp(tx: Transaction, place: Place): void {
    tx.onCommit(() => this.#lookedUp.remove(nameOf(place)));
  }

  #end(tx: Transaction): void {
    tx.onCommit(() => this.#underway = undefined);
    tx.leadsToRequest = true;
  }

  #drop(tx: Transaction, place: Place): void {
    this.#announced.delete(tx, place);
    this.#accepted.delete(tx, place);
  }
}

/** Returns whether it is the device that has sent the message, and its user vouches for it. */
function isTrusted(device: CryptoDevice | undefined, { curve25519, ed25519 }: Announced): boolean {
  if (device?.curve25519 !== curve25519 || device.ed25519 !== ed25519 || device.isDehydrated) return false;
  return isVouchedFor(device);
}

function nameOf({ sender, roomId }: Place): string {
  return `${sender} ${roomId}`;
}
