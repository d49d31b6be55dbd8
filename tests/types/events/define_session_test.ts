// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assertEquals, assertThrows } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { Client, type HandlerContext, type SessionDefinition, ValueError } from "@greenroom/matrix";
import type { ContentSchema, EventOf } from "@greenroom/matrix/types";
import { defineSession } from "../../../src/types/events/define_session.ts";

interface Counter {
  messages: number;
}

type Message = EventOf<"m.room.message">;

const counter = defineSession({ name: "counter", per: "room", initial: () => ({ messages: 0 }) });

function client(): Client {
  return new Client({ baseUrl: "https://matrix.example.org" });
}

Deno.test("defineSession() takes the state's type from what it begins with, or from its schema", () => {
  assertType<IsExact<typeof counter, SessionDefinition<{ messages: number }>>>(true);
  const schema: ContentSchema<Counter> = {
    "~standard": { version: 1, vendor: "test", validate: (value) => ({ value: value as Counter }) },
  };
  const checked = defineSession({ name: "checked", per: "thread", initial: () => ({ messages: 0 }), schema });
  assertType<IsExact<typeof checked, SessionDefinition<Counter>>>(true);
  assertEquals([checked.schema, counter.schema, counter.per], [schema, undefined, "room"]);
  const own = defineSession({ name: "own", per: ({ type }) => type, initial: () => ({ messages: 0 }) });
  assertEquals(typeof own.per, "function");
});

Deno.test("defineSession() refuses a name that is empty or too long", () => {
  for (const name of ["", "x".repeat(101)]) {
    assertThrows(() => defineSession({ name, per: "room", initial: () => ({}) }), ValueError);
  }
  assertEquals(defineSession({ name: "x".repeat(100), per: "room", initial: () => ({}) }).name.length, 100);
});

Deno.test("A definition of a session can't be changed", () => {
  assertThrows(() => Object.assign(counter, { name: "other" }), TypeError);
});

Deno.test("A handler that is added with a session has it, typed, and one that is not has none", async () => {
  await using bot = client();
  const handler = bot.on("m.room.message", (event, ctx) => {
    assertType<IsExact<typeof event, Message>>(true);
    assertType<IsExact<typeof ctx, HandlerContext<{ messages: number }>>>(true);
  }, { session: counter });
  bot.addEventHandler("m.room.message", (event, ctx) => {
    assertType<IsExact<typeof event, Message>>(true);
    assertType<IsExact<typeof ctx.session, { messages: number }>>(true);
  }, { session: counter, sequential: true, name: "log" });
  const options = { session: counter, waitSync: true };
  bot.addEventHandler("m.room.message", (_, { session }) => {
    assertType<IsExact<typeof session, { messages: number }>>(true);
  }, options);
  bot.on("m.room.message", (_, { session }) => {
    assertType<IsExact<typeof session, { messages: number }>>(true);
  }, options);
  bot.on("m.room.message", (event, ctx) => {
    assertType<IsExact<typeof event, Message>>(true);
    assertType<IsExact<typeof ctx, HandlerContext>>(true);
    assertType<IsExact<typeof ctx.session, undefined>>(true);
    assertType<IsExact<typeof ctx.deliveryId, string | undefined>>(true);
  }, { name: "reply" });
  bot.addEventHandler((_, ctx) => {
    assertType<IsExact<typeof ctx, HandlerContext>>(true);
  });
  bot.on("JOIN", (_, ctx) => {
    assertType<IsExact<typeof ctx.session, { messages: number }>>(true);
  }, { session: counter });
  bot.removeEventHandler("m.room.message", handler);
});

Deno.test("A handler that wants another session than it is given does not compile", async () => {
  await using bot = client();
  const wants = (_: Message, ctx: HandlerContext<{ other: string }>) => ctx.session.other;
  // @ts-expect-error: the session is of another type
  bot.on("m.room.message", wants, { session: counter });
  // @ts-expect-error: the session is of another type
  bot.addEventHandler("m.room.message", wants, { session: counter, name: "other" });
  // @ts-expect-error: there is no session
  bot.on("m.sticker", (_, { session }) => session.messages);
  // @ts-expect-error: a session is an object
  defineSession({ name: "x", per: "room", initial: () => 7 });
  // @ts-expect-error: there is no such scope
  const other = () => defineSession({ name: "x", per: "space", initial: () => ({}) });
  assertThrows(other, ValueError, "not space");
});
