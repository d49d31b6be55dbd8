/**
 * Others' words in our messages.
 *
 * @module
 */

/** Control and format characters, tags, line and paragraph separators, halves of characters. */
export const UNSHOWN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu;
/** Longer texts are cut off. */
const MAX_TEXT = 500;

/**
 * Others' words, made fit for a message: short, and without characters that move a terminal's
 * cursor, turn the direction of what follows, or are not shown.
 */
export function printable(text: string, maxLength: number = MAX_TEXT): string {
  return text.slice(0, maxLength).replace(UNSHOWN, " ");
}
