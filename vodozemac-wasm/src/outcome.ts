/** One of several results. */

import type { VodozemacError } from "./error.ts";

/** What became of one message of a batch. */
export type Outcome<T> =
  | {
    /** It worked. */
    readonly ok: true;
    /** The result. */
    readonly value: T;
  }
  | {
    /** It failed, and changed nothing. */
    readonly ok: false;
    /** Why. */
    readonly error: VodozemacError;
  };
