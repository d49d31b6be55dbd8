/**
 * Encrypted files, as the operations on media use them; and what stands where nothing encrypts
 * files.
 *
 * @module
 */

import { DecryptionError, EncryptionError } from "../../errors/encryption_error.ts";
import type { AttachmentCipher, EncryptedFile } from "../../types/content/file_info.ts";
import { parseContentUri } from "../../types/identifiers.ts";

function refuse(): never {
  throw new DecryptionError("Cannot decrypt the file: nothing here decrypts files; hand in a cipher");
}

/** A cipher that refuses everything. */
export const noCipher: AttachmentCipher = {
  encrypt() {
    throw new EncryptionError("Cannot encrypt the file: nothing here encrypts files; hand in a cipher");
  },
  check: refuse,
  decrypt: refuse,
  decryptStream: refuse,
};

/**
 * Checks what a message says of an encrypted file; all of it may be anything.
 *
 * @throws {AttachmentError} If the file can't be decrypted with it.
 * @throws {ValueError} If it is at no content URI.
 */
export function checkFile(cipher: AttachmentCipher, file: EncryptedFile): void {
  cipher.check(file);
  const url: unknown = file.url;
  parseContentUri(typeof url === "string" ? url : "");
}
