/**
 * The dehydrated device, loaded when it is used.
 *
 * @module
 */

import type { DehydrationMachine, DehydrationOutcome } from "./dehydration.ts";
import { elapsed } from "../../base/clock.ts";
import type { DehydrationParts } from "./dehydration_parts.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Makes it. What it is made of is loaded with the first call. */
export function lazyDehydration(parts: DehydrationParts): DehydrationMachine {
  const { clock } = parts;
  let last: { readonly at: number; readonly outcome: DehydrationOutcome } | undefined;
  return {
    get isDue() {
      return last !== undefined && elapsed(clock.now(), last.at) >= (last.outcome === "failed" ? HOUR : DAY);
    },
    async ensure(identity, open) {
      const { ensureDehydrated } = await import("./ensure_dehydrated.ts");
      last = { at: clock.now(), outcome: "failed" };
      const outcome = await ensureDehydrated(parts, { identity, open });
      last = { at: clock.now(), outcome };
      return outcome;
    },
  };
}
