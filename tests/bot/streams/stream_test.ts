import { assertEquals, assertRejects } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { trying } from "../support.ts";

/** A model that says what a test lets it say. */
function model() {
  let next = Promise.withResolvers<string | undefined | Error>();
  const pieces = async function* () {
    for (;;) {
      const piece = await next.promise;
      next = Promise.withResolvers();
      if (piece instanceof Error) throw piece;
      if (piece === undefined) return;
      yield piece;
    }
  };
  return { pieces, say: (piece: string | undefined | Error) => next.resolve(piece) };
}

Deno.test("stream() grows one message by edits of whole Markdown, no more often than its interval, and sends the last", async () => {
  const { pieces, say } = model();
  await using tester = trying((bot) => bot.command("talk", (c) => c.stream(pieces(), { interval: 1_000 })));
  const room = await tester.room("alice");
  const asked = await room.say("!talk");
  await tester.settle();
  for (const piece of ["To **be", "**, or", " not `to"]) {
    say(piece);
    await tester.settle();
  }
  const first = await room.expect("To **be**");
  assertEquals([first.html, first.replyTo], ["To <strong>be</strong>", asked]);
  await tester.pass(1_000);
  say(" be` that");
  await tester.settle();
  assertEquals(room.messages.map(({ text }) => text), ["To **be**, or not `to be` that"]);
  say(" is the question");
  say(undefined);
  await tester.settle();
  say(undefined);
  await tester.settle();
  assertEquals(room.messages.length, 1);
  const edits = room.view().messages.filter(({ content }) => "m.new_content" in content);
  assertEquals(edits.length, 2);
  assertEquals(room.messages[0]?.text, "To **be**, or not `to be` that is the question");
});

Deno.test("stream() keeps what came when the text fails midway, and says that it is not all", async () => {
  const { pieces, say } = model();
  await using tester = trying((bot) => bot.command("talk", (c) => c.stream(pieces())));
  const room = await tester.room("alice");
  await room.say("!talk");
  await tester.settle();
  say("To **be");
  await tester.settle();
  say(new ValueError("the model is gone"));
  await room.expect("To **be**\n\n*(interrupted)*");
  await room.expect("Sorry, that failed.");
});

Deno.test("stream() goes on in a next message when the text outgrows one, and says nothing for no text", async () => {
  await using tester = trying((bot) => {
    bot.command("long", (c) =>
      c.stream((async function* () {
        for (let index = 0; index < 10; index++) yield `${String(index).repeat(3_000)}\n\n`;
      })()));
    bot.command("nothing", (c) => c.stream((async function* () {})()));
  });
  const room = await tester.room("alice");
  await room.say("!nothing");
  await room.expectNothing();
  await room.say("!long");
  await tester.until(
    () => room.messages.map(({ text }) => text).join("").includes("9".repeat(3_000)),
    "all is said",
  );
  assertEquals(room.messages.length > 1, true as boolean);
  const text = room.messages.map(({ text }) => text.replaceAll(/\s/g, "")).join("");
  assertEquals(text, Array.from({ length: 10 }, (_, index) => String(index).repeat(3_000)).join(""));
});

Deno.test("What is streamed again after a restart replaces what the same message said", async () => {
  let { pieces, say } = model();
  await using tester = trying((bot) => bot.command("talk", (c) => c.stream(pieces(), { interval: 1 })), {
    closeTimeout: 100,
  });
  const room = await tester.room("alice");
  await room.say("!talk");
  await tester.settle();
  say("One answer, cut");
  await tester.settle();
  assertEquals(room.messages.map(({ text }) => text), ["One answer, cut"]);
  const stopping = tester.stop();
  await tester.clock.tick(1_000);
  await stopping;
  ({ pieces, say } = model());
  await tester.start();
  await tester.settle();
  say("Another answer");
  await tester.settle();
  say(undefined);
  await tester.settle();
  assertEquals(room.messages.map(({ text }) => text), ["Another answer"]);
});

Deno.test("stream() begins with nothing that may yet become anything, and ends with all that was said", async () => {
  for (
    const pieces of [
      ["# ", "Title"],
      ["```", "ts\nlet a;\n```"],
      ["The answer is\n42"],
      ["- [ ] a\n- [x]"],
      ["see [note"],
      ["a ", "**"],
    ]
  ) {
    const { pieces: said, say } = model();
    await using tester = trying((bot) => bot.command("talk", (c) => c.stream(said(), { interval: 0 })));
    const room = await tester.room("alice");
    await room.say("!talk");
    await tester.settle();
    for (const piece of [...pieces, undefined]) {
      say(piece);
      await tester.settle();
    }
    assertEquals(room.messages.map(({ text }) => text), [pieces.join("")]);
  }
});

Deno.test("stream() ends with marks that are escaped as what they are", async () => {
  const { pieces, say } = model();
  await using tester = trying((bot) => bot.command("talk", (c) => c.stream(pieces(), { interval: 0 })));
  const room = await tester.room("alice");
  await room.say("!talk");
  await tester.settle();
  for (const piece of ["*a", "\\*", undefined]) {
    say(piece);
    await tester.settle();
  }
  assertEquals(room.messages.map(({ text, html }) => [text, html]), [["*a*", "*a*"]]);
});

Deno.test("Two streams of one function are two messages", async () => {
  await using tester = trying((bot) => {
    bot.command("two", async (c) => {
      for (const text of ["one", "two"]) await c.stream(ReadableStream.from([text]));
    });
  });
  const room = await tester.room("alice");
  await room.say("!two");
  await room.expect("one");
  await room.expect("two");
});

Deno.test("edit() refuses a text that does not fit into one message", async () => {
  await using tester = trying((bot) => {
    bot.command("edit", async (c) => {
      const said = await c.reply("short");
      await assertRejects(() => c.edit(said, "word ".repeat(5_000)), ValueError, "needs 4 messages");
      await c.edit(said, "edited");
    });
  });
  const room = await tester.room("alice");
  await room.say("!edit");
  await room.expect("edited");
});

Deno.test("stream() takes an option that is undefined for one that is not given", async () => {
  await using tester = trying((bot) => {
    bot.command("go", (c) =>
      c.stream(
        (async function* () {
          yield "one";
        })(),
        {
          msgtype: undefined,
          mentions: undefined,
          inThread: undefined,
          interval: undefined,
          note: undefined,
        },
      ));
  });
  const room = await tester.room("alice");
  await room.say("!go");
  await room.expect("one");
});
