// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assertEquals, assertInstanceOf, assertStrictEquals } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { type ContentCheck, contentCheckOf, Malformed } from "../../../src/types/events/define_event.ts";
import { type Members, object, optional, type Shape, text } from "../../../src/types/checks/shape.ts";
import type { EventOf, EventType } from "@greenroom/matrix/types";
import { eventType } from "../../../src/types/events/event_type.ts";
import type { RoomMessageContent } from "../../../src/types/content/message_content.ts";

function check(type: EventType, content: unknown): ReturnType<ContentCheck> | undefined {
  return contentCheckOf(type)?.(content);
}

/** What is left of a content, and which members were at fault. */
function leftOf(type: EventType, content: unknown): [left: unknown, members: readonly string[]] {
  const checked = check(type, content);
  return checked instanceof Malformed ? [checked.content, checked.reason.members] : [checked, []];
}

const MESSAGE = { msgtype: "m.text", body: "hello" };

Deno.test("A valid content is passed on unchanged, with its unknown members", () => {
  for (
    const content of [
      MESSAGE,
      {
        ...MESSAGE,
        "com.example.x": { y: null },
        formatted_body: "<b>x</b>",
        format: "org.matrix.custom.html",
      },
      { ...MESSAGE, msgtype: "com.example.dice", eyes: "six", info: 7 },
      { ...MESSAGE, "m.relates_to": { rel_type: "m.replace", event_id: "$1" }, "m.new_content": MESSAGE },
    ]
  ) assertStrictEquals(check("m.room.message", content), content);
  const member = { membership: "join", displayname: null, avatar_url: null };
  assertStrictEquals(check("m.room.member", member), member);
});

Deno.test("A member that must be there and is missing, or does not fit, leaves nothing of the content", () => {
  for (const body of [undefined, null, 5, {}]) {
    assertEquals(leftOf("m.room.message", { msgtype: "m.text", body }), [undefined, ["body"]]);
  }
  assertEquals(leftOf("m.room.message", { body: "x" }), [undefined, ["msgtype"]]);
  assertEquals(leftOf("m.room.message", { ...MESSAGE, msgtype: "m.location" }), [undefined, ["geo_uri"]]);
  assertEquals(leftOf("m.room.member", { membership: "foo" }), [undefined, ["membership"]]);
  assertEquals(leftOf("m.reaction", { "m.relates_to": { rel_type: "m.annotation", event_id: "1" } }), [
    undefined,
    ["m.relates_to.event_id"],
  ]);
});

Deno.test("A member that may be absent and does not fit is taken away, as little of it as possible", () => {
  const image = { msgtype: "m.image", body: "x", url: "mxc://a/b", info: { w: 5, h: "600", x: 1 } };
  assertEquals(leftOf("m.room.message", image), [{ ...image, info: { w: 5, x: 1 } }, ["info.h"]]);
  assertEquals(image.info.h, "600", "what was sent is left alone");
  assertEquals(leftOf("m.room.message", { ...MESSAGE, "m.relates_to": 7, "m.mentions": { room: "yes" } }), [
    { ...MESSAGE, "m.mentions": {} },
    ["m.mentions.room", "m.relates_to"],
  ]);
  // Of an encrypted file nothing is of use without the rest.
  assertEquals(leftOf("m.room.message", { ...image, info: {}, file: { url: "mxc://a/b" } }), [
    { ...image, info: {} },
    ["file.key"],
  ]);
});

Deno.test("Items of lists and entries of maps that do not fit are taken away, without being named", () => {
  const mentions = { user_ids: ["@a:a", 5, "bob", "@b:b"] };
  assertEquals(leftOf("m.room.message", { ...MESSAGE, "m.mentions": mentions }), [
    { ...MESSAGE, "m.mentions": { user_ids: ["@a:a", "@b:b"] } },
    ["m.mentions.user_ids.*", "m.mentions.user_ids.*"],
  ]);
  const receipts = { $1: { "m.read": { "@a:a": { ts: 1 }, "@b:b": 7 } }, $2: "x" };
  assertEquals(leftOf("m.receipt", receipts), [{ $1: { "m.read": { "@a:a": { ts: 1 } } } }, [
    "*.m.read.*",
    "*",
  ]]);
});

Deno.test("An empty string counts as absent in an optional member, without a report", () => {
  const member = { membership: "join", displayname: "" };
  assertEquals(check("m.room.member", { ...member, avatar_url: "" }), member);
});

Deno.test("null counts as absent in an optional member or entry, without a report", () => {
  assertEquals(check("m.room.message", { ...MESSAGE, format: null, "m.relates_to": null }), MESSAGE);
  const video = { msgtype: "m.video", body: "x", info: { duration: null, size: 5 } };
  assertEquals(check("m.room.message", video), { ...video, info: { size: 5 } });
  assertEquals(check("m.direct", { "@a:a": ["!1"], "@b:b": null }), { "@a:a": ["!1"] });
});

Deno.test("Power levels that are strings, as rooms up to version 9 may have them, are numbers", () => {
  const given = { users: { "@a:a": "100", "@b:b": "all" }, kick: " -5 ", ban: 50, redact: {} };
  assertEquals(leftOf("m.room.power_levels", given), [
    { users: { "@a:a": 100 }, kick: -5, ban: 50 },
    ["users.*", "redact"],
  ]);
});

Deno.test("State that was cleared has nothing in it, and is what its type says; a member's can't be", () => {
  for (
    const type of [
      "m.room.name",
      "m.space.child",
      "m.policy.rule.user",
      "m.room.third_party_invite",
      "m.room.image_pack",
    ]
  ) {
    assertEquals(leftOf(type, {}), [{}, []]);
  }
  assertEquals(leftOf("m.room.name", { title: "x" }), [undefined, ["name"]]);
  assertEquals(leftOf("m.room.member", {}), [undefined, ["membership"]]);
  assertEquals(leftOf("m.room.message", {}), [undefined, ["msgtype"]]);
});

Deno.test("The reason names types, members and kinds, and no value or key of the content", () => {
  const checked = check("m.room.message", {
    ...MESSAGE,
    body: ["secret"],
    "m.mentions": { user_ids: ["secret"] },
  });
  assertInstanceOf(checked, Malformed);
  assertEquals(checked.reason.message.includes("secret"), false);
  const direct = check("m.direct", { "@secret:a": "secret" });
  assertInstanceOf(direct, Malformed);
  assertEquals(direct.reason.message, 'Cannot use content of "m.direct" as it is: * is not a list');
  assertEquals([direct.reason.code, direct.reason.eventType], ["MALFORMED_CONTENT", "m.direct"]);
});

Deno.test("A content that is nested very deeply, or has thousands of wrong items, costs little and is reported briefly", () => {
  let deep: object = MESSAGE;
  for (let depth = 0; depth < 10_000; depth++) deep = { ...MESSAGE, "m.new_content": deep };
  const [left, [member = ""]] = leftOf("m.room.message", deep);
  assertEquals([(left as typeof MESSAGE).body, member.split(".m.").length], ["hello", 11]);
  assertEquals(check("m.room.message", MESSAGE), MESSAGE, "the next one starts from zero");
  const many = { ...MESSAGE, "m.mentions": { user_ids: Array.from({ length: 10_000 }, () => 7) } };
  const [rest, members] = leftOf("m.room.message", many);
  assertEquals([rest, members.length], [{ ...MESSAGE, "m.mentions": { user_ids: [] } }, 10]);
});

Deno.test("The event of a membership change is checked as the member event that it is", () => {
  assertEquals(leftOf("JOIN", { membership: "join", displayname: 7 }), [{ membership: "join" }, [
    "displayname",
  ]]);
  assertEquals(contentCheckOf("SYNC_STARTED"), undefined);
});

Deno.test("Undefined types, and known ones in another class, are not checked", () => {
  assertEquals(contentCheckOf("com.example.x"), undefined);
  assertEquals(contentCheckOf(eventType("m.room.name", "message")), undefined);
  assertEquals(leftOf("m.secret_storage.key.abc", { algorithm: 5 }), [undefined, ["algorithm"]]);
});

Deno.test("The compiler refuses a shape that says more, less or something else than its type", () => {
  interface Kettle {
    colour: "red" | "blue";
    maker?: string;
  }
  const colour: Shape<"red" | "blue"> = text as never;
  object<Kettle>({ colour, maker: optional(text) });
  // @ts-expect-error -- any string is not one of two
  object<Kettle>({ colour: text, maker: optional(text) });
  // @ts-expect-error -- one colour is not both
  object<Kettle>({ colour: colour as Shape<"red">, maker: optional(text) });
  // @ts-expect-error -- the maker may be absent
  object<Kettle>({ colour, maker: text });
  // @ts-expect-error -- the colour may not
  object<Kettle>({ colour: optional(colour), maker: optional(text) });
  // @ts-expect-error -- the maker is forgotten
  const members: Members<Kettle> = { colour };
  void members;
});

Deno.test("A message of an unknown kind has a type of its own", () => {
  const describe = (content: RoomMessageContent): string => {
    switch (content.msgtype) {
      case "m.image":
        return content.url ?? "";
      case "m.text":
        return content.formatted_body ?? content.body;
      default: {
        const msgtype: string = content.msgtype;
        return `${msgtype} ${content.body}`;
      }
    }
  };
  assertEquals(
    describe({ body: "six", msgtype: "com.example.dice" as string as never }),
    "com.example.dice six",
  );
  assertType<IsExact<EventOf<"m.room.topic">["content"]["topic"], string | undefined>>(true);
  assertType<
    IsExact<EventOf<"m.room.member">["content"]["membership"], "invite" | "join" | "knock" | "leave" | "ban">
  >(
    true,
  );
});
