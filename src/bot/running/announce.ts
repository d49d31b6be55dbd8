/**
 * What a bot says of itself where it was started: a line for a person on a terminal, as its client's
 * warnings are; a line of JSON for a machine elsewhere.
 *
 * @module
 */

import type { Clock, Logger } from "../../../mod.ts";

/**
 * Makes what says something.
 *
 * @param log The application's logger, which gets it in place of the terminal; `false`: nobody.
 * @param clock Says when.
 * @param isTerminal Whether a person reads it. Default: if there is a terminal.
 */
export function announcer(
  log: Logger | false | undefined,
  clock: Clock,
  isTerminal: () => boolean = () => Deno.stdout.isTerminal(),
): (message: string, data: Readonly<Record<string, string>>) => void {
  if (log === false) return () => {};
  if (log !== undefined) return (message, data) => log.info(message, { ...data });
  return (message, data) => {
    const details = Object.entries(data).filter(([, value]) => value !== "");
    const beside = details.length === 0 ? "" : ` (${details.map((each) => each.join(": ")).join(", ")})`;
    const line = isTerminal()
      ? `[greenroom] info: ${message}${beside}`
      : JSON.stringify({ time: new Date(clock.now()).toISOString(), level: "info", message, ...data });
    // deno-lint-ignore greenroom/no-console -- a bot is a program, and this is what it says
    console.log(line);
  };
}
