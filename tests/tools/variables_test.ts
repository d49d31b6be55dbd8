import { assert, assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string): Promise<string> => Deno.readTextFile(new URL(path, ROOT));

Deno.test("The example to be deployed takes the variables that its page says, and no others", async () => {
  const [page, example] = await Promise.all([read("docs/hosts/deploy.md"), read("examples/deploy/main.ts")]);
  const taken = new Set(example.match(/\b(?:MATRIX|BOT)_[A-Z_]+\b/g));
  const [paragraph = ""] = /\[examples\/deploy\/\]\S* is such an app.*?\n\n/s.exec(page) ?? [];
  const said = new Set(paragraph.match(/\b(?:MATRIX|BOT)_[A-Z_]+\b/g));
  assertEquals([...taken].sort(), [...said].sort());
});

Deno.test("Health has one name wherever it is told of", async () => {
  for (
    const path of [
      "docs/client/logs.md",
      "docs/hosts/deploy.md",
      "src/client/client.ts",
      "src/bot/bot.ts",
      "src/bot/README.md",
    ]
  ) {
    const text = await read(path);
    assert(/\/health\b/.test(text), path);
    assertEquals(text.match(/[`"/]\/(?:ready|healthz|readyz|livez)\b/g), null, path);
  }
});
