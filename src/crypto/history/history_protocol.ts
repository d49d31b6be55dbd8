/**
 * What the engine asks for about history that inviters share.
 *
 * @module
 */

import type { EncryptedFile } from "../../types/content/file_info.ts";

/** A request for a file of room keys. */
export interface BundleRequest {
  /** Its unique ID. */
  readonly id: string;
  /** A file is downloaded, and decrypted. */
  readonly kind: "historyBundle";
  /** The file. */
  readonly file: EncryptedFile;
}
