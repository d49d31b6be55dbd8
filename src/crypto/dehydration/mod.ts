/**
 * Dehydrated devices.
 *
 * @module
 */

export { Dehydration } from "./dehydration.ts";
export type {
  DehydrationState,
  ReadingOutcome,
  ReadingState,
  RehydratedOutput,
  RehydratedPage,
} from "./dehydration_protocol.ts";
export { PICKLE_KEY_SECRETS } from "./new_device.ts";
