/**
 * Whether anybody traces: the same for all that loads OpenTelemetry's API only then.
 *
 * @module
 */

/** Where OpenTelemetry's API stores what an SDK has registered: part of its contract. */
export const REGISTERED = Symbol.for("opentelemetry.js.api.1");
