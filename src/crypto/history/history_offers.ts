/**
 * Tells the devices of a user who is invited where the room's keys are.
 *
 * They get the keys of all that was said: so only devices that the user's own identity vouches for, and not
 * one that was replaced.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4268 | MSC4268}
 * @module
 */

import type { UserID } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import { type Device, type DeviceLists, isVouchedFor } from "../devices/mod.ts";
import { type CryptoContext, newTxn } from "../context/context.ts";
import { BUNDLE_TYPES, type OlmChannels, type OlmClaims } from "../olm/mod.ts";
import type { Transaction } from "../records/mod.ts";
import type { Outbox } from "../requests/mod.ts";
import type { BundlePlace } from "./key_bundle.ts";

/** The parts that it needs. */
export interface HistoryOffersOptions {
  /** What the parts share. */
  readonly context: CryptoContext;
  /** The devices of users. */
  readonly devices: Pick<DeviceLists, "devicesOf" | "identityOf">;
  /** Encrypts for devices. */
  readonly olm: Pick<OlmChannels, "encrypt" | "withoutSession"> & {
    readonly claims: Pick<OlmClaims, "want" | "endWait">;
  };
  /** Sends messages. */
  readonly outbox: Pick<Outbox, "add">;
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
  readonly #options: HistoryOffersOptions;

  /** @param options The parts that it needs. */
  constructor(options: HistoryOffersOptions) {
    this.#options = options;
  }

  /** Looks who would get a room's keys, and has one-time keys claimed for them at once: who asks again has waited. */
  async recipients(tx: Transaction, userId: UserID): Promise<HistoryRecipients> {
    const { context: { own }, devices, olm } = this.#options;
    const identity = await devices.identityOf(tx, own.userId);
    const all = await this.#devicesOf(tx, userId);
    const waiting = await olm.withoutSession(tx, all);
    if (waiting.length > 0) {
      await olm.claims.want(tx, waiting);
      olm.claims.endWait(waiting);
    }
    return { isVerified: identity?.verified === true, devices: all.length, waiting: waiting.length };
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

  async #devicesOf(tx: Transaction, userId: UserID): Promise<Device[]> {
    const { context: { policy }, devices } = this.#options;
    const found = (await devices.devicesOf(tx, [userId])).get(userId) ?? [];
    return found.filter((device) =>
      !device.dehydrated && isVouchedFor(device) &&
      (policy.sendTo !== "verified" || device.trust === "verified")
    );
  }
}
