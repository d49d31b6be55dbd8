/**
 * What the user has read, and that the user is typing.
 *
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#receipts | Receipts}
 * @module
 */

import { CALL, endpoint, nothing, type RequestOptions, type Session } from "../http/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { ReceiptType } from "../../types/enums.ts";
import type { EventID, RoomID } from "../../types/ids.ts";
import { checkIdentifier } from "../../types/identifiers.ts";

// Receipts and markers may be repeated: the second one points where the first one did.
const receipt = endpoint(
  "sendReceipt",
  "POST",
  "/_matrix/client/v3/rooms/{roomId}/receipt/{receiptType}/{eventId}",
  nothing,
  { idempotent: true },
);
const readMarkers = endpoint(
  "setFullyReadMarker",
  "POST",
  "/_matrix/client/v3/rooms/{roomId}/read_markers",
  nothing,
  { idempotent: true },
);
const typing = endpoint("setTyping", "PUT", "/_matrix/client/v3/rooms/{roomId}/typing/{userId}", nothing);

/** Options of {@link ReceiptsAPI.sendReceipt}. */
export interface SendReceiptOptions extends RequestOptions {
  /**
   * What the receipt says: `m.read` for everyone to see, `m.read.private` for the own devices
   * alone, `m.fully_read` for the read marker. Default: `m.read`.
   */
  receiptType?: ReceiptType;
  /**
   * The root of the thread it is about, or `main` for what is in no thread. Default: it is about
   * all of the room.
   */
  threadId?: EventID | "main";
}

/** Options of {@link ReceiptsAPI.setFullyReadMarker}. */
export interface SetFullyReadMarkerOptions extends RequestOptions {
  /**
   * The event up to which everyone may know that the user has read. Default: no such receipt is
   * sent.
   */
  readReceipt?: EventID;
  /**
   * The event up to which only the own devices may know that the user has read. Default: no such
   * receipt is sent.
   */
  privateReadReceipt?: EventID;
}

/** Options of {@link ReceiptsAPI.setTyping}. */
export interface SetTypingOptions extends RequestOptions {
  /**
   * How long the user is typing, unless updated, in milliseconds; 0 or less means no longer typing.
   * Default: 0.
   */
  timeout?: number;
}

/**
 * Operations on receipts, read markers and typing notices.
 *
 * Each throws {@link MatrixRequestError} if the homeserver refuses, and `ValueError` before
 * anything is sent if an identifier can't be one.
 */
export interface ReceiptsAPI {
  /**
   * Marks a room as read up to an event.
   *
   * @param roomId The room.
   * @param eventId The event.
   * @param options Kind of receipt, thread, and request options.
   * @throws {ValueError} If a thread is given for the read marker, which has none.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidreceiptreceipttypeeventid | POST /rooms/{roomId}/receipt/{receiptType}/{eventId}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * const eventId = await client.sendText(roomId, "Curtain up");
   * await client.sendReceipt(roomId, eventId, { receiptType: "m.read.private", threadId: "main" });
   * ```
   */
  sendReceipt(roomId: RoomID, eventId: EventID, options?: SendReceiptOptions): Promise<void>;

  /**
   * Sets the user's read marker, and receipts along with it.
   *
   * @param roomId The room.
   * @param fullyRead The event at which the marker is to stand.
   * @param options Receipts to send along, and request options.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#post_matrixclientv3roomsroomidread_markers | POST /rooms/{roomId}/read_markers}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { EventID, RoomID } from "@greenroom/matrix/types";
   *
   * export async function markRead(client: Client, roomId: RoomID, latest: EventID): Promise<void> {
   *   await client.setFullyReadMarker(roomId, latest, { readReceipt: latest });
   * }
   * ```
   */
  setFullyReadMarker(roomId: RoomID, fullyRead: EventID, options?: SetFullyReadMarkerOptions): Promise<void>;

  /**
   * Sets whether the user is typing in a room, for some time: without a `timeout`, that the user
   * has stopped.
   *
   * @param roomId The room.
   * @param options For how many milliseconds, and request options.
   * @throws {ForbiddenError} If the user is not in the room.
   * @throws {ValueError} If the timeout is no integer.
   * @see {@link https://spec.matrix.org/v1.19/client-server-api/#put_matrixclientv3roomsroomidtypinguserid | PUT /rooms/{roomId}/typing/{userId}}
   * @example
   * ```ts
   * import { Client } from "@greenroom/matrix";
   * import { Homeserver } from "@greenroom/matrix/testing";
   *
   * await using homeserver = new Homeserver();
   * const { accessToken } = await homeserver.createUser("alice");
   * await using client = new Client({ baseUrl: homeserver.baseUrl, fetch: homeserver.fetch, accessToken });
   * const roomId = await client.createRoom();
   * await client.setTyping(roomId, { timeout: 30_000 });
   * await client.setTyping(roomId); // has stopped
   * ```
   */
  setTyping(roomId: RoomID, options?: SetTypingOptions): Promise<void>;
}

/** Makes the operations on receipts, read markers and typing notices. */
export function receiptsAPI(session: Session): ReceiptsAPI {
  const { http } = session;
  return {
    async sendReceipt(roomId, eventId, { receiptType = ReceiptType.READ, threadId, ...options } = {}) {
      if (threadId !== undefined && receiptType === ReceiptType.FULLY_READ) {
        throw new ValueError("Cannot send a receipt: the read marker has no thread; leave threadId out");
      }
      if (threadId !== undefined && threadId !== "main") checkIdentifier("eventId", threadId);
      await http[CALL](
        receipt,
        { path: { roomId, receiptType, eventId }, body: { thread_id: threadId } },
        options,
      );
    },
    async setFullyReadMarker(roomId, fullyRead, { readReceipt, privateReadReceipt, ...options } = {}) {
      checkIdentifier("eventId", fullyRead);
      if (readReceipt) checkIdentifier("eventId", readReceipt);
      if (privateReadReceipt) checkIdentifier("eventId", privateReadReceipt);
      const body = {
        "m.fully_read": fullyRead,
        "m.read": readReceipt || undefined,
        "m.read.private": privateReadReceipt || undefined,
      };
      await http[CALL](readMarkers, { path: { roomId }, body }, options);
    },
    async setTyping(roomId, { timeout = 0, ...options } = {}) {
      checkIdentifier("roomId", roomId);
      if (!Number.isSafeInteger(timeout)) {
        throw new ValueError(`Cannot set typing for ${timeout} ms: the timeout must be an integer`);
      }
      const userId = await session.userId(options);
      const body = timeout > 0 ? { typing: true, timeout } : { typing: false };
      await http[CALL](typing, { path: { roomId, userId }, body }, options);
    },
  };
}
