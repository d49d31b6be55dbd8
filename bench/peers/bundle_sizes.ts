/**
 * How large everything is that a program loads: ours, and others' by the same bundler.
 *
 * @module
 */

import { ROOT } from "../../tools/process.ts";
import { number, row } from "../support/markdown.ts";
import { installJsPeers } from "./js_peers.ts";

const KB = 1_000;
const SDK_WASM = "matrix_sdk_crypto_wasm_bg.wasm";

/** Bundles the package, and unless `own` is set those of others; returns a table of the sizes. */
export async function bundleTable({ own }: { readonly own: boolean }): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
  try {
    const rows = [
      await sizes(
        "Greenroom: mod.ts, with vodozemac.wasm",
        await bundle(`${ROOT}mod.ts`, `${folder}/bundle.js`),
      ),
      ...own ? [] : await others(folder),
    ];
    return [row(["", "kB", "kB, gzip"]), "|---|---:|---:|", ...rows].join("\n");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Others, where they can be had. */
async function others(folder: string): Promise<string[]> {
  const cwd = await installJsPeers(() => {}).catch(() => undefined);
  if (cwd === undefined) return [];
  const rows: string[] = [];
  for (const name of ["js", "bot"]) {
    const entry = `${cwd}/${name}_bundle.mjs`;
    await Deno.writeTextFile(entry, `export * from "matrix-${name}-sdk";\n`);
    const bytes = await bundle(entry, `${folder}/${name}.js`, ["--node-modules-dir=manual"], cwd);
    const title = name === "js" ? "matrix-js-sdk" : "matrix-bot-sdk, without its native library";
    rows.push(await sizes(title, bytes));
  }
  const wasm = await findWasm(`${cwd}/node_modules/.deno`);
  return wasm === undefined
    ? rows
    : rows.toSpliced(1, 0, await sizes("matrix-sdk-crypto-wasm, which its encryption loads", wasm));
}

async function findWasm(modules: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const name = "@matrix-org/matrix-sdk-crypto-wasm";
  for await (const each of Deno.readDir(modules)) {
    if (!each.name.startsWith(`${name.replace("/", "+")}@`)) continue;
    return await Deno.readFile(`${modules}/${each.name}/node_modules/${name}/pkg/${SDK_WASM}`);
  }
  return undefined;
}

/** Bundles a program, and returns what it came to. */
export async function bundle(
  entry: string,
  output: string,
  flags: readonly string[] = [],
  cwd: string = ROOT,
): Promise<Uint8Array<ArrayBuffer>> {
  const args = ["bundle", "--quiet", "--minify", "--platform=deno", ...flags, `--output=${output}`, entry];
  const { code, stderr } = await new Deno.Command(Deno.execPath(), { args, cwd }).output();
  if (code !== 0) throw new Error(`Cannot bundle ${entry}: ${new TextDecoder().decode(stderr)}`);
  return await Deno.readFile(output);
}

async function sizes(title: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const { byteLength } = await new Response(packed).arrayBuffer();
  return row([title, number(bytes.length / KB), number(byteLength / KB)]);
}
