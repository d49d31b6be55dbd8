/**
 * Writes `vodozemac.json`: `vodozemac.wasm` as Base64, which is what the library loads. `--check`
 * only compares the two.
 *
 * A file of WebAssembly can be imported without a permission by source-phase imports alone, and no
 * bundler takes those: who imported this library could not bundle. JSON goes everywhere, and costs
 * a start a millisecond.
 *
 * @module
 */

const here = import.meta.dirname ?? ".";
const packed = `${here}/vodozemac.json`;

const text = `${JSON.stringify((await Deno.readFile(`${here}/vodozemac.wasm`)).toBase64())}\n`;
if (!Deno.args.includes("--check")) await Deno.writeTextFile(packed, text);
else if (await Deno.readTextFile(packed) !== text) {
  throw new Error("Cannot trust vodozemac.json: it is not vodozemac.wasm; run deno task build");
}
