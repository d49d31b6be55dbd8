import { assertEquals } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { recordedTelemetry } from "../support/telemetry.ts";
import { trying } from "./support.ts";

Deno.test("Each event that a bot handles is a span, and is counted with how it went", async () => {
  await using telemetry = recordedTelemetry();
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
  const spans = telemetry.spans.filter(({ name }) => name === "bot m.room.message");
  assertEquals(spans.map(({ attributes }) => attributes["error.type"]), [undefined, "VALUE_ERROR"]);
  const updates = telemetry.measured.filter(({ name, value, attributes }) =>
    name === "greenroom.bot.updates" && value === 1 && attributes.type === "m.room.message"
  );
  assertEquals(updates.map(({ attributes }) => attributes.outcome), ["ok", "error"]);
});
