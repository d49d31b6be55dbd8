/**
 * Dehydrated devices.
 *
 * @module
 */

export { Dehydration } from "./dehydration.ts";
export {
  type DehydrationState,
  PICKLE_KEY_SECRETS,
  type ReadingOutcome,
  type ReadingState,
  type RehydratedOutput,
  type RehydratedPage,
} from "./new_device.ts";
