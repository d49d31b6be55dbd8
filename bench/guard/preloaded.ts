/**
 * Contestants that load something before themselves.
 *
 * @module
 */

import type { Entrant } from "../peers/entrants.ts";

/** A contestant that loads a file of this folder first. */
export function preloaded(
  { args: [command = "run", ...args], env, ...rest }: Entrant,
  file: string,
  more: Record<string, string> = {},
): Entrant {
  const preload = `--preload=${import.meta.dirname}/${file}`;
  return { ...rest, args: [command, preload, ...args], env: { ...env, ...more } };
}
