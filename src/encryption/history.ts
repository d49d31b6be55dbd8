/**
 * Sharing the history of a room with users who are invited, as a client has it in `client.crypto`.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4268 | MSC4268}
 * @module
 */

import type { RoomID, UserID } from "../types/ids.ts";
import { RESTART_DELAY } from "../api/http/mod.ts";
import type { EngineRunner } from "../actors/crypto/crypto.ts";
import type { AllAPI } from "../api/api.ts";
import { concat } from "@std/bytes/concat";
import { encryptAttachment } from "../crypto/attachments/attachments.ts";
import {
  bundleOf,
  type HistoryRecipients,
  isBundled,
  type KeyBundle,
  MAX_BUNDLED,
} from "../crypto/history/history.ts";
import type { ExportedSession, SessionQuery } from "../crypto/megolm/mod.ts";
import { isHistoryShared } from "../crypto/sharing/mod.ts";
import { NotFoundError } from "../errors/errcodes.ts";
import { MalformedContentError } from "../errors/matrix_error.ts";
import type { EncryptedFile } from "../types/content/file_info.ts";

/** What has become of the history of a room. */
export interface HistoryShareReport {
  /**
   * - `shared`: the user's devices were told where the keys are;
   * - `not-readable`: who joins the room may not read what was sent before, by its
   *   `m.room.history_visibility`;
   * - `nothing`: there is no key here that its sender allows to be shared;
   * - `unverified`: this device has not verified the own identity, so that nobody would take it;
   * - `no-devices`: the user has no device that the user's identity vouches for.
   */
  readonly outcome: "shared" | "not-readable" | "nothing" | "unverified" | "no-devices";
  /** How many keys were shared. */
  readonly keys: number;
  /** How many of the user's devices were told. */
  readonly devices: number;
}

/** The part of `client.crypto` about shared history. */
export interface HistoryCrypto {
  /**
   * Shares the history of an encrypted room with a user who is about to be invited: the keys of what
   * was sent while the room let those read it who join later, as each sender has allowed with the key.
   * With `encryption.shareHistory` each `inviteUser()` does it. Keys that this device has from the
   * backup alone are not shared: whose they are could be the server's invention, and who is invited takes
   * this user's word for it.
   *
   * @param roomId The room.
   * @param userId The user. Devices get the keys that the user's own identity has signed.
   * @returns What has become of it.
   * @throws {MatrixRequestError} If the server refuses the file.
   * @throws {NetworkError} If the server can't be asked.
   *
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken, encryption: true });
   * const roomId = await bot.createRoom({
   *   initialState: [{ type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } }],
   * });
   * const report = await bot.crypto?.shareHistory(roomId, "@alice:localhost");
   * console.assert(report?.outcome === "unverified"); // give it a recoveryKey
   * ```
   */
  shareHistory(roomId: RoomID, userId: UserID): Promise<HistoryShareReport>;
}

/** What of a client it is shared with. */
export interface HistoryClient {
  /** The operations. */
  readonly api: Pick<AllAPI, "getStateEvent" | "uploadMedia">;
}

/** How many sessions a step takes. */
const SESSIONS_A_STEP = 200;
/** How often the server is asked for a user's devices, if other changes come in between. */
const MAX_ROUNDS = 3;

/** Shares it. */
export async function shareHistory(
  engine: EngineRunner,
  { api }: HistoryClient,
  { roomId, userId }: { readonly roomId: RoomID; readonly userId: UserID },
): Promise<HistoryShareReport> {
  const { actor, log } = engine;
  await engine.open();
  // Of a room without a key nobody is asked. Whether the room is encrypted the server could say otherwise.
  if ((await actor.exportSessions({ roomId, limit: 1 })).last === undefined) return none("nothing");
  if (!await isReadable(api, roomId)) return none("not-readable");
  const { isVerified, devices } = await recipientsOf(engine, userId);
  if (!isVerified) return none("unverified");
  if (devices === 0) return none("no-devices");
  // Whoever gets the present session by it is no member yet, and need not become one.
  await actor.discardGroupSession(roomId);
  const bundle = bundleOf(await sessionsOf(engine, roomId));
  const keys = bundle.room_keys.length;
  if (keys === 0) return none("nothing");
  const file = await uploaded(engine, api, bundle);
  const told = await actor.offerHistory({ userId, roomId, file });
  engine.requests.wake();
  if (told === 0) return none("no-devices");
  await engine.requests.round("toDevice"); // before the invitation; later, if that fails
  log.info("Shared the history of a room with a user", { roomId, userId, keys, devices: told });
  return { outcome: "shared", keys, devices: told };
}

function none(outcome: HistoryShareReport["outcome"]): HistoryShareReport {
  return { outcome, keys: 0, devices: 0 };
}

/** Returns whether who joins the room reads what was sent before, by what the server says. */
async function isReadable(api: HistoryClient["api"], roomId: RoomID): Promise<boolean> {
  try {
    const { history_visibility } = await api.getStateEvent(roomId, "m.room.history_visibility");
    return isHistoryShared({ historyVisibility: history_visibility });
  } catch (error) {
    if (error instanceof NotFoundError || error instanceof MalformedContentError) return false;
    throw error;
  }
}

/**
 * The devices that may get the keys, as the server shows them now,
 * each with an Olm session if it has keys left.
 */
async function recipientsOf(
  engine: EngineRunner,
  userId: UserID,
): Promise<HistoryRecipients> {
  const { actor } = engine;
  let since: number | undefined = Infinity; // of who shares no room nothing else shows changes
  for (let count = 0; count < MAX_ROUNDS; count++) {
    if (!await actor.areDevicesStale({ users: [userId], since })) break;
    since = undefined;
    const { failure } = await engine.requests.round("keysQuery");
    if (failure !== undefined) throw failure;
  }
  for (let restarts = 0;; restarts++) {
    const { waiting } = await actor.historyRecipients(userId);
    const { failure } = waiting === 0 ? {} : await engine.requests.round("keysClaim");
    if (failure !== undefined && await hasWaited(engine, failure, restarts)) continue;
    const found = await actor.historyRecipients(userId);
    if (failure !== undefined && found.waiting === found.devices) throw failure; // nobody could be told
    return found;
  }
}

/** Waits before what failed begins again; false if it is not to. */
async function hasWaited(
  { http, clock, signal }: EngineRunner,
  error: unknown,
  restarts: number,
): Promise<boolean> {
  const delay = http[RESTART_DELAY](error, restarts);
  if (delay === undefined) return false;
  await clock.delay(delay, { signal });
  return true;
}

/** The sessions of the room that go into a bundle, up to a limit. */
async function sessionsOf({ actor, log }: EngineRunner, roomId: RoomID): Promise<ExportedSession[]> {
  const all: ExportedSession[] = [];
  let after: SessionQuery["after"];
  do {
    const { sessions, last }: Awaited<ReturnType<typeof page>> = await page(after);
    for (const session of sessions) if (isBundled(session)) all.push(session);
    after = last;
  } while (after !== undefined && all.length < MAX_BUNDLED);
  if (after !== undefined) {
    log.warn("Shares a part of the history of a room: it has too many keys", { roomId });
  }
  return all;

  function page(from: SessionQuery["after"]) {
    return actor.exportSessions({ roomId, limit: SESSIONS_A_STEP, ...(from && { after: from }) });
  }
}

/** Encrypts the file with a key of its own, and uploads it. A second one, after a failure, does no harm. */
async function uploaded(
  engine: EngineRunner,
  api: HistoryClient["api"],
  bundle: KeyBundle,
): Promise<EncryptedFile> {
  const { stream, secrets } = encryptAttachment(new TextEncoder().encode(JSON.stringify(bundle)));
  const encrypted = concat(await Array.fromAsync(stream));
  for (let restarts = 0;; restarts++) {
    try {
      const url = await api.uploadMedia(encrypted, { mimeType: "application/octet-stream" });
      return { ...secrets(), url };
    } catch (error) {
      if (!await hasWaited(engine, error, restarts)) throw error;
    }
  }
}
