import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ValueError } from "@greenroom/matrix";
import { formatHtml, formatMarkdown, formatText } from "@greenroom/matrix/bot";

Deno.test("Formatting refuses options that it does not know", async () => {
  const wrong = { user: [] } as object;
  await assertRejects(() => formatMarkdown("a", wrong), ValueError, "did you mean users?");
  await assertRejects(() => formatHtml("a", wrong), ValueError, "did you mean users?");
  assertThrows(() => formatText("a", wrong), ValueError, "did you mean users?");
});

Deno.test("Markdown is formatted up to 65,536 characters", async () => {
  const text = (length: number) => `**a**${" b".repeat(40_000)}`.slice(0, length);
  const isFormatted = async (length: number) => (await formatMarkdown(text(length))).format !== undefined;
  assertEquals([await isFormatted(65_536), await isFormatted(65_537)], [true, false]);
});

Deno.test("A backslash is taken away where it only says that a sign is itself, and stays in code and at an end", async () => {
  const bodyOf = async (markdown: string) => (await formatMarkdown(markdown)).body;
  assertEquals(await bodyOf("**a** \\* `\\*`"), "**a** * `\\*`");
  assertEquals(
    await bodyOf("| \\*a | \\*b |\n|---|---|\n| \\*c | \\*d |"),
    "| *a | *b |\n|---|---|\n| *c | *d |",
  );
  assertEquals(await bodyOf("**a** \\*\\\n\nb"), "**a** *\\\n\nb");
  assertEquals(await bodyOf("**a** \\\nb \\*"), "**a** \nb *");
  assertEquals(await bodyOf("**a**\n\n```\n\\*\n```\n\n---"), "**a**\n\n```\n\\*\n```\n\n---");
});
