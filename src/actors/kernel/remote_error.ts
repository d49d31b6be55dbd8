/**
 * An error of the far side of a port, of a class this side does not know how to rebuild.
 *
 * @module
 */

import { MatrixError } from "../../errors/matrix_error.ts";

/** What {@link RemoteError} is made of. */
export interface RemoteErrorInit {
  /** The name of the error's class there. */
  name: string;
  /** The code it had there; `REMOTE_ERROR` if it had none. */
  code?: string;
  /** Its own properties, as far as they were plain data. */
  data?: Readonly<Record<string, unknown>>;
  /** What led to it. */
  cause?: unknown;
}

/** Something failed on the far side of a port; name, code, message and cause are those of the error there. */
export class RemoteError extends MatrixError {
  /** The name of the error's class on the far side. */
  override readonly name: string;
  /** The code it had there; `REMOTE_ERROR` if it had none. */
  override readonly code: string;
  /** The properties it had there, as far as they were plain data. Data from outside: look before you use it. */
  readonly data: Readonly<Record<string, unknown>>;

  /**
   * Puts the error together on this side.
   *
   * @param message The message it had there.
   * @param init The rest of it.
   */
  constructor(message: string, init: RemoteErrorInit) {
    super(message, init.cause === undefined ? undefined : { cause: init.cause });
    this.name = init.name;
    this.code = init.code ?? "REMOTE_ERROR";
    this.data = init.data ?? {};
  }
}
