import { assertEquals, assertThrows } from "@std/assert";
import { Client, defineEvent, eventType, type Logger, ValueError } from "@greenroom/matrix";
import { Bot } from "@greenroom/matrix/bot";

function quiet(): void {}

/** A client that keeps what it warns of. */
function warningClient(): { client: Client; warned: unknown[] } {
  const warned: unknown[] = [];
  const log: Logger = {
    debug() {},
    info() {},
    warn: (message: string, about?: unknown) => void warned.push([message, about]),
    error() {},
  };
  return { client: new Client({ baseUrl: "https://matrix.example", log }), warned };
}

Deno.test("A type of event that there can't be does not compile", async () => {
  await using client = new Client({ baseUrl: "https://matrix.example", log: false });
  // @ts-expect-error: a message is of the type m.room.message
  client.on("message", quiet);
  // @ts-expect-error: as other libraries have it
  client.on("ready", quiet);
  // @ts-expect-error: a typing error
  client.on("m.room.mesage", quiet);
  // @ts-expect-error: a typing error in a decorator
  client.on("m.room.mesage");
  // @ts-expect-error: a typing error
  client.addEventHandler("m.room.mesage", quiet);
  const bot = new Bot({ baseUrl: "https://matrix.example", log: false });
  // @ts-expect-error: a typing error
  bot.on("m.room.mesage", quiet);
  // @ts-expect-error: a query of another library
  assertThrows(() => bot.on("room.join", quiet), ValueError, "write member:join");
  bot.on("message:text", (c) => c.event.content.body satisfies string);
  bot.on(["message:text", "com.example.thing"], quiet);
  await bot.client.close();
});

Deno.test("Types of Matrix, of proposals, of Greenroom and of one's own are listened to without a warning", async () => {
  const { client, warned } = warningClient();
  await using _ = client;
  client.on("m.room.message", ({ content }) => content.body satisfies string);
  client.on("m.room.encrypted", quiet);
  client.on("m.secret_storage.key.abc", quiet);
  client.on("m.poll.start", quiet);
  client.on("JOIN", quiet);
  client.on("com.example.thing", quiet);
  client.on("MY_EVENT", quiet);
  client.on(eventType("m.of.tomorrow", "message"), quiet);
  client.on(eventType("dotless", "message"), quiet);
  client.on(defineEvent({ type: "com.example.own", class: "message" }), quiet);
  client.on("m.room.message" as string, quiet);
  assertEquals(warned, []);
});

Deno.test("A type that Matrix does not have is warned of when its handler is added, with the nearest", async () => {
  const { client, warned } = warningClient();
  await using _ = client;
  for (
    const type of [
      "m.room.mesage",
      "message",
      "member",
      "SYNC_SUCCESFUL",
      "room.join",
      "ready",
      "m.of.tomorrow",
      "verification.request",
      "decryption.failed",
    ]
  ) {
    client.on(type as string, quiet);
  }
  const eachMend = warned.map((warning) => (warning as [string, { type: string; mend: string }])[1]);
  assertEquals(eachMend, [
    { type: "m.room.mesage", mend: "did you mean m.room.message?" },
    { type: "message", mend: "did you mean m.room.message?" },
    { type: "member", mend: "did you mean m.room.member?" },
    { type: "SYNC_SUCCESFUL", mend: "did you mean SYNC_SUCCESSFUL?" },
    { type: "room.join", mend: "did you mean JOIN?" },
    { type: "ready", mend: "did you mean client.ready?" },
    { type: "m.of.tomorrow", mend: "if others send it, name its class too: eventType(type, class)" },
    { type: "verification.request", mend: "did you mean VERIFICATION_REQUEST?" },
    { type: "decryption.failed", mend: "did you mean UNDECRYPTABLE?" },
  ]);
});
