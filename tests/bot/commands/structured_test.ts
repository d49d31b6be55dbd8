import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ValueError } from "../../../mod.ts";
import {
  type CommandDescription,
  describeCommand,
  readArguments,
  readStructuredCommand,
} from "../../../src/bot/mod.ts";

const BOT = "@bot:a.b";
const BAN: CommandDescription = {
  name: "ban",
  description: "Bans a user",
  aliases: ["b"],
  args: [
    { name: "user", kind: "user", description: "Whom" },
    { name: "room", kind: "room", required: false },
    { name: "days", kind: "number", required: false },
    { name: "silent", kind: "boolean", required: false },
    { name: "proof", kind: "event", required: false },
    { name: "reason", kind: "rest", required: false },
  ],
};

Deno.test("describeCommand() writes what clients read today, under the hash of command and bot", async () => {
  const { type, stateKey, content } = await describeCommand({ ...BAN, args: BAN.args?.slice(0, 2) }, BOT);
  assertEquals(type, "org.matrix.msc4391.command_description");
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("ban@bot:a.b"));
  assertEquals(stateKey, btoa(String.fromCharCode(...new Uint8Array(hash))));
  assertEquals(content, {
    command: "ban",
    aliases: ["b"],
    description: { "m.text": [{ body: "Bans a user" }] },
    parameters: [
      {
        key: "user",
        schema: { schema_type: "primitive", type: "user_id" },
        description: { "m.text": [{ body: "Whom" }] },
      },
      {
        key: "room",
        schema: {
          schema_type: "union",
          variants: [{ schema_type: "primitive", type: "room_id" }, {
            schema_type: "primitive",
            type: "room_alias",
          }],
        },
        optional: true,
      },
    ],
  });
  assertEquals((await describeCommand(BAN, BOT)).content["fi.mau.tail_parameter"], "reason");
});

Deno.test("describeCommand() refuses what clients would hide", async () => {
  const text = (name: string) => ({ name, kind: "text" }) as const;
  for (
    const bad of [
      { name: " " },
      { args: [text("")] },
      { args: [text("a"), text("a")] },
      { args: [{ name: "a", kind: "rest" }, text("b")] as const },
      { args: [{ name: "a", kind: "rest" }, { name: "b", kind: "rest", required: false }] as const },
    ]
  ) {
    await assertRejects(
      () => describeCommand({ ...BAN, ...bad }, BOT),
      ValueError,
      "Cannot describe the command",
    );
  }
});

Deno.test("readStructuredCommand() reads an invocation, and leaves one for others to them", () => {
  const command = { command: "ban", arguments: { user: "@eve:a.b" } };
  for (const name of ["m.bot.command", "org.matrix.msc4391.command"]) {
    assertEquals(readStructuredCommand({ body: "/x", [name]: command }), command);
  }
  const mentioning = (...user_ids: string[]) => ({ "m.bot.command": command, "m.mentions": { user_ids } });
  assertEquals(readStructuredCommand(mentioning(BOT), BOT), command);
  assertEquals(readStructuredCommand(mentioning(), BOT), command);
  assertEquals(readStructuredCommand(mentioning("@other:a.b"), BOT), undefined);
  assertEquals(readStructuredCommand(mentioning("@other:a.b")), command);
});

Deno.test("readStructuredCommand() takes nothing else for a command", () => {
  for (const block of [{}, { command: " " }, { command: 1 }, "ban", [], { command: "a".repeat(256) }]) {
    assertEquals(readStructuredCommand({ "m.bot.command": block }), undefined);
  }
  assertEquals(readStructuredCommand({ "m.bot.command": { command: "a", arguments: [1] } })?.arguments, {});
  fc.assert(fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
    readStructuredCommand(a, BOT);
    readStructuredCommand({ "m.bot.command": a, "m.mentions": b }, BOT);
  }));
});

Deno.test("readArguments() takes each argument in the forms in which clients send it", () => {
  const room = { id: "!r:a.b", type: "room_id", via: ["c.d"] };
  assertEquals(
    readArguments(BAN, {
      user: "@eve:a.b",
      room,
      days: 3,
      silent: true,
      proof: { ...room, type: "event_id", event_id: "$e" },
      reason: "spam, and more",
      unknown: 1,
    }),
    {
      user: "@eve:a.b",
      room: { id: "!r:a.b", via: ["c.d"] },
      days: 3,
      silent: true,
      proof: { id: "!r:a.b", eventId: "$e", via: ["c.d"] },
      reason: "spam, and more",
    },
  );
  assertEquals(
    readArguments(BAN, {
      user: "https://matrix.to/#/%40eve%3Aa.b",
      room: "#r:a.b",
      days: "-3",
      silent: "no",
      proof: "matrix:roomid/r:a.b/e/e",
      reason: 5,
    }),
    {
      user: "@eve:a.b",
      room: { id: "#r:a.b" },
      days: -3,
      silent: false,
      proof: { id: "!r:a.b", eventId: "$e" },
      reason: "5",
    },
  );
});

Deno.test("readArguments() says which argument is missing or wrong", () => {
  assertThrows(() => readArguments(BAN, {}), ValueError, 'its argument "user" is missing');
  for (
    const [name, value] of [
      ["user", "eve"],
      ["user", "#r:a.b"],
      ["room", "@eve:a.b"],
      ["room", { id: "!r:a.b", via: ["not a server"] }],
      ["days", 1.5],
      ["days", "many"],
      ["silent", "perhaps"],
      ["proof", "!r:a.b"],
      ["reason", {}],
    ] as const
  ) {
    const given = { user: "@eve:a.b", [name]: value };
    assertThrows(() => readArguments(BAN, given), ValueError, `its argument "${name}" must be `);
  }
});

Deno.test("readArguments() fails with nothing but a ValueError, and sets no prototype", () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...(BAN.args ?? []).map(({ name }) => name)), fc.jsonValue()),
      (given) => {
        try {
          readArguments(BAN, given);
        } catch (error) {
          if (!(error instanceof ValueError)) {
            throw error;
          }
        }
      },
    ),
  );
  const args = [{ name: "__proto__", kind: "text" }] as const;
  assertEquals(Object.keys(readArguments({ ...BAN, args }, JSON.parse('{"__proto__":"a"}'))), ["__proto__"]);
});
