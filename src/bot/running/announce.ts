/**
 * What a bot says of itself where it was started, as its client's warnings are said.
 *
 * @module
 */

import { type Clock, consoleLogger, type Logger } from "../../../mod.ts";

/**
 * Makes what says something.
 *
 * @param log The application's logger; undefined: the console; `false`: nobody.
 * @param clock Says when.
 */
export function announcer(
  log: Logger | false | undefined,
  clock: Clock,
): (message: string, data: Readonly<Record<string, string>>) => void {
  if (log === false) return () => {};
  const logger = log ?? consoleLogger({ clock });
  return (message, data) =>
    logger.info(message, Object.fromEntries(Object.entries(data).filter(([, value]) => value !== "")));
}
