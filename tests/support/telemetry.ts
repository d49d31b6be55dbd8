/**
 * An OpenTelemetry SDK that keeps what a client reports.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import {
  type Attributes,
  type Context,
  context,
  type ContextManager,
  metrics,
  ROOT_CONTEXT,
  trace,
} from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** What was reported. */
export interface Telemetry extends AsyncDisposable {
  /** The spans that have ended. */
  readonly spans: readonly ReadableSpan[];
  /** What was added to counters and recorded by histograms. */
  readonly measured: readonly {
    readonly name: string;
    readonly value: number;
    readonly attributes: Attributes;
  }[];
  /** The names of a span and of those that it is in, from the outermost. */
  way(span: ReadableSpan): string[];
}

/** Registers an SDK until it is disposed of. */
export function recordedTelemetry(): Telemetry {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const active = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => active.getStore() ?? ROOT_CONTEXT,
    with: (given, work, self, ...args) => active.run(given, () => work.apply(self, args)),
    bind: (_, work) => work,
    enable: () => manager,
    disable: () => manager,
  };
  const measured: { name: string; value: number; attributes: Attributes }[] = [];
  const instrument = (name: string) => {
    const note = (value: number, attributes: Attributes = {}) =>
      void measured.push({ name, value, attributes });
    return { add: note, record: note };
  };
  const meter = { createUpDownCounter: instrument, createCounter: instrument, createHistogram: instrument };
  context.setGlobalContextManager(manager);
  trace.setGlobalTracerProvider(provider);
  metrics.setGlobalMeterProvider({ getMeter: () => meter as never });
  const telemetry = {
    get spans() {
      return exporter.getFinishedSpans();
    },
    measured,
    way(span: ReadableSpan): string[] {
      const parent = telemetry.spans.find((other) =>
        other.spanContext().spanId === span.parentSpanContext?.spanId
      );
      return [...parent === undefined ? [] : telemetry.way(parent), span.name];
    },
    async [Symbol.asyncDispose]() {
      trace.disable();
      metrics.disable();
      context.disable();
      await provider.forceFlush(); // the exporter answers later than it exports
      await provider.shutdown();
    },
  };
  return telemetry;
}
