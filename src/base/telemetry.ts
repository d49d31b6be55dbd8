/**
 * Spans and metrics of what a client does, for OpenTelemetry. Loaded when an SDK has been registered: to load
 * its API takes as long as half of Greenroom.
 *
 * @module
 */

import {
  type Attributes,
  type Context,
  context,
  metrics,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";

import type { Clock } from "./clock.ts";

const NAME = "@greenroom/matrix";

/** How a span is begun. */
interface SpanOptions {
  /** `CLIENT` for a request, `CONSUMER` for what was received, else `INTERNAL`. */
  readonly kind: keyof typeof SpanKind;
  readonly attributes?: Attributes;
}

/** The place of a span in its trace, as plain data that an actor can be sent. */
export interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

/** Begins a span, by default in the one that the caller is in. */
export function beginSpan(name: string, { kind, attributes }: SpanOptions, parent?: Context): Span {
  return trace.getTracer(NAME).startSpan(name, { kind: SpanKind[kind], attributes }, parent);
}

/** Begins a span that is in no other. */
export function beginTrace(name: string, options: SpanOptions): Span {
  return beginSpan(name, options, ROOT_CONTEXT);
}

/** Begins a span in another. */
export function beginChild(parent: Span, name: string): Span {
  return beginSpan(name, { kind: "INTERNAL" }, trace.setSpan(ROOT_CONTEXT, parent));
}

/** Does something in a span, which ends with it. What is begun there is in the span, too. */
export function within<Result>(span: Span, work: () => Result): Result {
  const ended = (error?: unknown) => {
    if (error !== undefined) failed(span, error);
    span.end();
  };
  return followed(() => context.with(trace.setSpan(context.active(), span), work), ended);
}

/** Notes in a span that it has failed. */
export function failed(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute("error.type", errorType(error));
}

/** Returns the kind of an error: its code, or else its name. */
export function errorType(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = error as { readonly code?: unknown };
  return typeof code === "string" ? code : error.name;
}

/** Counts something of a client. */
export function count(metric: "retries" | "undecryptable", number: number, attributes: Attributes): void {
  metrics.getMeter(NAME).createCounter(`greenroom.client.${metric}`).add(number, attributes);
}

/** Does something as part of a span that was begun elsewhere. */
export function inTrace<Result>(parent: TraceParent, work: () => Result): Result {
  return context.with(trace.setSpanContext(ROOT_CONTEXT, parent), work);
}

/** An event that is handled. */
interface Handled {
  /** By what: a handler, or the functions of a bot. */
  readonly by: "client" | "bot";
  /** The type that it is handled as; `*`: any. */
  readonly type: string;
  /** What it is. */
  readonly data: object;
  /** Measures how old it is, and how long that takes. */
  readonly clock: Clock;
}

/**
 * Handles an event as a span, and measures that: `greenroom.client.*` and `greenroom.bot.*` are the metrics `lag`,
 * `running` and `duration`; of a bot also `updates`, which counts events.
 */
export function handled<Result>({ by, type, data, clock }: Handled, work: () => Result): Result {
  const meter = metrics.getMeter(NAME); // an SDK may be registered, or replaced, at any time
  const seconds = (metric: string, from: number, attributes: Attributes): void =>
    meter.createHistogram(`greenroom.${by}.${metric}`, { unit: "s" })
      .record(Math.max(0, clock.now() - from) / 1_000, attributes);
  const running = meter.createUpDownCounter(`greenroom.${by}.running`);
  const began = clock.now();
  const { type: ownType = type, origin_server_ts: sentAt }: { type?: string; origin_server_ts?: number } =
    data;
  if (sentAt !== undefined) seconds("lag", sentAt, { type });
  running.add(1);
  const eventType = by === "bot" ? type : ownType;
  const attributes = { "greenroom.event.type": eventType };
  const name = by === "bot" ? `bot ${type}` : `matrix handle ${type}`;
  const span = beginSpan(name, { kind: "CONSUMER", attributes });
  return followed(() => within(span, work), (error) => {
    running.add(-1);
    const outcome = error === undefined ? "ok" : "error";
    if (by === "bot") meter.createCounter("greenroom.bot.updates").add(1, { type, outcome });
    seconds("duration", began, { type, outcome });
  });
}

/** Does something, and calls back when it has ended, with what it threw. */
function followed<Result>(work: () => Result, ended: (error?: unknown) => void): Result {
  try {
    const result = work();
    if (result instanceof Promise) result.then(() => ended(), (error) => ended(error ?? "nothing"));
    else ended();
    return result;
  } catch (error) {
    ended(error ?? "nothing");
    throw error;
  }
}
