import { assertEquals } from "@std/assert";
import { metrics, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { ValueError } from "@greenroom/matrix";
import { trying } from "./support.ts";

Deno.test("Each event that a bot handles is a span, and is counted with how it went", async () => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const counted: [string, unknown][] = [];
  const instrument = (name: string) => ({
    add: (value: number, attributes?: unknown) => void counted.push([`${name} ${value}`, attributes]),
    record: () => {},
  });
  const meter = {
    createUpDownCounter: instrument,
    createCounter: instrument,
    createHistogram: instrument,
  };
  trace.setGlobalTracerProvider(provider);
  metrics.setGlobalMeterProvider({ getMeter: () => meter as never });
  try {
    await using tester = trying((bot) => {
      bot.command("ping", (c) => c.reply("pong"));
      bot.command("fail", () => Promise.reject(new ValueError("no")));
    });
    const room = await tester.room("alice");
    await room.say("!ping");
    await room.expect("pong");
    await room.say("!fail");
    await room.expect("Sorry, that failed.");
    await tester.settle();
  } finally {
    trace.disable();
    metrics.disable();
  }
  const spans = exporter.getFinishedSpans().filter(({ name }) => name === "bot m.room.message");
  assertEquals(spans.map(({ attributes }) => attributes["error.type"]), [undefined, "ValueError"]);
  const updates = counted.filter(([name, attributes]) =>
    name === "greenroom.bot.updates 1" && (attributes as { type: string }).type === "m.room.message"
  );
  assertEquals(updates.map(([, attributes]) => (attributes as { outcome: string }).outcome), ["ok", "error"]);
});
