/**
 * Lighthouse looks at a page of each kind. What it says of speed depends on the machine, and is printed; what
 * the first page loads does not.
 *
 * @module
 */

import { assert } from "@std/assert";
import { SiteServer } from "./support/site_server.ts";

const PAGES = ["/", "/docs/start", "/playground", "/api/~/MemoryStore"];
const LIGHTHOUSE = new URL("../../site/node_modules/lighthouse/cli/index.js", import.meta.url).pathname;
const LEAST = 0.95;
/** After how long a look at one page is taken to hang, in milliseconds. */
const LIMIT = 300_000;
/** How often it looks at one page at most: it gives up where a busy machine keeps Chromium waiting. */
const TRIES = 3;
const [BYTES, REQUESTS] = [150_000, 20];

/** What is read of a report. */
interface Report {
  categories: Record<string, { score: number; auditRefs: { id: string; weight: number }[] }>;
  audits: Record<
    string,
    { score: number | null; title: string; numericValue?: number; details?: { items?: unknown[] } }
  >;
}

async function report(url: string, program: string, tries = TRIES): Promise<Report> {
  const { success, stdout, stderr } = await new Deno.Command("node", {
    args: [
      LIGHTHOUSE,
      url,
      "--quiet",
      "--output=json",
      "--no-enable-error-reporting",
      "--only-categories=performance,accessibility,best-practices,seo",
      "--chrome-flags=--headless=new --no-sandbox --disable-gpu",
    ],
    env: { CHROME_PATH: await pathOf(program) },
    signal: AbortSignal.timeout(LIMIT),
  }).output();
  if (!success && tries > 1) return await report(url, program, tries - 1);
  if (!success) throw new Error(`Lighthouse failed, or hung: ${new TextDecoder().decode(stderr)}`);
  return JSON.parse(new TextDecoder().decode(stdout));
}

async function pathOf(program: string): Promise<string> {
  const { stdout } = await new Deno.Command("which", { args: [program] }).output();
  return new TextDecoder().decode(stdout).trim();
}

/** Defines the test, for the built site in a folder. */
export function testLighthouse(folder: string, program: string, options: { ignore: boolean }): void {
  const name = "Lighthouse gives a page of each kind 95 and more, and the first page loads little";
  Deno.test(name, options, async () => {
    await using server = new SiteServer(folder);
    for (const path of PAGES) {
      const { categories, audits } = await report(server.url + path, program);
      console.log(`${path}: performance ${categories.performance?.score}, on this machine, now`);
      for (const [category, { score, auditRefs }] of Object.entries(categories)) {
        const faults = auditRefs.filter(({ id, weight }) => weight > 0 && (audits[id]?.score ?? 1) < 0.9)
          .map(({ id }) => `${audits[id]?.title}: ${JSON.stringify(audits[id]?.details?.items)}`);
        assert(category === "performance" || score >= LEAST, `${path}: ${category} ${score}: ${faults}`);
      }
      if (path !== "/") continue;
      const bytes = audits["total-byte-weight"]?.numericValue ?? Infinity;
      const requests = audits["network-requests"]?.details?.items?.length ?? Infinity;
      assert(bytes <= BYTES && requests <= REQUESTS, `it loads ${bytes} bytes, in ${requests} requests`);
    }
  });
}
