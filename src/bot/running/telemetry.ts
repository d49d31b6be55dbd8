/**
 * Spans and metrics of what a bot handles, for OpenTelemetry. Nothing is loaded before an SDK has
 * been registered.
 *
 * @module
 */

import type { HandledUpdate } from "./observe.ts";

/** Where OpenTelemetry's API stores what an SDK has registered: part of its contract. */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** Whether somebody wants to know what is handled. */
export function isObserved(): boolean {
  return (globalThis as Record<symbol, unknown>)[REGISTERED] !== undefined;
}

/** Does work as a span, and counts it. */
export async function observed<Result>(
  update: HandledUpdate,
  now: () => number,
  work: () => Promise<Result>,
): Promise<Result> {
  const { observe } = await import("./observe.ts");
  return await observe(update, now, work);
}
