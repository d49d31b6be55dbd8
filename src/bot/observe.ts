/**
 * What a bot reports to OpenTelemetry.
 *
 * - The span `bot <type>` is one event; requests that handlers make are in it.
 * - `greenroom.bot.updates` counts events, by `type` and `outcome` (`ok`, `error`).
 * - `greenroom.bot.duration` is how long they took, `greenroom.bot.lag` how old they were before, in
 *   seconds; `greenroom.bot.running` is how many are being handled.
 *
 * @module
 */

import { context, metrics, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";

const NAME = "@greenroom/matrix";

/** What is known of an update that is handled. */
export interface HandledUpdate {
  /** The type of the event. */
  readonly type: string;
  /** When it was sent, in milliseconds since the epoch; undefined: it does not say. */
  readonly sentAt: number | undefined;
}

/** Does work as a span, and counts it. */
export async function observe<Result>(
  { type, sentAt }: HandledUpdate,
  now: () => number,
  work: () => Promise<Result>,
): Promise<Result> {
  const meter = metrics.getMeter(NAME); // an SDK may be registered, or replaced, at any time
  const running = meter.createUpDownCounter("greenroom.bot.running");
  const span = trace.getTracer(NAME).startSpan(`bot ${type}`, {
    kind: SpanKind.CONSUMER,
    attributes: { "greenroom.event.type": type },
  });
  const began = now();
  if (sentAt !== undefined) {
    meter.createHistogram("greenroom.bot.lag", { unit: "s" }).record(Math.max(0, began - sentAt) / 1_000, {
      type,
    });
  }
  running.add(1);
  let outcome = "ok";
  try {
    return await context.with(trace.setSpan(context.active(), span), work);
  } catch (error) {
    outcome = "error";
    span.setStatus({ code: SpanStatusCode.ERROR });
    span.setAttribute("error.type", error instanceof Error ? error.name : "unknown");
    throw error;
  } finally {
    running.add(-1);
    meter.createCounter("greenroom.bot.updates").add(1, { type, outcome });
    meter.createHistogram("greenroom.bot.duration", { unit: "s" }).record((now() - began) / 1_000, { type });
    span.end();
  }
}
