import { assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

/** The block of JSON below a heading. */
function jsonBelow(text: string, heading: string): { readonly links: string[] } {
  const [, block = ""] = /```json\n(.*?)```/s.exec(text.slice(text.indexOf(heading))) ?? [];
  return JSON.parse(block);
}

Deno.test("A project elsewhere uses a checkout by the links that CONTRIBUTING.md says", async () => {
  const contributing = await Deno.readTextFile(new URL("CONTRIBUTING.md", ROOT));
  const config = jsonBelow(contributing, "## Use a checkout in a project of yours");
  const folder = await Deno.makeTempDir();
  try {
    const links = config.links.map((link) => link.replace(/^\.\.\/greenroom\/?/, ROOT.pathname));
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ ...config, links }));
    await Deno.writeTextFile(
      `${folder}/bot.ts`,
      `import { Bot } from "@greenroom/matrix/bot";
      import { MemoryStore } from "@greenroom/matrix";
      import { Homeserver } from "@greenroom/matrix/testing";
      await using homeserver = new Homeserver();
      const { accessToken } = homeserver.createUser("bot");
      const { baseUrl, fetch } = homeserver;
      await using bot = new Bot({ baseUrl, fetch, accessToken, store: new MemoryStore(), encryption: true, log: false });
      await bot.client.crypto.start(); // which loads vodozemac
      console.log("it works");`,
    );
    const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "-A", "bot.ts"],
      cwd: folder,
    }).output();
    const [said, warned] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes).trim());
    assertEquals([said, /^.*warning.*$/im.exec(warned ?? "")], ["it works", null], warned);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
