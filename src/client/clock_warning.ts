/**
 * Says in the log that the clock is wrong: what breaks by it does not say so itself.
 *
 * @module
 */

import { type HTTPAPI, SKEW, wrongBy } from "../api/http/mod.ts";
import type { Logger } from "../base/log.ts";

/**
 * Makes what warns, once, if the clock is not the server's. Whoever answers may say anything, so that
 * nothing else is made of it.
 *
 * @param http Has seen the server's time, or not.
 * @param log Gets the warning.
 */
export function clockWarning(http: Pick<HTTPAPI, typeof SKEW>, log: Logger): () => void {
  let isTold = false;
  return () => {
    const wrong = wrongBy(http[SKEW] ?? 0);
    if (isTold || wrong === undefined) return;
    isTold = true;
    log.warn(
      `The clock of this machine is ${wrong}: what is due at a time, as reminders, comes at a wrong one, and from ` +
        "five minutes on requests to verify a device are ignored; set the clock",
      { skew: http[SKEW] },
    );
  };
}
