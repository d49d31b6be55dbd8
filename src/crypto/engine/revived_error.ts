/**
 * Errors of vodozemac that come from another thread.
 *
 * @module
 */

import { VodozemacError, type VodozemacErrorCode } from "@greenroom/vodozemac-wasm";
import type { JsonObject } from "../../types/json.ts";

/** What came of an error; only the message is sure to be there. */
export interface ErrorParts {
  /** Its message. */
  readonly message: string;
  /** Its code. */
  readonly code?: string;
  /** Its other properties. */
  readonly data?: JsonObject;
}

/**
 * Makes such an error anew.
 *
 * @param parts What came of it.
 * @param cause What led to it.
 * @returns The error; undefined if it is none that vodozemac throws.
 */
export function revivedVodozemacError(
  { message, code, data }: ErrorParts,
  cause: Error | undefined,
): VodozemacError | undefined {
  if (code === undefined) return undefined;
  const details = {
    ...(cause !== undefined && { cause }),
    firstKnownIndex: numberIn(data?.firstKnownIndex),
    messageIndex: numberIn(data?.messageIndex),
  };
  // Whether it is a code that is known shows in the message that the class makes of it.
  const make = (action: string) => new VodozemacError(code as VodozemacErrorCode, action, details);
  const [verb, around] = ["Cannot ".length, make("").message.length];
  const error = make(message.slice(verb, message.length - around + verb));
  return error.message === message ? error : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
