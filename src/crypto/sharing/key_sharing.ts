/**
 * Prepares a room for its next event: all devices that are to read it have been sent the key, and
 * no others have it.
 *
 * All devices of a room are looked at after something changed, and not for each message.
 *
 * @module
 */

import { elapsed } from "../../base/clock.ts";
import { RecentMap } from "../../base/recent_map.ts";
import type { RoomID, UserID } from "../../types/ids.ts";
import type { CryptoDevice } from "../devices/mod.ts";
import {
  outboundKey,
  type OutboundRecord,
  type PrepareInput,
  type RoomReadiness,
  type RoomSettings,
  type RotationCause,
  rotationCause,
} from "./outbound_record.ts";
import type { Transaction } from "../records/mod.ts";
import { approve, unapproved } from "./share_records.ts";
import { shareBatch, usersToGetKey, withoutOlm } from "./share_batch.ts";
import { planShares, type SharePlan, type ShareTask, type SharingParts } from "./share_plan.ts";
import type { GroupSessions } from "./group_sessions.ts";

/** A room that is to be made ready. */
export interface PreparedRoom extends PrepareInput {
  readonly settings: RoomSettings;
  /** The recipients of what is sent. */
  readonly recipients: ReadonlySet<UserID>;
}

/** A session and its plan. */
interface PlannedSession {
  readonly record: OutboundRecord;
  readonly plan: SharePlan;
}

/**
 * The outcome of the last check of a room's devices, and the versions by which it is seen to be out
 * of date.
 */
interface CheckedRoom {
  readonly sessionId: string;
  readonly plan: SharePlan;
  /** Whether all keys have arrived. */
  readonly ready: boolean;
  /** When that was, in milliseconds since the epoch. */
  readonly at: number;
  /** The version of the room's members. */
  readonly membersVersion: number | undefined;
  /**
   * The versions of devices and of Olm sessions; they advance while changes do not concern the
   * room.
   */
  versions: readonly number[];
  /** The version of dirty users. */
  readonly dirtyVersion: number;
}

/** How many devices all rooms together may have in memory. */
const MAX_CHECKED_DEVICES = 1_000_000;

/** Shares the keys of group sessions. */
export class KeySharing {
  readonly #parts: SharingParts;
  readonly #groups: GroupSessions;
  readonly #checked = new RecentMap<RoomID, CheckedRoom>(MAX_CHECKED_DEVICES);

  /**
   * @param parts The parts that it works with.
   * @param groups The ratchets.
   */
  constructor(parts: SharingParts, groups: GroupSessions) {
    this.#parts = parts;
    this.#groups = groups;
  }

  /** Returns whether a session may encrypt the next event: a few comparisons, for any number of devices. */
  isReady(roomId: RoomID, record: OutboundRecord, settings: RoomSettings): boolean {
    const checked = this.#current(roomId, record, settings);
    return checked?.ready === true && checked.dirtyVersion === this.#parts.devices.tracked.version;
  }

  /** Has all devices of a room looked at before its next event. */
  recheck(tx: Transaction, roomId: RoomID): void {
    tx.onCommit(() => this.#checked.remove(roomId));
  }

  /** Has all devices of all rooms looked at. */
  clear(): void {
    this.#checked.clear();
  }

  /** Returns what the room needs before its next event, and takes a step towards it. */
  async prepare(tx: Transaction, room: PreparedRoom): Promise<RoomReadiness> {
    const { roomId, settings, recipients, tolerate, approved = [], hasWaited } = room;
    const { context: { own, policy, clock }, devices, olm, outbox } = this.#parts;
    approve(tx, roomId, approved);
    let planned = await this.#known(tx, roomId, settings);
    if (planned === undefined || this.#checked.get(roomId)?.dirtyVersion !== devices.tracked.version) {
      const users = [...recipients, own.userId];
      devices.tracked.track(tx, users); // even if the server says that they share no room with this user
      if (!tolerate.keysQuery && devices.tracked.isDirty(users)) return { needs: "keysQuery" };
    }
    if (planned === undefined) {
      const { record, plan } = await this.#plan(tx, room);
      const others = usersToGetKey(plan).filter((userId) => userId !== own.userId);
      const asked = policy.approveRecipients
        ? await unapproved(tx, { roomId, record, users: others, devices })
        : [];
      if (asked.length > 0) return { needs: "approval", users: asked };
      const without = await withoutOlm(tx, this.#parts, plan);
      await olm.claims.want(tx, [...without]);
      if (hasWaited) olm.claims.endWait([...without]);
      const promising = [...without].some((device) => olm.claims.isPromising(device, clock.now()));
      if (promising && !tolerate.keysClaim) return { needs: "keysClaim" };
      planned = { record, plan: withoutRepetition(plan, without) };
    }
    const { record, plan, sent } = await this.#share(tx, roomId, planned);
    const ready = !sent && !outbox.isSharing(record.sessionId);
    this.#remember(tx, roomId, { sessionId: record.sessionId, plan, ready });
    if (!ready) return { needs: "toDevice", sessionId: record.sessionId };
    const { shared, withheld } = plan;
    return { needs: "nothing", share: { sessionId: record.sessionId, shared, withheld } };
  }

  /** The last check of a room, if it is still valid. */
  async #known(tx: Transaction, roomId: RoomID, settings: RoomSettings): Promise<PlannedSession | undefined> {
    const record = await tx.get(outboundKey(roomId));
    const checked = record && this.#current(roomId, record, settings);
    return record && checked && { record, plan: checked.plan };
  }

  #current(roomId: RoomID, record: OutboundRecord, settings: RoomSettings): CheckedRoom | undefined {
    const checked = this.#checked.get(roomId);
    if (checked?.sessionId !== record.sessionId || this.#cause(record, settings) !== undefined) {
      return undefined;
    }
    return this.#isUpToDate(roomId, checked) ? checked : undefined;
  }

  /** Returns whether nothing has changed that concerns a room since it was looked at. */
  #isUpToDate(roomId: RoomID, checked: CheckedRoom): boolean {
    const { devices, olm, rooms, context: { own, clock } } = this.#parts;
    if (rooms.members.version(roomId) !== checked.membersVersion) return false;
    const { plan: { retryIn }, at } = checked;
    if (retryIn < Infinity && elapsed(clock.now(), at) >= retryIn) return false;
    const recipients = rooms.recipients(roomId);
    for (const [index, changes] of [devices.changes, olm.sessions.changes].entries()) {
      const version = checked.versions[index];
      if (version === changes.version) continue;
      const changed = version === undefined ? undefined : changes.since(version);
      if (changed === undefined || changed.has(own.userId)) return false;
      for (const userId of changed) if (recipients?.has(userId) !== false) return false;
    }
    checked.versions = this.#versions();
    return true;
  }

  #cause(record: OutboundRecord, settings: RoomSettings): RotationCause | undefined {
    const { policy, clock } = this.#parts.context;
    return rotationCause(record, { settings, policy: policy.sendTo, now: clock.now() });
  }

  #versions(): number[] {
    const { devices, olm } = this.#parts;
    return [devices.changes.version, olm.sessions.changes.version];
  }

  #remember(
    tx: Transaction,
    roomId: RoomID,
    checked: Pick<CheckedRoom, "sessionId" | "plan" | "ready">,
  ): void {
    const { devices: { tracked }, rooms, context: { clock } } = this.#parts;
    const seen = {
      membersVersion: rooms.members.version(roomId),
      versions: this.#versions(),
      dirtyVersion: tracked.version,
      at: clock.now(),
    };
    const { tasks, shared, withheld } = checked.plan;
    const weight = 1 + tasks.length + shared.length + withheld.length;
    tx.onCommit(() => this.#checked.set(roomId, { ...checked, ...seen }, weight));
  }

  /**
   * Plans for all devices, with a new session if there is none or the old one must not be used any
   * more.
   */
  async #plan(tx: Transaction, { roomId, settings, recipients }: PreparedRoom): Promise<PlannedSession> {
    const users = [...new Set([...recipients, this.#parts.context.own.userId])];
    const devices = await this.#parts.devices.devicesOf(tx, users);
    const previous = await tx.get(outboundKey(roomId));
    let cause = previous && this.#cause(previous, settings);
    if (previous !== undefined && cause === undefined) {
      const plan = await planShares(tx, this.#parts, { roomId, record: previous, users, devices });
      if (typeof plan !== "string") return { record: previous, plan };
      cause = plan;
    }
    if (previous?.event !== undefined) this.#parts.outbox.store(tx, previous.event);
    const record = await this.#groups.create(tx, { roomId, settings, previous });
    this.#parts.context.log.debug("Began a group session", { roomId, sessionId: record.sessionId, cause });
    const plan = await planShares(tx, this.#parts, { roomId, record, users, devices });
    if (typeof plan === "string") throw new TypeError(`Cannot begin a group session: ${plan} already`);
    return { record, plan };
  }

  /**
   * Continues until there is a request to send, for some of the devices, or nothing is left to do.
   */
  async #share(
    tx: Transaction,
    roomId: RoomID,
    { record, plan }: PlannedSession,
  ): Promise<PlannedSession & { sent: boolean }> {
    if (plan.tasks.length === 0) return { record, plan, sent: false };
    const keys = new Map<number, Promise<string | undefined>>();
    const keyAt = (index: number) =>
      keys.getOrInsertComputed(index, () => this.#groups.key(tx, { roomId, record }, index));
    let done: PlannedSession & { sent: boolean } = { record, plan, sent: false };
    while (!done.sent && done.plan.tasks.length > 0) {
      done = await shareBatch(tx, this.#parts, { roomId, keyAt, record: done.record, plan: done.plan });
    }
    if (done.record !== record) tx.set(outboundKey(roomId), done.record);
    return done;
  }
}

/** Leaves out devices of which it is known already that there is no way to them. */
function withoutRepetition(plan: SharePlan, without: ReadonlySet<CryptoDevice>): SharePlan {
  const isKnown = ({ device, before }: ShareTask): boolean =>
    without.has(device) && before?.kind === "withheld" && before.code === "m.no_olm";
  const withheld = plan.tasks.filter(isKnown).map(({ device }) => ({ device, code: "m.no_olm" } as const));
  if (withheld.length === 0) return plan;
  return {
    ...plan,
    tasks: plan.tasks.filter((task) => !isKnown(task)),
    withheld: [...plan.withheld, ...withheld],
  };
}
