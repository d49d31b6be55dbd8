import { assertEquals, assertStrictEquals } from "@std/assert";
import {
  type Context,
  context,
  type ContextManager,
  ROOT_CONTEXT,
  type Span,
  trace,
} from "@opentelemetry/api";
import {
  beginChild,
  beginSpan,
  beginTrace,
  count,
  handled,
  inTrace,
  within,
} from "../../src/base/telemetry.ts";
import { systemClock } from "../../src/base/clock.ts";

/** A tracer that notes in which span each of its spans is begun, as the API reads it. */
function tracing() {
  const begun: [name: string, within: string | undefined][] = [];
  const startSpan = (name: string, _: unknown, parent: Context = ROOT_CONTEXT): Span => {
    begun.push([name, trace.getSpanContext(parent)?.spanId]);
    const span = trace.wrapSpanContext({ traceId: "t", spanId: name, traceFlags: 1 });
    return span;
  };
  trace.setGlobalTracerProvider({ getTracer: () => ({ startSpan }) as never });
  return begun;
}

/** Contexts of a program that does one thing after the other. */
function contexts(): void {
  let now = ROOT_CONTEXT;
  const manager: ContextManager = {
    active: () => now,
    with(given, work, self, ...args) {
      const before = now;
      now = given;
      try {
        return work.apply(self, args);
      } finally {
        now = before;
      }
    },
    bind: (_, work) => work,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager);
}

Deno.test("The API of OpenTelemetry reads which span a span is in", () => {
  const begun = tracing();
  contexts();
  try {
    within(beginTrace("outer", { kind: "INTERNAL" }), () => {
      beginSpan("inner", { kind: "CLIENT" });
      beginTrace("alone", { kind: "INTERNAL" });
      assertEquals(trace.getActiveSpan()?.spanContext().spanId, "outer");
    });
    beginChild(beginTrace("parent", { kind: "INTERNAL" }), "child");
    inTrace({ traceId: "t", spanId: "far", traceFlags: 1 }, () => beginSpan("near", { kind: "CLIENT" }));
    assertEquals(begun, [
      ["outer", undefined],
      ["inner", "outer"],
      ["alone", undefined],
      ["parent", undefined],
      ["child", "parent"],
      ["near", "far"],
    ]);
  } finally {
    trace.disable();
    context.disable();
  }
});

Deno.test("Where an SDK has registered nothing for spans, contexts or metrics, work is done without them", () => {
  const work = () => handled({ by: "bot", type: "m.room.message", data: {}, clock: systemClock }, () => 42);
  const span = beginSpan("one", { kind: "CLIENT" });
  assertStrictEquals(span.setAttribute("a", 1).setStatus({ code: 1 }).addEvent("b"), span);
  assertEquals([span.isRecording(), /^0+$/.test(span.spanContext().traceId)], [false, true]);
  count("retries", 1, {});
  assertEquals(within(span, work), 42);
  tracing();
  try {
    assertEquals(inTrace({ traceId: "t", spanId: "s", traceFlags: 1 }, work), 42);
  } finally {
    trace.disable();
  }
});
