import { assertEquals } from "@std/assert";
import type { Context } from "@greenroom/matrix/bot";
import { trying } from "../support.ts";

const ALICE = "@alice:localhost";
const BOB = "@bob:localhost";
/** What somebody may write to have a bot notify somebody else. */
const LINK = "[look](https://matrix.to/#/@carol:localhost)";

/** Whom the messages notify that functions of a bot send, by what they say. */
async function notified(work: (c: Context) => Promise<unknown>): Promise<unknown[]> {
  await using tester = trying((bot) => bot.command("go", (c) => work(c as Context)));
  const room = await tester.room("alice", "bob");
  await room.say("!go");
  await tester.settle();
  return room.view().messages.filter(({ sender }) => sender !== ALICE)
    .map(({ content }) => content["m.mentions"]);
}

async function* once(text: string) {
  yield text;
}

Deno.test("mentions is the whole list of who is notified, whoever is linked in the text", async () => {
  for (
    const [mentions, expected] of [[[], {}], [[BOB], { user_ids: [BOB] }], [["room"], {
      room: true,
    }]] as const
  ) {
    assertEquals(await notified((c) => c.send(LINK, { mentions })), [expected]);
    assertEquals(await notified((c) => c.send(`<p>${LINK}</p>`, { mentions, format: "html" })), [expected]);
    assertEquals(await notified((c) => c.reply(LINK, { mentions })), [expected]);
    assertEquals(await notified((c) => c.replyInThread(LINK, { mentions })), [expected]);
    assertEquals(
      await notified(async (c) => c.edit(await c.send("..."), LINK, { mentions })),
      [{}, expected],
    );
    assertEquals((await notified((c) => c.stream(once(LINK), { mentions }))).filter(isSomebody), [
      ...(Object.keys(expected).length === 0 ? [] : [expected]),
    ]);
  }
});

Deno.test("Without mentions who is linked is notified, by a stream once, and in a reply who is answered", async () => {
  const carol = { user_ids: ["@carol:localhost"] };
  assertEquals(await notified((c) => c.send(LINK)), [carol]);
  assertEquals(await notified((c) => c.reply(LINK)), [{ user_ids: [ALICE, "@carol:localhost"] }]);
  assertEquals(await notified((c) => c.reply(LINK, { mentions: undefined })), [
    { user_ids: [ALICE, "@carol:localhost"] },
  ]);
  assertEquals((await notified((c) => c.stream(once(LINK)))).filter(isSomebody), [carol]);
});

Deno.test('format: "plain" notifies nobody by the text, in messages, edits and questions', async () => {
  const format = "plain";
  assertEquals(await notified((c) => c.send(LINK, { format })), [{}]);
  assertEquals(await notified((c) => c.reply(LINK, { format })), [{ user_ids: [ALICE] }]);
  assertEquals(await notified((c) => c.ask(LINK, { format })), [{ user_ids: [ALICE] }]);
  assertEquals(await notified((c) => c.ask(LINK, { mentions: [] })), [{}]);
  assertEquals(await notified(async (c) => c.edit(await c.send("..."), LINK, { format })), [{}, {}]);
});

Deno.test("A long text notifies in its first message alone", async () => {
  const text = "words and words\n\n".repeat(2_000);
  const [first, ...more] = await notified((c) => c.send(text, { mentions: [BOB] }));
  assertEquals(first, { user_ids: [BOB] });
  assertEquals([more.length > 0, more.filter(isSomebody)], [true, []]);
});

function isSomebody(mentions: unknown): boolean {
  return Object.keys(mentions as object).length > 0;
}
