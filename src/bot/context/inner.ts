/**
 * What the kit alone calls of a context: named by symbols, so that no editor offers it.
 *
 * @module
 */

/** The command that the message is. */
export const COMMAND: unique symbol = Symbol("command");
/** Calls the function of the command. */
export const CALL: unique symbol = Symbol("call");
/** Tells the user that the command has failed. */
export const SAY_FAILED: unique symbol = Symbol("sayFailed");
/** Says the text of a reminder. */
export const REMIND: unique symbol = Symbol("remind");
