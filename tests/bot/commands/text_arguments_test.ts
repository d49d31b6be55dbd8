// deno-lint-ignore-file no-boolean-literal-for-arguments -- it is how assertType() is called
import { assertThrows } from "@std/assert";
import { assertType, type IsExact } from "@std/testing/types";
import { ValueError } from "@greenroom/matrix";
import { Composer } from "@greenroom/matrix/bot";
import type { UserID } from "@greenroom/matrix/types";
import { trying } from "../support.ts";

Deno.test("The arguments of a command may stand in the option args as a text, with their types", async () => {
  await using tester = trying((bot) => {
    bot.command("warn", { description: "Warns a user", args: "<user:user> [reason...]" }, (c) => {
      assertType<IsExact<typeof c.args.user, UserID>>(true);
      assertType<IsExact<typeof c.args.reason, string | undefined>>(true);
      return c.reply(`${c.args.user} ${c.args.reason ?? "without a reason"}`, { format: "plain" });
    });
    bot.command(["add", "plus"], { args: "<a:number> <b:number>" }, (c) => c.reply(`${c.args.a + c.args.b}`));
  });
  const room = await tester.room("alice");
  await room.say("!warn @bob:localhost too loud");
  await room.expect("@bob:localhost too loud");
  await room.say("!warn @bob:localhost");
  await room.expect("@bob:localhost without a reason");
  await room.say("!plus 1 2");
  await room.expect("3");
  await room.say("!warn");
  await room.expect(/Usage: !warn <user> \[reason\.\.\.\]/);
});

Deno.test("A type of arguments that other libraries have says what to write", () => {
  const plugin = new Composer();
  for (
    const [args, mend] of [
      ["<text:rest>", "dots behind the name: <text...>"],
      ["<n:int>", "write number"],
      ["[quiet:boolean]", "write flag"],
      ["<when:time>", "write duration"],
      ["<what:thing>", "there are text, user"],
    ] as const
  ) assertThrows(() => plugin.command("do", { args }, () => {}), ValueError, mend);
});
