import { assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { ValueError } from "@greenroom/matrix";
import { type CommandDescription, describeCommand, readStructuredCommand } from "@greenroom/matrix/bot";

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
