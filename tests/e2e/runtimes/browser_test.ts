/** The npm package in Chromium: bundled by esbuild as an application would, on a page served on loopback. */

import { assert, assertEquals } from "@std/assert";
import * as esbuild from "esbuild";
import { runtimeTest } from "./support.ts";

const CONFORMANCE = `
import { storeConformance } from "@greenroom/matrix/testing";
import { IndexedDbStore } from "@greenroom/matrix/store/indexeddb";

const tests = new Map();
storeConformance("IndexedDbStore", (place) => IndexedDbStore.open(place), {
  durable: true, shared: true, locks: true, copies: true,
  define: (name, run) => tests.set(name, run),
});
globalThis.main = async () => {
  const failed = [];
  for (const [name, run] of tests) await run().catch((error) => failed.push(name + ": " + error.stack));
  return { count: tests.size, failed };
};
`;

/** Runs the main function of a program on a page. */
async function inChromium(
  folder: string,
  program: string,
): Promise<unknown> {
  const { outputFiles } = await esbuild.build({
    stdin: { contents: program, resolveDir: `${folder}/app`, loader: "js" },
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    supported: { "top-level-await": true, "using": true },
    write: false,
    logLevel: "error",
  });
  await esbuild.stop();
  const script = outputFiles[0]?.text ?? "";
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    if (new URL(url).pathname === "/program.js") {
      return new Response(script, { headers: { "content-type": "text/javascript" } });
    }
    const page = '<!doctype html><script type="module" src="/program.js"></script>';
    return new Response(page, { headers: { "content-type": "text/html" } });
  });
  const runner = `
    import { chromium } from "${folder}/tools/node_modules/playwright-core/index.mjs";
    const browser = await chromium.launch({ executablePath: process.env.GREENROOM_CHROMIUM, args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      page.on("pageerror", (error) => console.error(error.stack));
      page.on("console", (message) => console.error(message.text()));
      await page.goto("http://127.0.0.1:${server.addr.port}/");
      await page.waitForFunction("globalThis.main !== undefined", undefined, { polling: 50, timeout: 20000 });
      console.log(JSON.stringify(await page.evaluate(() => globalThis.main())));
    } finally {
      await browser.close();
    }
  `;
  const { stdout, stderr } = await new Deno.Command(`${folder}/tools/node_modules/node/bin/node`, {
    args: ["--input-type=module", "--eval", runner],
  }).output();
  const text = new TextDecoder().decode(stdout);
  if (text === "") throw new Error(`Cannot run the page: ${new TextDecoder().decode(stderr)}`);
  return JSON.parse(text);
}

runtimeTest("IndexedDbStore is a store, in Chromium", async (folder) => {
  const { count, failed } = await inChromium(folder, CONFORMANCE) as { count: number; failed: string[] };
  assertEquals(failed, []);
  assert(count > 35);
});
