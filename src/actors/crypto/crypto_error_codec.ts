/**
 * The errors of encryption on their way through a port, so that the Crypto actor can live in a Worker.
 *
 * @module
 */

import { revivedVodozemacError } from "../../crypto/engine/revived_error.ts";
import {
  AttachmentError,
  type AttachmentProblem,
  DecryptionError,
  DeviceConflictError,
  EncryptionError,
} from "../../errors/crypto_error.ts";
import {
  EventTooLargeError,
  IdentityChangedError,
  UnsupportedAlgorithmError,
} from "../../errors/encryption_errors.ts";
import { ValueError } from "../../errors/value_error.ts";
import type { UserID } from "../../types/ids.ts";
import { type ErrorCodec, errorCodec, type ErrorReviver } from "../kernel/wire_error.ts";

type ErrorClass = new (message: string, options?: ErrorOptions) => Error;

const PROBLEMS: readonly AttachmentProblem[] = ["file", "hash", "size", "storage"];

const REVIVERS: Readonly<Record<string, ErrorReviver>> = {
  EncryptionError: as(EncryptionError),
  MessageAtFault: as(EncryptionError), // the engine's own, which nobody outside knows; the next is too
  DamagedAccountError: as(EncryptionError),
  DeviceConflictError: as(DeviceConflictError),
  UnsupportedAlgorithmError: as(UnsupportedAlgorithmError),
  EventTooLargeError: as(EventTooLargeError),
  DecryptionError: as(DecryptionError),
  ValueError: as(ValueError),
  IdentityChangedError({ message, data }, cause) {
    const users = data?.users;
    return Array.isArray(users) && users.every(isUserId)
      ? new IdentityChangedError(message, { users, ...optionsOf(cause) })
      : undefined;
  },
  AttachmentError({ message, data }, cause) {
    const problem = PROBLEMS.find((known) => known === data?.problem);
    return problem && new AttachmentError(message, { problem, ...optionsOf(cause) });
  },
  VodozemacError: revivedVodozemacError,
};

/**
 * Makes the codec for both sides of a port that the Crypto actor is behind: what it throws comes out as what it was.
 *
 * @example
 * ```ts ignore
 * const crypto = portRef<CryptoProtocol>(worker, { name: "crypto", codec: cryptoErrorCodec() });
 * ```
 */
export function cryptoErrorCodec(): ErrorCodec {
  return errorCodec(REVIVERS);
}

function as(type: ErrorClass): ErrorReviver {
  return ({ message }, cause) => new type(message, optionsOf(cause));
}

function optionsOf(cause: Error | undefined): ErrorOptions {
  return cause === undefined ? {} : { cause };
}

function isUserId(value: unknown): value is UserID {
  return typeof value === "string" && value.startsWith("@");
}
