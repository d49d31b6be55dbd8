/**
 * What all parts share that make requests: messages on their way, waits after failures, and rate limits.
 *
 * @module
 */

export {
  type DeviceMessages,
  type FailureOutput,
  halves,
  isDivisible,
  isRefusal,
  Outbox,
  type OutboxEntry,
  RefusedMessages,
  type RequestFailure,
} from "./outbox.ts";
export { LoneFailures, RateLimit, Retries, type ServerSigns } from "./retries.ts";
