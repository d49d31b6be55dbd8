/** Two digits by which people confirm a channel. */

import type { Reader } from "./reader.ts";

/** The check code of a channel: one side shows it, the person types it at the other. */
export interface CheckCode {
  /** Its two bytes. */
  readonly bytes: Uint8Array;
  /** As two digits, from 0 to 99. */
  readonly digits: number;
  /** As two digits of which the first is not zero, from 10 to 99. */
  readonly digitsWithoutLeadingZero: number;
}

/** Reads a check code from an answer. */
export function readCheckCode(answer: Reader): CheckCode {
  const bytes = answer.bytes(2).slice();
  const [digits = 0, digitsWithoutLeadingZero = 0] = answer.bytes(2);
  return { bytes, digits, digitsWithoutLeadingZero };
}
