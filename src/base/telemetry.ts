/**
 * Spans and metrics of what a client does, for OpenTelemetry. Loaded when an SDK has been registered. Of its
 * API only the types are used: what an SDK registers is called as it is, so that no bot loads a library for
 * what it does not do, and any version of the API may have registered it.
 *
 * @module
 */

import type {
  Attributes,
  Context,
  ContextManager,
  MeterProvider,
  Span,
  SpanContext,
  TracerProvider,
} from "@opentelemetry/api";

import type { Clock } from "./clock.ts";
import { REGISTERED } from "./tracing.ts";

const NAME = "@greenroom/matrix";
const SpanKind = { INTERNAL: 0, SERVER: 1, CLIENT: 2, PRODUCER: 3, CONSUMER: 4 } as const;
const ERROR = 2;
/** Where a context has its span. */
const SPAN = Symbol.for("OpenTelemetry Context Key SPAN");

/** What an SDK has registered. */
interface Registered {
  readonly trace?: TracerProvider;
  readonly metrics?: MeterProvider;
  readonly context?: ContextManager;
}

function registered(): Registered {
  return (globalThis as { readonly [REGISTERED]?: Registered })[REGISTERED] ?? {};
}

/** A context with one value more than another. */
class InnerContext implements Context {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown>) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): Context {
    return new InnerContext(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): Context {
    return new InnerContext(new Map([...this.#values].filter(([name]) => name !== key)));
  }
}

const ROOT_CONTEXT: Context = new InnerContext(new Map());

function nothing(): void {}

/** A meter for who wants no metrics. */
const NO_METER = {
  createCounter: () => ({ add: nothing }),
  createUpDownCounter: () => ({ add: nothing }),
  createHistogram: () => ({ record: nothing }),
};

/** The meter of now: an SDK may be registered, or replaced, at any time. */
function meterOf(): ReturnType<MeterProvider["getMeter"]> | typeof NO_METER {
  return registered().metrics?.getMeter(NAME) ?? NO_METER;
}

/** A span that records nothing, in its place of a trace. */
function silentSpan(place: SpanContext): Span {
  const span: Span = {
    spanContext: () => place,
    isRecording: () => false,
    end: nothing,
    recordException: nothing,
    setAttribute: () => span,
    setAttributes: () => span,
    setStatus: () => span,
    updateName: () => span,
    addEvent: () => span,
    addLink: () => span,
    addLinks: () => span,
  };
  return span;
}

const NO_SPAN = silentSpan({ traceId: "0".repeat(32), spanId: "0".repeat(16), traceFlags: 0 });

function active(): Context {
  return registered().context?.active() ?? ROOT_CONTEXT;
}

function inContext<Result>(context: Context, work: () => Result): Result {
  const manager = registered().context;
  return manager === undefined ? work() : manager.with(context, work);
}

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
  const tracer = registered().trace?.getTracer(NAME);
  return tracer?.startSpan(name, { kind: SpanKind[kind], attributes }, parent ?? active()) ?? NO_SPAN;
}

/** Begins a span that is in no other. */
export function beginTrace(name: string, options: SpanOptions): Span {
  return beginSpan(name, options, ROOT_CONTEXT);
}

/** Begins a span in another. */
export function beginChild(parent: Span, name: string): Span {
  return beginSpan(name, { kind: "INTERNAL" }, ROOT_CONTEXT.setValue(SPAN, parent));
}

/** Does something in a span, which ends with it. What is begun there is in the span, too. */
export function within<Result>(span: Span, work: () => Result): Result {
  const ended = (error?: unknown) => {
    if (error !== undefined) failed(span, error);
    span.end();
  };
  return followed(() => inContext(active().setValue(SPAN, span), work), ended);
}

/** Notes in a span that it has failed. */
export function failed(span: Span, error: unknown): void {
  span.setStatus({ code: ERROR });
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
  meterOf().createCounter(`greenroom.client.${metric}`).add(number, attributes);
}

/** Does something as part of a span that was begun elsewhere. */
export function inTrace<Result>(parent: TraceParent, work: () => Result): Result {
  return inContext(ROOT_CONTEXT.setValue(SPAN, silentSpan(parent)), work);
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
 * Handles an event as a span, and measures that: `greenroom.client.*` and `greenroom.bot.*` are the metrics
 * `lag`, `running` and `duration`; of a bot also `updates`, which counts events.
 */
export function handled<Result>({ by, type, data, clock }: Handled, work: () => Result): Result {
  const meter = meterOf();
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
