/**
 * How recent the members and devices of a room must be where no sync keeps them up to date.
 *
 * @module
 */

import { WeighedCache } from "../../base/weighed_cache.ts";
import type { RoomID } from "../../types/ids.ts";
import type { DeviceLists } from "../devices/mod.ts";
import type { CryptoContext } from "../context/context.ts";
import type { Encrypted, EncryptInput, PrepareInput, RoomReadiness, StaleInput } from "./sharing_protocol.ts";
import type { Transaction } from "../records/mod.ts";
import type { Outbox } from "../requests/mod.ts";
import type { OutboundSessions } from "./outbound_sessions.ts";
import type { EncryptedRooms } from "./encrypted_rooms.ts";

/** The parts that it works with. */
export interface FreshnessParts {
  /** What all parts share. */
  readonly context: CryptoContext;
  /** The members of rooms. */
  readonly rooms: EncryptedRooms;
  readonly devices: DeviceLists;
  /** The own sessions. */
  readonly outbound: OutboundSessions;
  /** What is on its way to the server. */
  readonly outbox: Outbox;
}

/** Of how many rooms it is remembered when they were last asked about. */
const MAX_ROOMS = 100_000;

/**
 * Encrypts only with members and devices that were queried lately: former members could read it
 * otherwise, and new ones could not.
 */
export class RoomFreshness {
  readonly #parts: FreshnessParts;
  /** Since when all that is known of a room has been asked for, in milliseconds since the epoch. */
  readonly #known = new WeighedCache<RoomID, number>(MAX_ROOMS);

  /** @param parts The parts that it works with. */
  constructor(parts: FreshnessParts) {
    this.#parts = parts;
  }

  /** Whether users' devices have to be looked up. They are tracked from now on. */
  areDevicesStale(tx: Transaction, { users, since }: StaleInput): Promise<boolean> {
    const { devices } = this.#parts;
    devices.track(tx, users);
    if (since !== undefined) devices.outdate(users, since);
    return Promise.resolve(users.some((userId) => !devices.isTracked(userId)) || devices.isDirty(users));
  }

  /**
   * Returns what a room needs before its next event, with members and devices as of a time at the
   * earliest.
   */
  async prepare(tx: Transaction, { roomId, since, ...options }: PrepareInput): Promise<RoomReadiness> {
    const { context: { own }, rooms, devices, outbound } = this.#parts;
    if (since === undefined) return await outbound.prepare(tx, roomId, options);
    let known = rooms.outdate(roomId, since);
    const recipients = rooms.recipients(roomId);
    if (recipients !== undefined) {
      const users = [...recipients, own.userId];
      devices.track(tx, users);
      known = Math.min(known, devices.outdate(users, since));
      if (!options.tolerate.keysQuery && devices.isDirty(users)) return { needs: "keysQuery" };
    }
    const readiness = await outbound.prepare(tx, roomId, options);
    // What had to be done without is asked for before the next event, not again before this one.
    if (readiness.needs === "nothing") this.#known.set(roomId, known, 1);
    return readiness;
  }

  /** Encrypts an event; undefined if the room has to be prepared first. */
  async encrypt(tx: Transaction, input: EncryptInput): Promise<Encrypted | undefined> {
    const { outbox, outbound } = this.#parts;
    const { roomId, txnId, since } = input;
    const isEncrypted = txnId !== undefined && outbox.roomEvent(roomId, txnId) !== undefined;
    if (since !== undefined && !isEncrypted && !this.#isKnown(roomId, since)) return undefined;
    return await outbound.encrypt(tx, input);
  }

  #isKnown(roomId: RoomID, since: number): boolean {
    const at = this.#known.get(roomId);
    return at !== undefined && at >= since && at <= this.#parts.context.clock.now();
  }
}
