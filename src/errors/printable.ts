/**
 * Others' words in our messages.
 *
 * @module
 */

/** Longer texts are cut off. */
const MAX_TEXT = 500;

/**
 * Others' words, made fit for a message: short, and without characters that move a terminal's
 * cursor.
 */
export function printable(text: string, maxLength: number = MAX_TEXT): string {
  // deno-lint-ignore no-control-regex -- control characters are what is taken out
  return text.slice(0, maxLength).replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}
