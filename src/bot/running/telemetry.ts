/**
 * Spans and metrics of what a bot handles, for OpenTelemetry. Nothing is loaded before an SDK has
 * been registered.
 *
 * @module
 */

import type { HandledUpdate } from "./observe.ts";

/** Where OpenTelemetry's API stores what an SDK has registered: part of its contract. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** Does work as a span, and counts it, if somebody wants to know. */
export async function observed<Result>(
  update: HandledUpdate,
  now: () => number,
  work: () => Promise<Result>,
): Promise<Result> {
  const registered = (globalThis as Record<symbol, unknown>)[REGISTERED];
  if (registered === undefined) return await work();
  const { observe } = await import("./observe.ts");
  return await observe(update, now, work);
}
