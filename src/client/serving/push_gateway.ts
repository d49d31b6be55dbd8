/**
 * The push gateway: the homeserver tells of new events, and the bot handles them.
 * A file of its own because it is one protocol of those that a client can answer.
 *
 * @see {@link https://spec.matrix.org/v1.16/push-gateway-api/ | Push gateway API}
 * @module
 */

import type { SyncPass } from "../../actors/syncer/syncer.ts";
import type { Clock } from "../../base/clock.ts";
import type { Logger } from "../../base/log.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { BoundedBodies, isSameSecret, Refusal } from "../../base/bounded_body.ts";
import { platform } from "../../base/platform/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import type { Session } from "../../api/http/mod.ts";
import type { WakeOptions } from "../wake_options.ts";

/** What a push gateway works with. */
export interface PushGatewayOptions {
  /** What the homeserver has to show. */
  readonly key: WakeKey;
  /** Whether the client syncs all the time: it needs no wake. */
  readonly isSyncing: () => boolean;
  /** Whether the client is ending. */
  readonly isOver: () => boolean;
  /** Handles what is new; undefined if the event was handled before. */
  readonly pass: (eventId: string) => Promise<SyncPass | undefined>;
  /** Measures the time. */
  readonly clock: Clock;
  /** Logs wakes that could not be handled. */
  readonly log: Logger;
}

/** An event has at most 65,536 bytes, and a notification little more. */
const BOUNDS = { body: 131_072, reading: 8 * 2 ** 20, time: 10_000 };
/** How many wakes may wait for their pass. */
const MAX_WAITING = 10_000;
/** How many devices a notification may name: ours names one. */
const MAX_DEVICES = 8;
/** When to come back, in seconds. */
const SOON = { "retry-after": "1" };

/** Answers notifications. */
export class PushGateway {
  readonly #options: PushGatewayOptions;
  readonly #bodies: BoundedBodies;
  #waiting = 0;

  /** @param options What it works with. */
  constructor(options: PushGatewayOptions) {
    this.#options = options;
    this.#bodies = new BoundedBodies(options.clock, BOUNDS);
  }

  /**
   * Answers `POST /_matrix/push/v1/notify`, when what it tells of has been handled.
   *
   * @throws {Refusal} If it is none, or can't be handled now: then the homeserver sends it again.
   */
  async notify(request: Request): Promise<Response> {
    const { notification } = await this.#bodies.json(request);
    if (!isJsonObject(notification)) throw new Refusal(400, "M_BAD_JSON", "There is no notification");
    const { event_id: eventId } = notification;
    const { rejected, isKnown } = await this.#devices(notification);
    const answer = Response.json({ rejected });
    // Without an event it tells how much is unread, which we know.
    if (!isKnown || typeof eventId !== "string" || this.#options.isSyncing()) return answer;
    if (this.#waiting >= MAX_WAITING) throw new Refusal(429, "M_LIMIT_EXCEEDED", "Too many wakes wait", SOON);
    this.#waiting++;
    try {
      const pass = await this.#options.pass(eventId);
      if (pass?.left === undefined) return answer;
      this.#options.log.info("A wake was not handled in time, and is answered so that it comes again", {
        left: pass.left,
      });
    } catch (error) {
      // That a client which is stopped or closed handles nothing is as it should be.
      const isStopped = this.#options.isOver() ||
        (error instanceof DOMException && error.name === "AbortError");
      const level = isStopped ? "debug" : "warn";
      this.#options.log[level]("A wake could not be handled", { error: String(error) });
    } finally {
      this.#waiting--;
    }
    throw new Refusal(503, "M_UNKNOWN", "Not handled in time; send it again", SOON);
  }

  async #devices(
    { devices }: JsonObject,
  ): Promise<{ readonly rejected: readonly string[]; readonly isKnown: boolean }> {
    if (!Array.isArray(devices) || devices.length > MAX_DEVICES) {
      throw new Refusal(400, "M_BAD_JSON", "The notification must name devices");
    }
    const rejected: string[] = [];
    let isKnown = false;
    for (const device of devices as unknown[]) {
      const pushkey = isJsonObject(device) ? device.pushkey : undefined;
      if (typeof pushkey !== "string") throw new Refusal(400, "M_BAD_JSON", "A device must have a pushkey");
      if (await this.#matches(pushkey)) isKnown = true;
      else rejected.push(pushkey);
    }
    return { rejected, isKnown };
  }

  async #matches(pushkey: string): Promise<boolean> {
    try {
      return await this.#options.key.matches(pushkey);
    } catch (error) {
      // Whose device it is, is unknown: nothing is rejected, since the homeserver would forget it.
      this.#options.log.warn("A wake could not be handled: the own device is unknown", {
        error: String(error),
      });
      throw new Refusal(503, "M_UNKNOWN", "Not handled; send it again", SOON);
    }
  }
}

/** Makes the push key of a device, and recognises it. */
export class WakeKey {
  readonly #session: Pick<Session, "account">;
  readonly #secret: string;
  #key: Promise<string> | undefined;

  /**
   * @param session Whose device it is.
   * @param wake Has the secret.
   * @throws {ValueError} If there is none.
   */
  constructor(session: Pick<Session, "account">, wake: WakeOptions | undefined) {
    if (wake === undefined) {
      throw new ValueError("Cannot register a wake: the client has no secret for it; make it with wake");
    }
    this.#session = session;
    this.#secret = wake.secret;
  }

  /** The push key. Asks the server once whose the token is, if that is not known. */
  async get(): Promise<string> {
    return await (this.#key ??= this.#derive().catch((error) => {
      this.#key = undefined; // the next call tries again
      throw error;
    }));
  }

  /** Returns whether a text is the push key. How long that takes does not depend on what it says. */
  async matches(text: string): Promise<boolean> {
    return await isSameSecret(text, await this.get());
  }

  async #derive(): Promise<string> {
    const account = await this.#session.account();
    const { createHmac } = await platform.crypto();
    return createHmac("sha256", this.#secret).update(JSON.stringify(["greenroom wake", ...account]))
      .digest("base64url");
  }
}
