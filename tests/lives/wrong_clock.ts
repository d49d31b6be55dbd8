/**
 * A clock that a test sets wrong.
 *
 * @module
 */

import type { Clock } from "@greenroom/matrix";
import { systemClock } from "../../src/base/clock.ts";

/** The machine's clock, which is wrong by an offset; waits take as long as they should. */
export class WrongClock implements Clock {
  /** How far it is ahead, in milliseconds. */
  offset = 0;

  now(): number {
    return systemClock.now() + this.offset;
  }

  readonly delay: Clock["delay"] = systemClock.delay;
}
