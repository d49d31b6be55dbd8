/**
 * Makes the requests of the engine, and says what one failed with.
 *
 * @module
 */

import type { AllAPI } from "../../api/api.ts";
import { type Clock, elapsed } from "../../base/clock.ts";
import type { EngineRequest } from "../../crypto/engine/engine.ts";
import { PaginationDirection } from "../../types/enums.ts";
import type { SyncToken } from "../../types/ids.ts";
import { type JsonObject, parseObject } from "../../types/json.ts";
import { AttachmentError } from "../../errors/encryption_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import type { EncryptedFile } from "../../types/content/file_info.ts";
import type { RequestFailure } from "../../crypto/requests/requests.ts";
import { UnknownDeviceError } from "../../errors/account_errcodes.ts";
import { MatrixError, ValueError } from "../../errors/matrix_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";

/** Makes a request of the engine. */
export type RequestSender = (request: EngineRequest, signal: AbortSignal) => Promise<JsonObject>;

/** The operations that requests are made with. */
export type EngineOperations = Pick<
  AllAPI,
  | "uploadKeys"
  | "uploadSignatures"
  | "queryKeys"
  | "claimKeys"
  | "sendToDevice"
  | "sendMessageEvent"
  | "getMessages"
  | "uploadRoomKeys"
  | "getKeyBackupVersion"
  | "getRoomKey"
  | "downloadMedia"
>;

/**
 * How long a server remembers a transaction ID at least, in milliseconds. Synapse forgets it after
 * half an hour.
 */
const TRANSACTION_MEMORY = 20 * 60_000;
/** How many pages of a room's history are searched for an event that may have arrived. */
const MAX_PAGES = 20;
const PAGE_SIZE = 100;

/** Makes the function that makes the engine's requests. */
export function requestSender(api: EngineOperations, clock: Clock): RequestSender {
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
      // Synapse stores device keys even if it refuses the one-time keys that come with them. No
      // server replaces one-time keys: so they go first, and show whether another process uses this
      // device before its device keys are overwritten. The fallback key goes last, so that a server
      // that is set back to before the device keys shows by its absence that it has lost them.
      if (deviceKeys === undefined || oneTimeKeys === undefined) {
        return {
          one_time_key_counts: await api.uploadKeys({ deviceKeys, oneTimeKeys, fallbackKeys, signal }),
        };
      }
      await api.uploadKeys({ oneTimeKeys, signal });
      return { one_time_key_counts: await api.uploadKeys({ deviceKeys, fallbackKeys, signal }) };
    }
    case "signaturesUpload":
      return await api.uploadSignatures(request.signatures, { signal });
    case "keysQuery":
      return await api.queryKeys(request.users, { signal });
    case "keysClaim":
      return await api.claimKeys(request.oneTimeKeys, { signal });
    case "backupUpload":
      return await api.uploadRoomKeys(request.version, request.keys, { signal });
    case "backupDownload":
      return await api.getRoomKey(request.version, request.session, { signal });
    case "backupVersion":
      return await api.getKeyBackupVersion({ signal });
    case "historyBundle":
      return await downloadBundle(api, request.file, signal);
    case "toDevice":
      await api.sendToDevice(request.eventType, request.messages, { txnId: request.txnId, signal });
      return {};
    case "roomEvent": {
      const { roomId, txnId, content, createdAt } = request;
      const age = elapsed(clock.now(), createdAt);
      if (age > TRANSACTION_MEMORY && await hasArrived(api, request, { age, signal })) return {};
      // The same bytes that were encrypted then: if they have arrived after all, readers see a
      // repetition.
      await api.sendMessageEvent(roomId, "m.room.encrypted", content, { txnId, signal });
      return {};
    }
  }
}

/**
 * Returns whether an event is in the room's history, back to the time at which it was encrypted, if that is
 * known.
 */
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
    const oldest = chunk.at(-1)?.origin_server_ts; // a page can be empty without being the last
    if (end === undefined || end === from || (oldest !== undefined && oldest < since)) return false;
    from = end;
  }
  return false;
}

/** The largest file, in bytes: 50,000 keys. */
const MAX_SIZE = 32 * 2 ** 20;

/** How often it is downloaded, if what comes is not what was sent: a proxy may have cut it off. */
const MAX_TRIES = 3;

/** Downloads and decrypts it; what is no such file, or too large, has nothing in it. */
async function downloadBundle(
  api: Pick<AllAPI, "downloadMedia">,
  file: EncryptedFile,
  signal: AbortSignal,
): Promise<JsonObject> {
  for (let tries = 1;; tries++) {
    try {
      return parseObject(await api.downloadMedia(file, { maxSize: MAX_SIZE, signal })) ?? {};
    } catch (error) {
      if (error instanceof AttachmentError && error.problem === "hash" && tries < MAX_TRIES) continue;
      if (error instanceof AttachmentError || error instanceof ServiceResponseError) return {};
      throw error;
    }
  }
}

const EXISTS = /already exists/i;
/** How a server refuses what is in a request. */
const REFUSED = 400;

/** Returns whether a failure may be due to the request, and not to the token or to how many there are. */
export function isDueToRequest(status: number): boolean {
  return status >= 400 && status !== 401 && status !== 429;
}

/** Puts the failure of a request into the words of the engine. */
export function failureOf(error: unknown): RequestFailure {
  if (error instanceof MatrixRequestError) {
    const { errcode, message, body } = error;
    // Whose device is gone is refused whatever is asked, as without a token.
    const status = error instanceof UnknownDeviceError ? 401 : error.status;
    // Dendrite says of a key that it "already exists" not in `error`, but by user and device.
    const exists = !EXISTS.test(message) && EXISTS.test(JSON.stringify(body) ?? "");
    return { status, errcode, message: exists ? `${message}: a key already exists` : message };
  }
  const message = error instanceof MatrixError ? error.message : "the request could not be made";
  // What is not sent for what is in it (a user whom no server can have) is refused each time.
  return { status: error instanceof ValueError ? REFUSED : 0, errcode: undefined, message };
}
