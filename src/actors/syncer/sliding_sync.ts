/**
 * Reads by sliding sync, or by the classic sync, whichever of them has written the position.
 *
 * A connection of sliding sync shows all rooms, at first as they are. Where none goes on, since the server has
 * forgotten it or the classic sync has read so far, the sync begins anew, as after a refused token: without what
 * was handled. Before that, the server gets to know which messages to the device have come.
 *
 * @module
 */

import type { AllAPI } from "../../api/api.ts";
import {
  askSliding,
  freshFilter,
  SLIDING_SYNC,
  type SlidingResponse,
  type SyncOptions,
} from "../../api/server/server.ts";
import type { Session } from "../../api/http/mod.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import { PresenceState } from "../../types/enums.ts";
import type { SyncResponse } from "../../types/events/sync_response.ts";
import type { SyncToken } from "../../types/ids.ts";
import type { JsonObject } from "../../types/json.ts";
import {
  classicResponse,
  classicToken,
  PREFIX,
  type SlidingPlace,
  slidingPlace,
  TO_DEVICE_LIMIT,
} from "./sliding_codec.ts";
import { NOTHING, RefusedTokenError, UnsupportedSyncError } from "./sync_failure.ts";
import type { SyncRequests } from "./syncer_options.ts";

/** What a {@link SyncWays} works with. */
export interface SyncWaysOptions {
  /** The way to the server. */
  readonly api: Pick<AllAPI, "sync" | "getMessages" | "uploadKeys">;
  /** Says who acts. */
  readonly session: Session;
  /** By which sync the client reads. */
  readonly sync: "classic" | "sliding";
  /** Whether there is encryption, for which one-time keys count. */
  readonly isEncrypted: boolean;
}

/** Numbers of keys by their algorithm. */
type KeyCounts = Readonly<Record<string, number>>;

const KEYS = "signed_curve25519";
/** The name of the connection: a device has one. */
const CONNECTION = "greenroom";
/** Every room: those outside are not shown, nor does the server wake for them. */
const ALL_ROOMS = [[0, 99_999]];
/** How many events of a room come at most: as many as in the classic sync, where the filter does not say. */
const TIMELINE_LIMIT = 10;

/** The two ways of syncing. */
export class SyncWays implements Pick<SyncRequests, "sync" | "getMessages"> {
  readonly #options: SyncWaysOptions;
  #isSupported = false;
  /** How many one-time keys the server has had: lately, and before that. */
  #counts: readonly [last?: KeyCounts, before?: KeyCounts] = [];

  /** @param options What it works with. */
  constructor(options: SyncWaysOptions) {
    this.#options = options;
  }

  /** Asks what is new since a place, which either sync has written. */
  readonly sync: SyncRequests["sync"] = async (options = {}) => {
    const { since } = options;
    const { api, sync } = this.#options;
    if (sync === "classic" && since?.startsWith(PREFIX) !== true) return await api.sync(options); // the usual case
    const place = slidingPlace(since);
    // The classic token of a place is ahead of messages to the device that have not come yet.
    if (sync === "sliding" || place?.isBehind === true) return await this.#slide(place, options);
    return await api.sync({ ...options, since: classicToken(since) });
  };

  /** Reads history from and up to places, which either sync has written. */
  readonly getMessages: SyncRequests["getMessages"] = async (roomId, direction, from, options = {}) => {
    const { toToken } = options;
    return await this.#options.api.getMessages(roomId, direction, classicToken(from), {
      ...options,
      ...(toToken !== undefined && { toToken: classicToken(toToken) }),
    });
  };

  async #slide(place: SlidingPlace | undefined, options: SyncOptions): Promise<SyncResponse> {
    const { since, timeout = 0, signal } = options;
    const { session, isEncrypted } = this.#options;
    await this.#checkSupport(signal);
    if (since !== undefined && place === undefined) await this.#leaveClassic(since, signal);
    const wait = place?.isBehind === true ? 0 : timeout;
    const body = { conn_id: CONNECTION, lists: LISTS, extensions: extensions(place) };
    try {
      const answer = await askSliding(session, { pos: place?.pos, timeout: wait, body, signal });
      const counts = isEncrypted ? await this.#countKeys(answer, signal) : undefined;
      return classicResponse(answer, { own: session.mxid, toDevice: place?.toDevice, counts });
    } catch (error) {
      if (!isUnknownPosition(error) || place === undefined) throw error;
      await this.#acknowledge(place, signal);
      throw new RefusedTokenError("The homeserver has forgotten the connection of sliding sync", {
        cause: error,
      });
    }
  }

  /**
   * Counts the one-time keys by uploading none. Who takes one sends a message with it: until one comes, and the
   * number stands still, it is as it was.
   */
  async #countKeys(
    { extensions = {} }: SlidingResponse,
    signal: AbortSignal | undefined,
  ): Promise<KeyCounts> {
    const [last, before] = this.#counts;
    const { to_device: messages } = extensions as { readonly to_device?: { readonly events?: unknown } };
    const mayHaveChanged = last?.[KEYS] !== before?.[KEYS] || !Array.isArray(messages?.events) ||
      messages.events.length > 0;
    if (last !== undefined && !mayHaveChanged) return last;
    const counted = await this.#options.api.uploadKeys({ signal });
    this.#counts = [counted, last];
    return counted;
  }

  async #checkSupport(signal: AbortSignal | undefined): Promise<void> {
    if (this.#isSupported) return;
    const { unstable_features: features } = await this.#options.session.versions({ signal });
    if (features?.[SLIDING_SYNC] !== true) {
      throw new UnsupportedSyncError(
        `Cannot sync: the homeserver has no sliding sync (${SLIDING_SYNC}); leave out the option sync, or make it ` +
          '"classic": the same store goes on with it',
      );
    }
    this.#isSupported = true;
  }

  /** Lets the server forget the messages that the classic sync has brought, and begins anew. */
  async #leaveClassic(since: SyncToken, signal: AbortSignal | undefined): Promise<never> {
    const filterId = freshFilter(NOTHING);
    await this.#options.api.sync({ since, timeout: 0, filterId, setPresence: PresenceState.OFFLINE, signal });
    throw new RefusedTokenError("The classic sync has read so far, and sliding sync cannot go on from there");
  }

  /** Lets the server forget the messages that a lost connection has brought. */
  async #acknowledge({ toDevice }: SlidingPlace, signal: AbortSignal | undefined): Promise<void> {
    if (toDevice === undefined) return;
    const to_device = { enabled: true, since: toDevice, limit: 1 };
    const body = { conn_id: `${CONNECTION}.end`, extensions: { to_device } };
    await askSliding(this.#options.session, { pos: undefined, timeout: 0, body, signal });
  }
}

const LISTS: JsonObject = {
  rooms: { ranges: ALL_ROOMS, timeline_limit: TIMELINE_LIMIT, required_state: [["*", "*"]] },
};

function extensions(place: SlidingPlace | undefined): JsonObject {
  const enabled = { enabled: true };
  const { toDevice: since } = place ?? {};
  return {
    to_device: { ...enabled, limit: TO_DEVICE_LIMIT, ...(since !== undefined && { since }) },
    e2ee: enabled,
    account_data: enabled,
    receipts: enabled,
    typing: enabled,
  };
}

function isUnknownPosition(error: unknown): boolean {
  return error instanceof MatrixRequestError && error.errcode === "M_UNKNOWN_POS";
}
