/** For handlers that have no sessions, and send nothing. */

import { Deliverer, type HandlerRegistry, SendIds } from "../../../src/actors/dispatcher/dispatcher.ts";
import type { Logger } from "../../../src/base/log.ts";
import { answeredBy } from "../../support/answered_by.ts";

const nothing = () => Promise.reject(new TypeError("nothing is kept here"));

/** Keeps nothing. */
export function forgetfulDeliverer(registry: HandlerRegistry, log: Logger, isOver = () => false): Deliverer {
  const sendIds = new SendIds({ store: answeredBy(nothing), ready: nothing });
  return new Deliverer(registry, log, { run: nothing, update: nothing }, sendIds, isOver);
}
