/**
 * What a bot says of itself where it was started: a line for a person on a terminal, a line of JSON
 * for a machine elsewhere.
 *
 * @module
 */

import type { Clock, Logger } from "../../../mod.ts";

/**
 * Makes what says something.
 *
 * @param log The application's logger, which gets it in place of the terminal; `false`: nobody.
 * @param clock Says when.
 */
export function announcer(
  log: Logger | false | undefined,
  clock: Clock,
): (message: string, data: Readonly<Record<string, string>>) => void {
  if (log === false) return () => {};
  if (log !== undefined) return (message, data) => log.info(message, { ...data });
  return (message, data) => {
    const time = new Date(clock.now()).toISOString();
    const details = Object.values(data).filter((value) => value !== "").join(", ");
    const line = Deno.stdout.isTerminal()
      ? `${time.slice(11, 19)} ${message}${details === "" ? "" : ` (${details})`}`
      : JSON.stringify({ time, level: "info", message, ...data });
    // deno-lint-ignore greenroom/no-console -- a bot is a program, and this is what it says
    console.log(line);
  };
}
