/**
 * Makes rooms ready for an event, step by step, as the engine asks for it.
 *
 * @module
 */

import { type HTTPAPI, RESTART_DELAY } from "../../api/http/mod.ts";
import type { NewRecipient, RoomDescription, ShareReport } from "../../crypto/sharing/mod.ts";
import type { CoreAPI } from "../../api/api.ts";
import { type Clock, elapsed } from "../../base/clock.ts";
import { EncryptionError } from "../../errors/encryption_error.ts";
import { permanent } from "../../errors/matrix_error.ts";
import { undefinedIfNotFound } from "../../errors/errcodes.ts";
import { Membership } from "../../types/enums.ts";
import type { RoomID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { ActorRef } from "../kernel/mod.ts";
import type { StateStore } from "../store/mod.ts";
import type { OutgoingRequests } from "./outgoing_requests.ts";
import type { CryptoHandlers } from "./crypto_actor.ts";

/**
 * Called before users get a room's key for the first time, and again before they get one with
 * another identity than the one that was approved.
 *
 * @param roomId The room.
 * @param users Users who never had a key of the room, each with the master key of their identity,
 *   as the server shows it.
 * @returns `false` to refuse: the event is not sent, and the call rejects with an
 *   `EncryptionError`.
 */
export type OnNewRecipient = (
  roomId: RoomID,
  users: readonly NewRecipient[],
) => void | boolean | Promise<void | boolean>;

/** What rooms are made ready with. */
export interface RoomPreparerOptions {
  readonly actor: ActorRef<CryptoHandlers>;
  /** Reads a room's description from the server. */
  readonly describe: (roomId: RoomID) => Promise<RoomDescription>;
  /** Called before users get a room's key for the first time. */
  readonly onNewRecipient: OnNewRecipient | undefined;
  /** Says when to begin again after a request that failed and had one try. */
  readonly http: Pick<HTTPAPI, typeof RESTART_DELAY>;
  /** Measures the waits. */
  readonly clock: Clock;
}

/** How often a kind of request is made before the room is made ready without it. */
const MAX_ROUNDS = 3;
/** None of them was made. */
const NO_ROUNDS = { keysQuery: 0, keysClaim: 0 };
/** How many steps a room may take: one shares the key with 250 devices. */
const MAX_STEPS = 10_000;

/** Makes rooms ready. */
export class RoomPreparer {
  readonly #options: RoomPreparerOptions;
  readonly #requests: OutgoingRequests;
  readonly #preparing = new Map<RoomID, { readonly since: number; readonly done: Promise<ShareReport> }>();

  /**
   * @param options What rooms are made ready with.
   * @param requests Makes the engine's requests.
   */
  constructor(options: RoomPreparerOptions, requests: OutgoingRequests) {
    this.#options = options;
    this.#requests = requests;
  }

  /**
   * Makes a room ready. A call while that is going on waits for the same result, if its members and
   * devices are new enough.
   *
   * @param roomId The room.
   * @param since When members and devices must have been asked for, in milliseconds since the
   *   epoch; undefined: a sync shows it.
   */
  async prepare(roomId: RoomID, since?: number): Promise<ShareReport> {
    const underway = this.#preparing.get(roomId);
    if (underway !== undefined) {
      const report = await underway.done;
      return (since ?? -Infinity) <= underway.since ? report : await this.prepare(roomId, since);
    }
    const done = this.#prepareRoom(roomId, since).finally(() => this.#preparing.delete(roomId));
    this.#preparing.set(roomId, { since: since ?? -Infinity, done });
    return await done;
  }

  async #prepareRoom(roomId: RoomID, since: number | undefined): Promise<ShareReport> {
    const { actor, describe, clock } = this.#options;
    const restarts = { keysUpload: 0, keysQuery: 0, keysClaim: 0, toDevice: 0 };
    let [rounds, idle, hasWaited] = [{ ...NO_ROUNDS }, false, false];
    let approved: readonly NewRecipient[] | undefined;
    for (let step = 0; step < MAX_STEPS; step++) {
      const tolerate = {
        keysQuery: rounds.keysQuery >= MAX_ROUNDS,
        keysClaim: rounds.keysClaim >= MAX_ROUNDS,
      };
      const asOf = sinceNow(since, clock);
      const readiness = await actor.prepare({ roomId, tolerate, approved, hasWaited, since: asOf });
      hasWaited = false;
      switch (readiness.needs) {
        case "nothing":
          return readiness.share;
        case "room":
          await actor.describeRoom(await this.#described(roomId, describe));
          break;
        case "approval":
          await this.#approve(roomId, readiness.users);
          approved = [...approved ?? [], ...readiness.users];
          break;
        default: {
          const { needs } = readiness;
          const about = needs === "toDevice" ? readiness.sessionId : undefined;
          const { ended, failure } = await this.#requests.round(needs, about);
          const isQuestion = needs === "keysQuery" || needs === "keysClaim";
          // Nothing to wait for: it was just asked, or failed a moment ago and is not due again yet.
          const isNotDue = isQuestion && ended === 0 && idle;
          if (failure !== undefined || isNotDue) {
            const cause = failure ?? this.#requests.lastFailure(needs);
            await this.#wait(this.#failed(roomId, needs, cause), restarts[needs]++);
            // What failed is no round without an answer, and the next one is due.
            [rounds, idle, hasWaited] = [{ ...NO_ROUNDS }, false, true];
          } else if (isQuestion) {
            idle = ended === 0;
            rounds[needs]++;
          }
        }
      }
    }
    throw new EncryptionError(`Cannot share a group session of ${roomId}: it takes too many steps`);
  }

  async #described(roomId: RoomID, describe: RoomPreparerOptions["describe"]): Promise<RoomDescription> {
    try {
      return await describe(roomId);
    } catch (cause) {
      if (cause instanceof EncryptionError) throw cause;
      throw new EncryptionError(`Cannot encrypt for ${roomId}: who is in it can't be found out; try again`, {
        cause,
      });
    }
  }

  /** Waits before what failed begins again; rejects with the error if it is not to, or if that is ended. */
  async #wait(error: EncryptionError, restarts: number): Promise<void> {
    const { http, clock } = this.#options;
    const delay = http[RESTART_DELAY](error.cause, restarts);
    if (delay === undefined) throw error;
    await clock.delay(delay, { signal: this.#requests.signal }).catch(() => {
      throw error;
    });
  }

  #failed(roomId: RoomID, kind: keyof typeof FAILED, cause?: unknown): EncryptionError {
    const text = `Cannot share a group session of ${roomId}: ${FAILED[kind]}; try again`;
    return new EncryptionError(text, cause === undefined ? {} : { cause });
  }

  async #approve(roomId: RoomID, users: readonly NewRecipient[]): Promise<void> {
    if (await this.#options.onNewRecipient?.(roomId, users) !== false) return;
    throw permanent(
      new EncryptionError(
        `Cannot encrypt for ${roomId}: onNewRecipient did not let ${
          users.map(({ userId }) => userId).join(", ")
        } have its key`,
      ),
    );
  }
}

const FAILED = {
  keysUpload: "the keys of this device could not be published",
  keysQuery: "the members' devices could not be looked up",
  keysClaim: "one-time keys of the members' devices could not be claimed",
  toDevice: "the key could not be sent to the members' devices",
};

/**
 * Makes the function that reads a room's description from the server. Its members may be others
 * than those that syncs have shown.
 *
 * @param core The operations without the store that keeps what they return.
 * @param stateStore Says how a room is encrypted, once that was seen.
 */
export function roomDescriber(
  core: Pick<CoreAPI, "getMembers" | "getStateEvent">,
  stateStore: Pick<StateStore, "getEncryptionInfo">,
): (roomId: RoomID) => Promise<RoomDescription> {
  const content = async (roomId: RoomID, type: string): Promise<JsonObject | undefined> => {
    const found: unknown = await core.getStateEvent(roomId, type).catch(undefinedIfNotFound);
    return isJsonObject(found) ? found : undefined;
  };
  return async (roomId) => {
    const [encryption, historyVisibility, events] = await Promise.all([
      stateStore.getEncryptionInfo(roomId).then((known) => known ?? content(roomId, "m.room.encryption")),
      content(roomId, "m.room.history_visibility"),
      core.getMembers(roomId, { notMembership: Membership.LEAVE }),
    ]);
    const members = events.flatMap(({ state_key: userId, content }) =>
      content.membership === Membership.JOIN || content.membership === Membership.INVITE
        ? [{ userId: userId as RoomDescription["members"][number]["userId"], membership: content.membership }]
        : []
    );
    return { roomId, encryption, historyVisibility, members };
  };
}

/** How old the last response of a client that syncs may be, in ms: one comes every 30 seconds. */
const FOLLOWING = 120_000;
/** How long the members and devices that a single sync or request has shown are used, in ms. */
const FRESH = 10_000;

/**
 * As of when members and devices must have been asked for, in ms since the epoch, while that is going on: a
 * clock that was set back meanwhile does not come to a moment that lies ahead.
 *
 * @param since As of when when it began; undefined: syncs show them.
 * @param clock The wall clock.
 */
export function sinceNow(since: number | undefined, clock: Clock): number | undefined {
  return since === undefined ? undefined : Math.min(since, freshSince(clock));
}

/** As of when members and devices must have been asked for to be used now. */
function freshSince(clock: Clock): number {
  return clock.now() - FRESH + 1;
}

/** Says how far syncs can be relied on. */
export class Following {
  readonly #clock: Clock;
  #lastSync = -Infinity;
  /** Aborts when no sync follows any more; undefined: none does. */
  #signal: AbortSignal | undefined;

  /** @param clock The wall clock. */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes that syncs follow until a signal aborts; the first brings what has changed since then. */
  begin(signal: AbortSignal): void {
    this.#signal = signal;
    this.#lastSync = -Infinity;
  }

  /** Notes that a sync has come. */
  synced(): void {
    this.#lastSync = this.#clock.now();
  }

  /** Whether syncs show what happens in rooms. */
  get isOn(): boolean {
    const longest = this.#signal?.aborted === false ? FOLLOWING : FRESH;
    return elapsed(this.#clock.now(), this.#lastSync) < longest;
  }

  /** How old members and devices may be, as ms since the epoch; undefined: syncs show them. */
  get since(): number | undefined {
    return this.isOn ? undefined : this.fresh;
  }

  /** The same for what syncs may not show: a user who shares no room with this one changes unseen. */
  get fresh(): number {
    return freshSince(this.#clock);
  }
}
