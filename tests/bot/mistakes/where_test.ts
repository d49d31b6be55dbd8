import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { RoomID } from "@greenroom/matrix/types";
import { ValueError } from "@greenroom/matrix";
import type { Context } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

const ELSEWHERE: RoomID = "!elsewhere:localhost";

/** What fails in a function, and what is said of it. */
const FAILURES: Record<string, { run: (c: Context) => unknown; says: string }> = {
  "an error of its own": {
    run: async () => {
      await Promise.resolve();
      throw new ValueError("own");
    },
    says: "own",
  },
  "a refusal of the homeserver": {
    run: async (c) => void await c.client.sendText(ELSEWHERE, "hi"),
    says: "User @bot:localhost not in room",
  },
  "a refusal that is not awaited": {
    run: (c) => void c.client.sendText(ELSEWHERE, "hi"),
    says: "User @bot:localhost not in room",
  },
  "a step": { run: async (c) => void await c.reactTo("$event", ""), says: "the key is empty" },
  "a step whose promise is returned": { run: (c) => c.reactTo("$event", ""), says: "the key is empty" },
  "an answer without text": { run: (c) => c.reply(""), says: "the text is empty" },
  "an answer without text that is not awaited": { run: (c) => void c.reply(""), says: "the text is empty" },
  "an answer that is no text": { run: (c) => c.reply(5 as never), says: "must be a string, and is number" },
  "a step that is refused at once": {
    run: async (c) => void await c.remind({ in: "zz" }, "Tea!"),
    says: 'there is no such time: in is "zz"; write it like "10m", or in milliseconds',
  },
};

for (const [what, { run, says }] of Object.entries(FAILURES)) {
  Deno.test(`The log of ${what} says the command, who gave it, where, why, and the line in the application`, async () => {
    await using tester = trying((bot) => void bot.command("go", (c) => run(c)));
    const room = await tester.room("alice");
    await room.say("!go");
    const failures = () => tester.logged.filter((line) => /failed|was rejected/.test(line));
    await tester.until(() => failures().length > 0, "It was to be logged");
    const [line = ""] = failures();
    for (const part of ['command: "go"', "@alice:localhost", room.id, says]) assertStringIncludes(line, part);
    assertMatch(line, /at: "file:\/\/[^"]*\/tests\/bot\/mistakes\/where_test\.ts:\d+:\d+"/);
    assertEquals(failures().length, 1);
  });
}

Deno.test("The log of a handler says its line too if its module is a blob", async () => {
  const code = "export const handler = () => {\n  throw new Error('in a blob');\n};";
  const address = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  const { handler } = await import(address);
  URL.revokeObjectURL(address);
  await using tester = trying((bot) => void bot.command("go", handler));
  const room = await tester.room("alice");
  await room.say("!go");
  await tester.until(() => tester.logged.some((line) => /failed/.test(line)), "It was to be logged");
  const line = tester.logged.find((line) => /failed/.test(line)) ?? "";
  assertMatch(line, /at: "blob:[^"]*:2:\d+"/);
});

Deno.test("A text that can't be sent rejects, so that .catch() gets it, in contexts and outside", async () => {
  await using tester = trying((bot) => {
    bot.command(
      "go",
      (c) =>
        c.reply("").catch(() => c.replyInThread(" ")).catch(() => c.send("", { no: 1 } as never)).catch(() =>
          c.reply("caught")
        ),
    );
    bot.command("in", (c) => bot.in(c.roomId).send("").catch(() => c.reply("caught outside")));
  });
  const room = await tester.room("alice");
  await room.say("!go");
  await room.expect("caught");
  await room.say("!in");
  await room.expect("caught outside");
});

Deno.test("The log of a function that throws undefined says so", async () => {
  await using tester = trying((bot) => void bot.command("go", () => Promise.reject()));
  const room = await tester.room("alice");
  await room.say("!go");
  await tester.until(
    () => tester.logged.some((line) => /failed[^]*threw undefined/.test(line)),
    "It was to be logged",
  );
});

Deno.test("In a bundle, too, the log of a failure says the line of the application", async () => {
  const folder = await Deno.makeTempDir();
  const config = new URL("../../../deno.json", import.meta.url).pathname;
  const program = new URL("failing_program.ts", import.meta.url).pathname;
  const text = new TextDecoder();
  for (const minify of [[], ["--minify"]]) {
    const bundle = `${folder}/bundle${minify.length}.js`;
    const deno = async (...args: string[]) => {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
      assertEquals(code, 0, text.decode(stderr));
      return text.decode(stdout);
    };
    await deno("bundle", "--quiet", ...minify, "--config", config, program, "--output", bundle);
    const [said, place = ""] = (await deno("run", "--quiet", "--allow-env", bundle)).trim().split(" at ");
    assertEquals(said, "the key is empty");
    const [, line, column] = /bundle\d\.js:(\d+):(\d+)$/.exec(place) ?? [];
    const code = (await Deno.readTextFile(bundle)).split("\n")[Number(line) - 1] ?? "";
    assertStringIncludes(code.slice(Number(column) - 1, Number(column) + 20), "reactTo(");
  }
  await Deno.remove(folder, { recursive: true });
});
