/** For handlers that have no sessions, and send nothing. */

import type { DelivererOptions } from "../../../src/actors/dispatcher/deliver.ts";
import { SendIds } from "../../../src/actors/dispatcher/dispatcher.ts";
import { answeredBy } from "../../support/answered_by.ts";

const nothing = () => Promise.reject(new TypeError("nothing is kept here"));

/** Runs nothing. */
export const NOTHING_KEPT: DelivererOptions = {
  sessions: { run: nothing, update: nothing },
  sendIds: new SendIds({ store: answeredBy(nothing), ready: nothing }),
  isOver: () => false,
};
