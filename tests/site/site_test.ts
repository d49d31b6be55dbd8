import { assert, assertEquals } from "@std/assert";
import { buildSite, siteObstacle } from "../../tools/site.ts";
import { findChromium } from "../../tools/site/chromium.ts";
import { Browser, type Page } from "./support/browser.ts";
import { SiteServer } from "./support/site_server.ts";

const program = await findChromium();
const obstacle = program === undefined ? "needs Chromium" : await siteObstacle();
if (obstacle !== undefined) console.log(`The tests of the site are skipped: the site ${obstacle}`);
const folder = obstacle === undefined ? await buildSite() : "";

/** A page of each kind that `deno doc` writes; there are thousands. */
const REFERENCE = [
  "/api/index.html",
  "/api/store/kv/index.html",
  "/api/~/StoreLock.html",
  "/api/~/MemoryStore.html",
  "/api/~/defineSession.html",
  "/api/~/FindTokens.html",
];

/** Between them, each width and each scheme; what axe finds depends on one or the other. */
const LOOKS = [{ width: 1280, scheme: "light" }, { width: 390, scheme: "dark" }] as const;

/** All pages but the reference's. */
async function pagesIn(path: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${folder}${path}`)) {
    if (isDirectory && path + name !== "api") found.push(...await pagesIn(`${path}${name}/`));
    else if (name.endsWith(".html")) found.push(`/${path}${name}`);
  }
  return found.sort();
}

interface Violation {
  id: string;
  nodes: { target: string[]; failureSummary: string }[];
}

/** What axe finds, and whether the page scrolls sideways. */
async function faults(page: Page): Promise<string[]> {
  const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  const violations = await page.evaluate<Violation[]>(
    "axe.run({ resultTypes: ['violations'] }).then((found) => found.violations)",
  );
  return [
    ...wide > 0 ? [`is ${wide} pixels too wide`] : [],
    ...violations.flatMap(({ id, nodes }) =>
      nodes.slice(0, 3).map(({ target, failureSummary }) => `${id}: ${target}: ${failureSummary}`)
    ),
  ];
}

Deno.test({
  name: "Each page of the site fits a desk and a phone, light and dark, without an error or a barrier",
  ignore: obstacle !== undefined,
  async fn() {
    const axe = await Deno.readTextFile(
      new URL("../../site/node_modules/axe-core/axe.min.js", import.meta.url),
    );
    await using server = new SiteServer(folder);
    await using browser = await Browser.start(program ?? "");
    const paths = [...await pagesIn(""), ...REFERENCE].values();
    const found: string[] = [];
    const visit = async (): Promise<void> => {
      const page = await browser.newPage();
      for (const path of paths) {
        for (const look of LOOKS) {
          await page.look(look);
          await page.open(server.url + path);
          await page.evaluate(axe);
          const where = `${path}, ${look.width} pixels, ${look.scheme}`;
          for (const fault of await faults(page)) found.push(`${where}: ${fault}`);
        }
        found.push(...page.errors.splice(0).map((error) => `${path}: ${error}`));
      }
    };
    await Promise.all([visit(), visit()]);
    assertEquals(found, []);
  },
});

const RUNS = "document.querySelector('#state')?.textContent === 'The bot runs.'";

/** Replaces what stands in a field. */
async function fill(page: Page, field: string, text: string): Promise<void> {
  await page.evaluate(
    `document.querySelector("${field}").focus(), document.querySelector("${field}").select()`,
  );
  await page.type(text);
}

async function press(page: Page, button: string): Promise<void> {
  await page.evaluate(
    `[...document.querySelectorAll("button")].find((each) => each.textContent.trim() === "${button}").click()`,
  );
}

async function say(page: Page, text: string, answer: string): Promise<void> {
  await fill(page, "#said", text);
  await press(page, "Send");
  await page.until(
    `document.querySelector(".chat li.bot:last-child")?.textContent.includes("${answer}")`,
  );
}

/** How large files are once they are compressed. */
async function compressed(files: readonly string[]): Promise<number> {
  let size = 0;
  for (const file of files) {
    const { body } = new Response(
      await Deno.readFile(`${folder}playground/${file}`),
    );
    const packed = body?.pipeThrough(new CompressionStream("gzip"));
    size += (await new Response(packed).bytes()).length;
  }
  return size;
}

Deno.test({
  name: "In the playground a bot that is typed in answers, and goes on after a restart",
  ignore: obstacle !== undefined,
  async fn() {
    await using server = new SiteServer(folder);
    await using browser = await Browser.start(program ?? "");
    const page = await browser.newPage();
    await page.look({ width: 1280, scheme: "light" });
    await page.open(`${server.url}/playground.html`);
    await page.until(RUNS);
    await say(page, "!ping", "pong");

    const bot = `import { Bot } from "@greenroom/matrix/bot";
const bot = Bot.fromEnv();
bot.command("ping", (c) => c.reply("typed"));
bot.command("greet", async (c) => { await c.reply("Hello, " + await c.ask("Your name?")); });
bot.command("later", async (c) => { await c.remind({ in: 600_000 }, "Tea"); await c.reply("Noted"); });
await bot.start();`;
    await fill(page, "#code", bot);
    await press(page, "Start anew");
    await page.until(
      `document.querySelectorAll(".chat li").length === 0 && ${RUNS}`,
    );
    await say(page, "!ping", "typed");
    await say(page, "!greet", "Your name?");
    await press(page, "Restart");
    await page.until(
      `document.querySelector("details pre").textContent.includes("has ended") && ${RUNS}`,
    );
    await say(page, "Alice", "Hello, Alice");
    await say(page, "!later", "Noted");
    await press(page, "+ 10 minutes");
    await page.until(
      'document.querySelector(".chat li.bot:last-child").textContent.includes("Tea")',
    );

    await page.evaluate(`{
      const examples = document.querySelector("#example");
      examples.selectedIndex = examples.options.length - 1; // in an encrypted room
      examples.dispatchEvent(new Event("change"));
    }`);
    await page.until(
      `document.querySelectorAll(".chat li").length === 0 && ${RUNS}`,
    );
    await say(page, "!ping", "sealed as");

    await fill(page, "#code", 'import { Bot } from "./elsewhere.js";');
    await press(page, "Start anew");
    await page.until(
      'document.querySelector("#state").textContent.includes("can be imported here")',
    );
    assertEquals(page.errors, []);

    const loaded = await page.evaluate<string[]>(
      `performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname)
        .filter((path) => path.startsWith("/playground/")).map((path) => path.slice("/playground/".length))`,
    );
    const size = await compressed(loaded);
    assert(size > 0 && size <= 700_000, `the playground loads ${size} bytes`);
  },
});
