/**
 * The playground in Chromium: bots that are typed in, their mistakes, and two windows.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { Browser, type Page } from "./support/browser.ts";
import { SiteServer } from "./support/site_server.ts";

const STATE = "document.querySelector('#state')?.textContent";
const RUNS = `${STATE} === 'The bot runs.'`;
const NONE = 'document.querySelectorAll(".chat li:not(.empty)").length === 0';
const LATEST = 'document.querySelector(".chat li.other:last-child")?.textContent';

/** The playground, on a page of its own or on the first one. */
class Playground implements AsyncDisposable {
  readonly page: Page;
  readonly #resources: AsyncDisposableStack;

  private constructor(page: Page, resources: AsyncDisposableStack) {
    this.page = page;
    this.#resources = resources;
  }

  static async open(
    folder: string,
    program: string,
    { width = 1280, path = "/playground.html" } = {},
  ): Promise<Playground> {
    const resources = new AsyncDisposableStack();
    const server = resources.use(new SiteServer(folder));
    const page = await resources.use(await Browser.start(program)).newPage();
    await page.look({ width, scheme: "light" });
    await page.open(server.url + path);
    const turned =
      'document.querySelector("#example")?.dispatchEvent(new Event("pointerover", { bubbles: true }))';
    await page.until(`${turned} && document.querySelector("#example:enabled")`);
    return new Playground(page, resources);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#resources.disposeAsync();
  }

  /** Replaces what stands in a field. */
  async fill(field: string, text: string): Promise<void> {
    await this.page.evaluate(
      `document.querySelector("${field}").focus(), document.querySelector("${field}").select()`,
    );
    await this.page.type(text);
  }

  async press(button: string, within = "body"): Promise<void> {
    await this.page.evaluate(
      `[...document.querySelectorAll("${within} button")]
        .find(({ textContent }) => textContent.trim() === "${button}").click()`,
    );
  }

  /** Chooses the example whose name has these words. */
  async choose(words: string): Promise<void> {
    await this.page.evaluate(`{
      const examples = document.querySelector("#example");
      examples.selectedIndex = [...examples.options].findIndex(({ text }) => text.includes("${words}"));
      examples.dispatchEvent(new Event("change"));
    }`);
  }

  /** Runs a text, and waits for what the page says of it. */
  async run(text: string, state: string): Promise<void> {
    await this.fill("#code", text);
    await this.press("Run");
    await this.page.until(`${NONE} && ${STATE}.includes(${JSON.stringify(state)})`);
  }

  async say(text: string, answer: string): Promise<void> {
    await this.fill("#said-you", text);
    await this.press("Send");
    await this.page.until(`${LATEST}?.includes("${answer}")`);
  }

  /** The scripts that the page has loaded, but for other pages of the site, which it loads ahead. */
  loaded(): Promise<string[]> {
    return this.page.evaluate(
      `performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)
        .filter((path) => path.endsWith(".js") && !path.includes(".md."))`,
    );
  }
}

/** How large a file is once it is compressed. */
async function compressed(file: string): Promise<number> {
  const { body } = new Response(await Deno.readFile(file));
  return (await new Response(body?.pipeThrough(new CompressionStream("gzip"))).bytes()).length;
}

const BOT = `import { Bot, type Context } from "@greenroom/matrix/bot";
const bot: Bot = Bot.fromEnv();
bot.command("ping", (c: Context) => c.reply("typed"));
bot.command("greet", async (c) => { await c.reply("Hello, " + await c.ask("Your name?")); });
bot.command("later", async (c) => { await c.remind({ in: 600_000 }, "Tea"); await c.reply("Noted"); });
bot.command("break", (c) => {
  (c as any).nothing();
});
await bot.start();`;

/** Texts with a mistake, and what the page says of each. */
const MISTAKES = {
  "let a;\nlet b = ;": "Line 2: Unexpected token",
  "let twice;\n\nlet twice;": "Line 3: Identifier 'twice' has already been declared",
  'import { Bot } from "./elsewhere.js";\nnew Bot();': "Line 1: Only @greenroom/matrix, ",
  '\nimport { Robot } from "@greenroom/matrix/bot";\nnew Robot();':
    "Line 2: The requested module @greenroom/matrix/bot does not provide an export named 'Robot'",
  'import { Bot } from "@greenroom/matrix/bot";\nconst bot = Bot.fromEnv();\nbot.comand("a");\nawait bot.start();':
    "Line 3: bot.comand is not a function",
  "let a = 1;": "write await bot.start() at the end",
};

/** Defines the tests, for the built site in a folder. */
export function testPlayground(folder: string, program: string, options: { ignore: boolean }): void {
  Deno.test(
    "In the playground a bot that is typed in answers, and goes on after a restart",
    options,
    async () => {
      await using playground = await Playground.open(folder, program);
      const { page } = playground;
      const before = await playground.loaded();

      await playground.press("Run");
      await page.until(RUNS);
      await playground.say("!ping", "pong");

      await playground.run(BOT, "The bot runs.");
      await playground.say("!ping", "typed");
      await playground.say("!greet", "Your name?");
      await playground.press("Restart");
      await page.until(
        `document.querySelector("details pre").textContent.includes("has ended") && ${RUNS}`,
      );
      await playground.say("Alice", "Hello, Alice");
      await playground.say("!later", "Noted");
      await playground.press("+ 10 minutes");
      await page.until(`${LATEST}.includes("Tea")`);
      await playground.say("!break", "Sorry, that failed");
      await page.until(`${STATE} === "Line 7: c.nothing is not a function"`);

      await playground.choose("An encrypted room");
      await page.until(`${NONE} && ${RUNS}`);
      await playground.say("!ping", "pong");
      await page.evaluate("document.querySelector('.chat li.other .lock').click()");
      await page.until("document.querySelector('.sealed')?.textContent.includes('m.room.encrypted')");
      assertEquals(page.errors, []);

      // What is fetched ahead comes from the cache when it is used.
      const loaded = new Set(await playground.loaded()).difference(new Set(before));
      assert(loaded.has("/playground/engine.js"));
      assert(before.length < 8, `before Run the page loads ${before}`);
      let size = 0;
      for (const path of loaded) size += await compressed(folder + path.slice(1));
      assert(size <= 700_000, `Run loads ${size} bytes`);
    },
  );

  Deno.test(
    "The playground names the line of a mistake, and shows it on a phone without scrolling",
    options,
    async () => {
      await using playground = await Playground.open(folder, program, { width: 390 });
      const { page } = playground;
      for (const [text, state] of Object.entries(MISTAKES)) {
        await playground.run(text, state);
        const bottom = await page.evaluate<number>(
          "scrollTo(0, 0), document.querySelector('#state').getBoundingClientRect().bottom - innerHeight",
        );
        assert(bottom <= 0, `${state} is ${bottom} pixels too low`);
      }
      await playground.run(BOT, "The bot runs.");
      assertEquals(page.errors, []);
    },
  );

  Deno.test("On the first page a bot runs too, and nothing of that is loaded before", options, async () => {
    await using playground = await Playground.open(folder, program, { path: "/index.html" });
    const { page } = playground;
    assert(!(await playground.loaded()).some((path) => path.includes("/playground/")));
    await playground.press("Run");
    await page.until(RUNS);
    await playground.say("!ping", "pong");
    assertEquals(page.errors, []);
  });

  Deno.test(
    "In two windows of the playground Alice and Bob compare emoji, and locks show what the homeserver has",
    options,
    async () => {
      await using playground = await Playground.open(folder, program);
      const { page } = playground;
      const textIn = (selector: string) =>
        page.evaluate<string>(`document.querySelector("${selector}").textContent.trim()`);
      await playground.choose("Two windows");
      await playground.press("Run");
      await page.until(`${STATE} === "Both clients run."`);

      await playground.fill("#said-alice", "Is that you?");
      await playground.press("Send", ".alice");
      await page.until("document.querySelector('.bob .other .text')");
      assertEquals(await textIn(".bob .other .text"), "Is that you?");
      assertEquals(await textIn(".alice .own .text"), "Is that you?");
      await page.evaluate("document.querySelector('.bob .other .lock').click()");
      await page.until("document.querySelector('.bob .sealed')");
      const sealed = JSON.parse(await textIn(".bob .sealed"));
      assertEquals([sealed.type, sealed.sender], ["m.room.encrypted", "@alice:localhost"]);
      assert(!JSON.stringify(sealed).includes("Is that you?"));

      await playground.press("Verify", ".bob");
      await page.until("document.querySelectorAll('.emoji').length === 2");
      const [alice, bob] = [await textIn(".alice .emoji"), await textIn(".bob .emoji")];
      assertEquals(alice, bob);
      await playground.press("They match", ".alice");
      await playground.press("They match", ".bob");
      await page.until("document.querySelectorAll('.chat .note').length === 2");
      for (const name of ["alice", "bob"]) {
        assertEquals(await textIn(`.${name} .note`), "You have verified each other.");
      }

      await playground.press("Verify", ".alice");
      await page.until("document.querySelectorAll('.emoji').length === 2");
      await playground.press("They differ", ".bob");
      await page.until(
        "document.querySelectorAll('.emoji').length === 0 && document.querySelectorAll('.chat .note').length === 4",
      );
      assertEquals(page.errors, []);
    },
  );
}
