/**
 * Answers that contradict what the server has taken, or shown, of the own user before: who stands in between, or a
 * server at odds with itself, can alter one. It does not count, and the server is asked again; what stays so does.
 *
 * @module
 */

import type { DeviceAlarm } from "../../types/api/device_alarm.ts";
import type { JsonObject } from "../../types/json.ts";
import { showsKeys } from "../account/mod.ts";
import { type DeviceQuery, readCrossSigningKey, shownKeys, userPart } from "../devices/mod.ts";
import type { EngineParts } from "./engine_parts.ts";

/** After how many answers with other keys of the device the next one counts: in a minute. The device ends by it. */
const MAX_KEYS = 7;
/**
 * After how many answers with another identity the next one counts: at once, since the user may have reset it, and a
 * start waits for it.
 */
const MAX_IDENTITIES = 2;

/** An answer that is not believed. */
export interface OwnDoubt {
  /** What it shows. */
  readonly alarm: DeviceAlarm;
  /** Whether the server is asked again without a delay. */
  readonly again: boolean;
  /** Notes that it was there. */
  readonly noted: () => void;
}

/** Judges answers of the server about the own user. */
export class OwnDoubts {
  readonly #parts: Pick<EngineParts, "ownKeys" | "ownIdentity" | "context">;
  /** How many answers in a row have shown other keys of the device. */
  #keys = 0;
  /** How many answers in a row have shown another identity. */
  #identities = 0;

  /** @param parts The parts of the engine. */
  constructor(parts: Pick<EngineParts, "ownKeys" | "ownIdentity" | "context">) {
    this.#parts = parts;
  }

  /** What is not to be believed of an answer; undefined: nothing. */
  of({ users }: DeviceQuery, response: JsonObject): OwnDoubt | undefined {
    const { userId } = this.#parts.context.own;
    if (!users.includes(userId)) return undefined;
    const { answer } = userPart(response, userId);
    if (typeof answer === "string") return undefined;
    return this.#ofKeys(shownKeys(answer, this.#parts.context.own.deviceId)) ??
      this.#ofIdentity(answer.master);
  }

  /** Notes that an answer was believed. */
  believed(): void {
    this.#keys = 0;
    this.#identities = 0;
  }

  #ofKeys(shown: JsonObject | "missing"): OwnDoubt | undefined {
    const { ownKeys, context: { own } } = this.#parts;
    if (!ownKeys.isPublished || shown === "missing" || showsKeys(own, shown)) return undefined;
    if (this.#keys >= MAX_KEYS) return undefined;
    const { userId, deviceId } = own;
    const alarm = { kind: "keys-changed", userId, deviceId } as const;
    return { alarm, again: this.#keys === 0, noted: () => void this.#keys++ };
  }

  #ofIdentity(shown: unknown): OwnDoubt | undefined {
    const { ownIdentity: { known }, context: { own: { userId }, vodozemac } } = this.#parts;
    if (known?.phase !== "published") return undefined; // nothing has proven that it is the user's
    const current = readCrossSigningKey(vodozemac, shown, { userId, usage: "master" });
    if (current === undefined || current === known.master) return undefined;
    if (this.#identities >= MAX_IDENTITIES) return undefined;
    const alarm = {
      kind: "identity-changed",
      userId,
      previous: known.master,
      current,
      accepted: false,
    } as const;
    return { alarm, again: true, noted: () => void this.#identities++ };
  }
}
