/**
 * The engine's requests, made with the operations of the client.
 *
 * @module
 */

import type { ClientAPI } from "../../api/client_api.ts";
import type { CoreAPI } from "../../api/core_api.ts";
import type { Clock } from "../../base/clock.ts";
import type { EngineRequest, RoomDescription } from "../../crypto/engine/engine_protocol.ts";
import { elapsed } from "../../base/elapsed.ts";
import { EncryptionError } from "../../errors/crypto_error.ts";
import { NotFoundError } from "../../errors/errcodes.ts";
import { Membership, PaginationDirection } from "../../types/enums.ts";
import type { RoomID, SyncToken } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type { SendEngineRequest } from "./crypto_courier.ts";
import type { StateStore } from "../store/state_store.ts";

/** The operations that requests are made with. */
export type EngineOperations = Pick<
  ClientAPI,
  "uploadKeys" | "queryKeys" | "claimKeys" | "sendToDevice" | "sendMessageEvent" | "getMessages"
>;

/** For how long a server is sure to know a transaction ID, in milliseconds: Synapse forgets them after half an hour. */
const TRANSACTION_MEMORY = 20 * 60_000;
/** How many pages of a room's history are looked through for an event that may have arrived. */
const MAX_PAGES = 20;
const PAGE_SIZE = 100;

/** Makes what makes the engine's requests. */
export function engineRequests(api: EngineOperations, clock: Clock): SendEngineRequest {
  return async (request, signal) => await send(api, request, { signal, clock }) as JsonObject;
}

async function send(
  api: EngineOperations,
  request: EngineRequest,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<object> {
  switch (request.kind) {
    case "keysUpload": {
      const { device_keys: deviceKeys, one_time_keys: oneTimeKeys, fallback_keys: fallbackKeys } =
        request.body;
      // Synapse takes device keys even if it refuses what comes with them: should another process be at this device at the same
      // time, the one-time keys, which no server replaces, tell whose it is before anything of it is overwritten.
      if (deviceKeys === undefined || oneTimeKeys === undefined) {
        return await api.uploadKeys({ deviceKeys, oneTimeKeys, fallbackKeys, signal });
      }
      await api.uploadKeys({ oneTimeKeys, fallbackKeys, signal });
      return await api.uploadKeys({ deviceKeys, signal });
    }
    case "keysQuery":
      return await api.queryKeys(request.users, { signal });
    case "keysClaim":
      return await api.claimKeys(request.oneTimeKeys as never, { signal });
    case "toDevice":
      await api.sendToDevice(request.eventType, request.messages as never, { txnId: request.txnId, signal });
      return {};
    case "roomEvent": {
      const { roomId, txnId, content, createdAt } = request;
      const age = elapsed(clock.now(), createdAt);
      if (age > TRANSACTION_MEMORY && await hasArrived(api, request, { age, signal })) return {};
      // The very bytes that were encrypted then: should they have arrived after all, whoever reads them sees a repetition.
      await api.sendMessageEvent(roomId, "m.room.encrypted", content as never, { txnId, signal });
      return {};
    }
  }
}

/** Whether an event is in the room's history, back to the time at which it was encrypted, if anybody knows that. */
async function hasArrived(
  api: EngineOperations,
  { roomId, txnId, createdAt }: Extract<EngineRequest, { kind: "roomEvent" }>,
  { age, signal }: { readonly age: number; readonly signal: AbortSignal },
): Promise<boolean> {
  const since = Number.isFinite(age) ? createdAt - TRANSACTION_MEMORY : -Infinity;
  let from: SyncToken | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const options = { limit: PAGE_SIZE, signal };
    const { chunk, end } = await api.getMessages(roomId, PaginationDirection.BACKWARD, from, options);
    if (chunk.some(({ unsigned }) => unsigned?.transaction_id === txnId)) return true;
    const oldest = chunk.at(-1)?.origin_server_ts;
    if (end === undefined || oldest === undefined || oldest < since) return false;
    from = end;
  }
  return false;
}

/** What {@link roomDescriber} works with. */
export interface RoomDescriberOptions {
  /** The operations as they are, without a store that would keep what they return. */
  readonly core: Pick<CoreAPI, "getMembers" | "getStateEvent">;
  /** Knows which rooms are encrypted, once it was seen, and how. */
  readonly stateStore: Pick<StateStore, "getEncryptionInfo">;
}

/**
 * Makes what reads all that the engine has to know of a room from the server: members above all, who may be more, or others, than
 * sync has told.
 */
export function roomDescriber(
  { core, stateStore }: RoomDescriberOptions,
): (roomId: RoomID) => Promise<RoomDescription> {
  const content = async (roomId: RoomID, type: string): Promise<JsonObject | undefined> => {
    try {
      const found: unknown = await core.getStateEvent(roomId, type);
      return isJsonObject(found) ? found : undefined;
    } catch (error) {
      if (error instanceof NotFoundError) return undefined;
      throw error;
    }
  };
  return async (roomId) => {
    const [encryption, historyVisibility, events] = await Promise.all([
      stateStore.getEncryptionInfo(roomId).then((known) => known ?? content(roomId, "m.room.encryption")),
      content(roomId, "m.room.history_visibility"),
      core.getMembers(roomId, { notMembership: Membership.LEAVE }),
    ]);
    if (encryption === undefined) {
      throw new EncryptionError(
        `Cannot encrypt for ${roomId}: the room is not encrypted; send it m.room.encryption first`,
      );
    }
    const members = events.flatMap(({ state_key: userId, content }) =>
      content.membership === Membership.JOIN || content.membership === Membership.INVITE
        ? [{ userId: userId as RoomDescription["members"][number]["userId"], membership: content.membership }]
        : []
    );
    return { roomId, encryption, historyVisibility, members };
  };
}
