/**
 * Writes `vodozemac.json`: `vodozemac.wasm`, deflated and in Base64, which is what the library
 * loads. `--check` only compares the two.
 *
 * A file of WebAssembly can be imported without a permission by source-phase imports alone, and no
 * bundler takes those: who imported this library could not bundle. JSON goes everywhere. As it is
 * deflated, programs carry 325 kB less, and an encrypted start takes 1 to 4 ms of processor time more. Zopfli
 * makes 5 % less of it than zlib does.
 *
 * @module
 */

import { inflateRawSync } from "node:zlib";

const here = import.meta.dirname ?? ".";
const packed = `${here}/vodozemac.json`;

const wasm = await Deno.readFile(`${here}/vodozemac.wasm`);
if (Deno.args.includes("--check")) {
  // The same may be deflated in several ways: what counts is what comes of it.
  const bytes = Uint8Array.fromBase64(JSON.parse(await Deno.readTextFile(packed)));
  if (!inflateRawSync(bytes).equals(wasm)) {
    throw new Error("Cannot trust vodozemac.json: it is not vodozemac.wasm; run deno task build");
  }
} else {
  const { default: zopfli } = await import("@gfx/zopfli");
  const bytes = await zopfli.deflateAsync(wasm, { numiterations: 15 });
  await Deno.writeTextFile(packed, `${JSON.stringify(bytes.toBase64())}\n`);
}
