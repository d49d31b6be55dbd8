/**
 * How events that are decrypted are handed out.
 *
 * @module
 */

/** Has events handed out that are to be handled: each once, whatever the server shows. */
export interface HandingOut {
  /** Whether what was handed out in earlier steps has been handled, so that it is not to be once more. */
  readonly handledBefore: boolean;
  /** Where those of the events are put, by their index, that are not to be handled: they were handed out before. */
  readonly again: Set<number>;
}
