/**
 * To-device messages in a sync response.
 *
 * @module
 */

import type { JsonObject } from "../../types/json.ts";
import type { SyncJob } from "./sync_job.ts";

/** How many messages one response carries at most. */
const PORTION = 100;

/** The messages of a response and the position of the last one. */
export interface Portion {
  /** The messages. */
  readonly events: JsonObject[];
  /** The position of the last of them, or of the end of the stream if none is left. */
  readonly position: number;
}

/** Deletes what the client has acknowledged by its token, and returns what comes next. */
export function toDeviceOf({ device, since, until }: SyncJob): Portion {
  if (since !== undefined) device.inbox = device.inbox.filter(({ position }) => position > since.toDevice);
  const portion = device.inbox.slice(0, PORTION);
  const last = portion.at(-1);
  const position = device.inbox.length > portion.length && last !== undefined ? last.position : until;
  return { events: portion.map(({ event }) => event), position };
}
