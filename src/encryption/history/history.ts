/**
 * Sharing the history of a room with users who are invited, as a client has it in `client.crypto`.
 *
 * @see {@link https://github.com/matrix-org/matrix-spec-proposals/pull/4268 | MSC4268}
 * @module
 */

import type { RoomID, UserID } from "../../types/ids.ts";

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
   * const { accessToken: token } = homeserver.createUser("bot");
   * await using bot = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, token, encryption: true });
   * const roomId = await bot.createRoom({
   *   initialState: [{ type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } }],
   * });
   * const report = await bot.crypto?.shareHistory(roomId, "@alice:localhost");
   * console.assert(report?.outcome === "unverified"); // give it a recoveryKey
   * ```
   */
  shareHistory(roomId: RoomID, userId: UserID): Promise<HistoryShareReport>;
}
