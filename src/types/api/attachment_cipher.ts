/**
 * What encrypts and decrypts files, as the operations on media see it.
 *
 * @see {@link https://spec.matrix.org/v1.16/client-server-api/#sending-encrypted-attachments | Encrypted attachments}
 * @module
 */

import type { EncryptedFile } from "../content/file_info.ts";

/** What decrypts a file: all that a message says of it but where it is. */
export type EncryptedFileSecrets = Omit<EncryptedFile, "url">;

/** A file that is being encrypted. */
export interface EncryptedAttachment {
  /**
   * The encrypted bytes, as many as there are in clear. It must be read to its end or cancelled.
   */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  /**
   * What decrypts the file.
   *
   * @throws {EncryptionError} If the stream has not been read to its end: until then the hash is
   *   not known.
   */
  secrets(): EncryptedFileSecrets;
}

/** How an encrypted file is buffered: all of it must arrive before any of it may be used. */
export interface BufferOptions {
  /** The most to take, in bytes. Default: 1 GiB. */
  readonly maxSize?: number;
  /**
   * How much is buffered in memory, in bytes; a larger file goes, encrypted, into a temporary file.
   * Default: 64 MiB.
   */
  readonly maxMemory?: number;
}

/** Encrypts and decrypts files. */
export interface AttachmentCipher {
  /**
   * Encrypts a file with a new key.
   *
   * @param data The file; a stream is used up.
   */
  encrypt(data: Uint8Array | ReadableStream<Uint8Array>): EncryptedAttachment;
  /**
   * Checks what a message says of a file, but for where it is.
   *
   * @throws {AttachmentError} If the file can't be decrypted with it.
   */
  check(file: unknown): void;
  /**
   * Decrypts a file in place.
   *
   * @param data The encrypted bytes; decrypted afterwards.
   * @param file What decrypts it.
   * @throws {AttachmentError} If it is not the file that was sent; nothing is decrypted then.
   */
  decrypt(data: Uint8Array<ArrayBuffer>, file: EncryptedFileSecrets): Promise<void>;
  /**
   * Decrypts a file that comes as a stream. Reads when the result is read, and yields nothing
   * before it has read all.
   *
   * @param data The encrypted bytes; used up.
   * @param file What decrypts it.
   * @param options How it is buffered.
   * @returns The file, or a stream that fails with an {@linkcode AttachmentError}. It must be read
   *   to its end or cancelled.
   * @throws {AttachmentError} If what the message says of the file can't be used.
   */
  decryptStream(
    data: ReadableStream<Uint8Array>,
    file: EncryptedFileSecrets,
    options?: BufferOptions,
  ): ReadableStream<Uint8Array<ArrayBuffer>>;
}
