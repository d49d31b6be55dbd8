/**
 * Builds the site into `site/dist/`: `deno task site`. The pages of the repository become pages of
 * VitePress, which npm installs into `site/`; the reference is what `deno doc` writes.
 *
 * @module
 */

import { inTurn, ROOT, run } from "./process.ts";
import { writePlayground } from "./site/playground.ts";
import { writeReference } from "./site/reference.ts";

const SITE = new URL("../site/", import.meta.url).pathname;

/** Installs what the site is built with. Returns why that can't be done here, or nothing if it was. */
export async function siteObstacle(): Promise<string | undefined> {
  const node = await run("node", ["--version"]).catch(() => undefined);
  const major = Number(/^v(\d+)/.exec(node?.stdout ?? "")?.[1]);
  if (!(major >= 20)) return "needs Node 20 or newer, and npm";
  const done = inTurn(`${ROOT}.cache/site.lock`, install);
  return await done.then(() => undefined, ({ message }) => `needs VitePress: ${message.trim()}`);
}

/** Runs a program of the site's, and shows what it printed if it fails. */
async function step(command: string, ...args: string[]): Promise<void> {
  const { code, output } = await run(command, args);
  if (code !== 0) throw new Error(`Cannot build the site: ${command} ${args.join(" ")} failed:\n${output}`);
}

/** Installs what `site/package-lock.json` names, unless that was done. */
async function install(): Promise<void> {
  const [wanted, done] = await Promise.all(
    ["package-lock.json", "node_modules/.package-lock.json"].map((name) =>
      Deno.stat(SITE + name).then(({ mtime }) => mtime?.getTime() ?? 0, () => 0)
    ),
  );
  if (done === undefined || wanted === undefined || done < wanted) await step("npm", "ci", "--prefix", SITE);
}

/**
 * Builds the whole site anew, once {@linkcode siteObstacle} has found nothing in the way.
 *
 * @returns The folder with its files.
 */
export async function buildSite(): Promise<string> {
  await step("node", `${SITE}node_modules/vitepress/bin/vitepress.js`, "build", SITE);
  const folder = `${SITE}dist/`;
  await writeReference(`${folder}api/`);
  await writePlayground(`${folder}playground/`);
  return folder;
}

if (import.meta.main) {
  const obstacle = await siteObstacle();
  if (obstacle !== undefined) {
    console.error(`Cannot build the site: it ${obstacle}`);
    Deno.exit(1);
  }
  console.log(`The site is in ${await buildSite()}`);
}
