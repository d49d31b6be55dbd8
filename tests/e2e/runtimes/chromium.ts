/**
 * Programs in Chromium: bundled by esbuild as an application would, on a page served on loopback.
 *
 * @module
 */

import * as esbuild from "esbuild";
import { PATIENCE_MS } from "../support/deadline.ts";

/** How a page is opened, and how it ends. */
const RUNNER = (folder: string) => `
import { createInterface } from "node:readline";
import { chromium } from "${folder}/tools/node_modules/playwright-core/index.mjs";
const browser = await chromium.launch({
  executablePath: process.env.GREENROOM_CHROMIUM,
  args: ["--no-sandbox"],
  timeout: ${PATIENCE_MS},
});
const context = await browser.newContext();
context.setDefaultTimeout(${PATIENCE_MS});
const open = async (url) => {
  const page = await context.newPage();
  page.on("pageerror", (error) => console.error(error.stack));
  page.on("console", (message) => console.error(message.text()));
  await page.goto(url);
  return page;
};
const result = async (page) => {
  await page.waitForFunction("globalThis.main !== undefined", undefined, { polling: 50 });
  return await page.evaluate(() => globalThis.main());
};
let page;
const orders = {
  open: async (url) => void (page = await open(url)),
  reload: async (url) => void await page.goto(url),
  kill: async (url) => {
    await page.close();
    page = await open(url);
  },
  call: () => result(page),
};
try {
  for await (const line of createInterface({ input: process.stdin })) {
    const { order, url } = JSON.parse(line);
    console.log(JSON.stringify({ answer: await orders[order](url) }));
  }
} finally {
  await browser.close();
}
`;

/** A page of a browser, one after the other; they share what the browser stores. */
export class Pages implements AsyncDisposable {
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #runner: Deno.ChildProcess;
  readonly #orders: WritableStreamDefaultWriter<Uint8Array>;
  readonly #answers: ReadableStreamDefaultReader<string>;
  readonly #errors: Promise<string>;
  #text = "";

  private constructor(folder: string, script: string, policy: string | undefined) {
    this.#server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
      if (new URL(url).pathname === "/program.js") {
        return new Response(script, { headers: { "content-type": "text/javascript" } });
      }
      const headers = { ...(policy === undefined ? {} : { "content-security-policy": policy }) };
      const page = '<!doctype html><script type="module" src="/program.js"></script>';
      return new Response(page, { headers: { ...headers, "content-type": "text/html" } });
    });
    this.#runner = new Deno.Command(`${folder}/tools/node_modules/node/bin/node`, {
      args: ["--input-type=module", "--eval", RUNNER(folder)],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#orders = this.#runner.stdin.getWriter();
    this.#answers = this.#runner.stdout.pipeThrough(new TextDecoderStream()).getReader();
    this.#errors = new Response(this.#runner.stderr).text();
  }

  /**
   * Makes pages of a program, and opens none yet.
   *
   * @param folder Where the tools and the application's project are.
   * @param program The program.
   * @param policy Its Content-Security-Policy. Default: none.
   */
  static async of(folder: string, program: string, policy?: string): Promise<Pages> {
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
    return new Pages(folder, outputFiles[0]?.text ?? "", policy);
  }

  /** Opens the page. */
  async open(query: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.#order("open", query);
  }

  /** Goes to the page anew, in the middle of what it does. */
  async reload(query: Readonly<Record<string, string>>): Promise<void> {
    await this.#order("reload", query);
  }

  /** Closes the page in the middle of what it does, and opens it anew. */
  async kill(query: Readonly<Record<string, string>>): Promise<void> {
    await this.#order("kill", query);
  }

  /** What the program's `main()` returns. */
  async call(): Promise<unknown> {
    return await this.#order("call");
  }

  async #order(order: string, query: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const url = `http://127.0.0.1:${this.#server.addr.port}/?${new URLSearchParams(query)}`;
    await this.#orders.write(new TextEncoder().encode(`${JSON.stringify({ order, url })}\n`));
    while (!this.#text.includes("\n")) {
      const { value, done } = await this.#answers.read();
      if (done) throw new Error(`Cannot run the page: ${await this.#errors}`);
      this.#text += value;
    }
    const [line = "", ...rest] = this.#text.split("\n");
    this.#text = rest.join("\n");
    return JSON.parse(line).answer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#orders.close().catch(() => {}); // it may have ended
    await this.#answers.cancel();
    await this.#runner.status;
    await this.#errors;
    await this.#server.shutdown();
  }
}

/** Runs a program's `main()` on a page. */
export async function inChromium(folder: string, program: string, policy?: string): Promise<unknown> {
  await using pages = await Pages.of(folder, program, policy);
  await pages.open();
  return await pages.call();
}
