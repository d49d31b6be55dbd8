/**
 * How large everything is that a program loads.
 *
 * @module
 */

import { number, row } from "../support/markdown.ts";
import { ROOT } from "../../tools/process.ts";

const KB = 1_000;
/** The bundler does not know imports of WebAssembly in the source phase: the file that has one is left out, and the module counted. */
const WASM_MODULE = "vodozemac-wasm/src/wasm_module.ts";

/** Bundles the package, with and without encryption, and tables the sizes. */
export async function bundleSizes(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
  try {
    const bytes = await bundle(folder);
    const packed = await gzip(bytes);
    const wasm = await Deno.readFile(`${ROOT}vodozemac-wasm/vodozemac.wasm`);
    const rows = [
      row(["mod.ts with all that it imports", kilobytes(bytes.length), kilobytes(packed)]),
      row([
        "vodozemac.wasm, which encryption loads",
        kilobytes(wasm.length),
        kilobytes(await gzip(wasm)),
      ]),
    ];
    return [row(["", "kB", "kB, gzip"]), "|---|---:|---:|", ...rows].join("\n");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function bundle(folder: string): Promise<Uint8Array<ArrayBuffer>> {
  const { imports } = JSON.parse(await Deno.readTextFile(`${ROOT}deno.json`));
  const map = {
    imports: {
      ...imports,
      "@greenroom/vodozemac-wasm": new URL(`file://${ROOT}vodozemac-wasm/mod.ts`).href,
      [new URL(`file://${ROOT}${WASM_MODULE}`).href]: `file://${folder}/wasm_module.ts`,
    },
  };
  await Deno.writeTextFile(`${folder}/wasm_module.ts`, "export const wasmModule = () => undefined;\n");
  await Deno.writeTextFile(`${folder}/map.json`, JSON.stringify(map));
  const output = `${folder}/bundle.js`;
  const args = ["bundle", "--quiet", "--minify", "--platform=deno", `--import-map=${folder}/map.json`];
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...args, `--output=${output}`, `${ROOT}mod.ts`],
  }).output();
  if (code !== 0) throw new Error(`Cannot bundle the package: ${new TextDecoder().decode(stderr)}`);
  return await Deno.readFile(output);
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<number> {
  const packed = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  return (await new Response(packed).arrayBuffer()).byteLength;
}

function kilobytes(bytes: number): string {
  return number(bytes / KB);
}
