// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type EventDefinition, ValueError } from "@greenroom/matrix";
import { defineEvent, validateContent } from "../../../src/types/events/define_event.ts";
import type {
  ContentOf,
  EventOf,
  JsonObject,
  MessageEvent,
  StateEvent,
  StrippedStateEvent,
} from "@greenroom/matrix/types";

interface Poll {
  question: string;
}

/** A schema as any library makes one: it wants a `question`. */
function pollSchema(options: { sync: boolean }): StandardSchemaV1<Poll, Poll> {
  const check = (value: unknown): StandardSchemaV1.Result<Poll> =>
    typeof (value as Poll).question === "string"
      ? { value: value as Poll }
      : { issues: [{ message: "expected string, got 42", path: ["question"] }] };
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => options.sync ? check(value) : Promise.resolve(check(value)),
    },
  };
}

Deno.test("defineEvent() takes the content's type from the schema", () => {
  const poll = defineEvent({
    type: "com.example.poll",
    class: "message",
    schema: pollSchema({ sync: true }),
  });
  assertType<IsExact<typeof poll, EventDefinition<"com.example.poll", "message", Poll>>>(true);
  assertType<IsExact<ContentOf<typeof poll>, Poll>>(true);
  assertType<IsExact<EventOf<typeof poll>, MessageEvent<"com.example.poll", Poll>>>(true);
  assertEquals([poll.type, poll.class], ["com.example.poll", "message"]);
});

Deno.test("defineEvent() without a schema leaves the content any object", () => {
  const theme = defineEvent({ type: "com.example.theme", class: "state" });
  assertType<IsExact<ContentOf<typeof theme>, JsonObject>>(true);
  assertType<
    IsExact<
      EventOf<typeof theme>,
      StateEvent<"com.example.theme", JsonObject> | StrippedStateEvent<"com.example.theme", JsonObject>
    >
  >(true);
  assertEquals(theme.schema, undefined);
});

Deno.test("defineEvent() refuses classes that no server sends", () => {
  // @ts-expect-error: Greenroom alone makes internal events
  defineEvent({ type: "com.example.x", class: "internal" });
});

Deno.test("validateContent() returns what the schema returns", () => {
  const poll = defineEvent({
    type: "com.example.poll",
    class: "message",
    schema: pollSchema({ sync: true }),
  });
  const content = { question: "Tea?" };
  assertStrictEquals(validateContent(poll, content), content);
});

Deno.test("validateContent() names the member at fault, and no value, when the schema refuses", () => {
  const poll = defineEvent({
    type: "com.example.poll",
    class: "message",
    schema: pollSchema({ sync: true }),
  });
  const error = assertThrows(
    () => validateContent(poll, { question: 42 }),
    ValueError,
    'Cannot accept content of "com.example.poll": its schema refuses question;',
  );
  assert(!error.message.includes("42"));
  assertEquals(error.cause, [{ message: "expected string, got 42", path: ["question"] }]);
});

Deno.test("validateContent() writes paths with dots, and says so if the whole content is at fault", () => {
  const schema: StandardSchemaV1<unknown, Poll> = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: () => ({
        issues: [{ message: "a", path: [{ key: "options" }, 0, { key: "text" }] }, { message: "b" }],
      }),
    },
  };
  assertThrows(
    () => validateContent(defineEvent({ type: "com.example.poll", class: "message", schema }), {}),
    ValueError,
    "refuses options.0.text, the whole;",
  );
});

Deno.test("validateContent() of an asynchronous schema returns a promise", async () => {
  const poll = defineEvent({
    type: "com.example.poll",
    class: "message",
    schema: pollSchema({ sync: false }),
  });
  const accepted = validateContent(poll, { question: "Tea?" });
  assert(accepted instanceof Promise);
  assertEquals(await accepted, { question: "Tea?" });
  await assertRejects(async () => await validateContent(poll, {}), ValueError, "refuses question");
});

Deno.test("validateContent() without a schema lets every object pass, and nothing else", () => {
  const theme = defineEvent({ type: "com.example.theme", class: "state" });
  assertEquals(validateContent(theme, { dark: true }), { dark: true });
  assertThrows(() => validateContent(theme, ["dark"]), ValueError, "not an object");
});
