/**
 * A reader of logs and traces: a colleague, a log server, a screen that others see.
 *
 * Attacker: anybody but the user. What must hold: no token, key or text of a message is at any
 * level, in any logger or in any span, though syncs fail with responses that repeat the token,
 * handlers fail, contents are malformed and events can't be decrypted. The class of mistake: a
 * whole value is logged, since it is only a field of it.
 */

import { configure, type LogRecord, reset } from "@logtape/logtape";
import { trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { assert, assertEquals } from "@std/assert";
import type { ClientOptions } from "@greenroom/matrix";
import { Gates, roomWith } from "../../../client/support/hearing.ts";
import { RestartingBot } from "../../../client/support/restarting_bot.ts";
import { type ClientStage, clientStage } from "../../../client/support/stage.ts";
import { printed } from "../../../support/printed.ts";
import { type Conversation, conversation } from "../conversation.ts";
import { Planted, seen } from "../planted.ts";

/** What a logger received during a conversation. */
type Listening = (
  stage: ClientStage,
  talk: (options: Partial<ClientOptions>) => Promise<Conversation>,
) => Promise<string[]>;

const loggers: Record<string, Listening> = {
  async "a logger of one's own"(stage, talk) {
    await talk({});
    return stage.log.lines.map(seen);
  },
  async LogTape(_, talk) {
    const records: LogRecord[] = [];
    await configure({
      sinks: { memory: (record) => void records.push(record) },
      loggers: [
        { category: "greenroom", sinks: ["memory"], lowestLevel: "trace" },
        { category: ["logtape", "meta"], lowestLevel: "error" },
      ],
    });
    try {
      await talk({ log: undefined });
    } finally {
      await reset();
    }
    return records.map(seen);
  },
  async "the console"(_, talk) {
    using console = printed();
    await talk({ log: undefined });
    return console.lines;
  },
};

for (const [name, listening] of Object.entries(loggers)) {
  Deno.test(`T105: no secret is in the log of ${name}, in a span or in a report`, async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    trace.setGlobalTracerProvider(provider);
    await using stage = clientStage();
    let talked: Conversation | undefined;
    try {
      const lines = await listening(
        stage,
        async (options) => talked = await conversation(stage, { options }),
      );
      assert(lines.length >= 3, `only ${lines.length} lines`);
      const spans = exporter.getFinishedSpans();
      assert(spans.length > 50, `only ${spans.length} spans`);
      const told = [
        ...lines,
        ...talked?.errors.map(seen) ?? [],
        ...spans.map(({ name, attributes, events, links, status, resource }) =>
          seen([name, attributes, events, links, status, resource.attributes])
        ),
      ].join("\n");
      assertEquals(talked?.keys.leaksIn(told), []);
      assertEquals(talked?.words.leaksIn(told), []);
    } finally {
      trace.disable();
      await provider.forceFlush();
      await provider.shutdown();
    }
  });
}

Deno.test("T105: the log has no content of a quarantined event", async () => {
  await using stage = clientStage();
  using gates = new Gates();
  const words = new Planted();
  const text = words.text("what ends it");
  const told: unknown[] = [];
  const bot = new RestartingBot(stage, {
    setUp(client, process) {
      client.on("m.room.message", async ({ content: { body } }) => {
        if (body !== text || !process.isRunning) return;
        process.kill();
        await gates.at("end");
      });
      client.on("EVENT_QUARANTINED", ({ event, ...report }) => void told.push([report, "event_id" in event]));
    },
  });
  const { alice, id } = await roomWith(stage, bot);
  await alice.sendText(id, text);
  await bot.until(() => told.length > 0);
  const lines = stage.log.lines.filter(([level]) => level === "error");
  assert(lines.some(([, message]) => message.startsWith("Left an event out")));
  assertEquals(words.leaksIn([...stage.log.lines, ...told].map(seen).join("\n")), []);
});
