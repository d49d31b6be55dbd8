import { assertEquals } from "@std/assert";
import { buildSite, siteObstacle } from "../../tools/site.ts";
import { findChromium } from "../../tools/site/chromium.ts";
import { testLighthouse } from "./lighthouse.ts";
import { testPlayground } from "./playground.ts";
import { Browser, type Page } from "./support/browser.ts";
import { newColours } from "./support/colours.ts";
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

/** Each width with each scheme. A page is looked at in two of them, and the parts around it in all. */
const LOOKS = [
  { width: 1280, scheme: "light", part: "all" },
  { width: 1280, scheme: "dark", part: "around" },
  { width: 390, scheme: "dark", part: "all" },
  { width: 390, scheme: "light", part: "around" },
] as const;

/** What axe looks at, but for colours. */
const PARTS = {
  all: "document",
  around:
    "{ include: [...document.querySelectorAll('.VPNav, .VPSidebar, .VPLocalNav, .aside, header.site')] }",
};

/** The smallest letters of each picture on the page that are shown too small, with their size in pixels. */
const SMALL_LETTERS = `Promise.all(
  [...document.querySelectorAll("main img[src*='svg']")].map(async (image) => {
    const host = document.createElement("div");
    host.attachShadow({ mode: "open" }).innerHTML = await (await fetch(image.src)).text();
    document.body.append(host);
    const svg = host.shadowRoot.querySelector("svg");
    const scale = image.clientWidth / svg.viewBox.baseVal.width;
    const sizes = [...svg.querySelectorAll("text")].map((text) => scale * parseFloat(getComputedStyle(text).fontSize));
    host.remove();
    return { name: image.src, size: Math.min(...sizes) };
  }),
).then((pictures) => pictures.filter(({ size }) => size < 11).map(({ name, size }) => name + " has letters of " + size))`;

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

/**
 * What axe finds, whether the page scrolls sideways, and which pictures have letters that are too small.
 *
 * @param colours The kinds of text whose colours were looked at.
 */
async function faults(page: Page, part: keyof typeof PARTS, colours: Set<string>): Promise<string[]> {
  const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  const options = '{ resultTypes: ["violations"], rules: { "color-contrast": { enabled: false } } }';
  const violations: Violation[] = [];
  for (const run of [`axe.run(${PARTS[part]}, ${options})`, await newColours(page, colours)]) {
    if (run !== undefined) {
      violations.push(...await page.evaluate<Violation[]>(`${run}.then((found) => found.violations)`));
    }
  }
  const small = await page.evaluate<string[]>(SMALL_LETTERS);
  return [
    ...wide > 0 ? [`is ${wide} pixels too wide`] : [],
    ...small,
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
    const colours = new Set<string>();
    const visit = async (): Promise<void> => {
      const page = await browser.newPage();
      for (const path of paths) {
        await page.look(LOOKS[0]);
        await page.open(server.url + path);
        await page.evaluate(axe);
        for (const look of LOOKS) {
          await page.look(look);
          const where = `${path}, ${look.width} pixels, ${look.scheme}`;
          for (const fault of await faults(page, look.part, colours)) found.push(`${where}: ${fault}`);
        }
        found.push(...page.errors.splice(0).map((error) => `${path}: ${error}`));
      }
    };
    await Promise.all([visit(), visit()]);
    assertEquals(found, []);
  },
});

const options = { ignore: obstacle !== undefined };
testPlayground(folder, program ?? "", options);
testLighthouse(folder, program ?? "", options);
