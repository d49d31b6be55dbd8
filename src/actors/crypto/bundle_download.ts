/**
 * Downloads the history that an inviter shares.
 *
 * @module
 */

import type { ClientAPI } from "../../api/api.ts";
import { type JsonObject, parseObject } from "../../types/json.ts";
import { AttachmentError } from "../../errors/encryption_error.ts";
import { ServiceResponseError } from "../../errors/service_response_error.ts";
import type { EncryptedFile } from "../../types/content/file_info.ts";

/** The largest file, in bytes: 50,000 keys. */
const MAX_SIZE = 32 * 2 ** 20;

/** How often it is downloaded, if what comes is not what was sent: a proxy may have cut it off. */
const MAX_TRIES = 3;

/** Downloads and decrypts it; what is no such file, or too large, has nothing in it. */
export async function downloadBundle(
  api: Pick<ClientAPI, "downloadMedia">,
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
