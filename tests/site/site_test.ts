import { assertEquals } from "@std/assert";
import { buildSite, siteObstacle } from "../../tools/site.ts";
import { findChromium } from "../../tools/site/chromium.ts";
import { testPlayground } from "./playground.ts";
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

testPlayground(folder, program ?? "", { ignore: obstacle !== undefined });
