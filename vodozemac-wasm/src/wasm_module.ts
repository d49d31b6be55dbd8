/** The compiled module: loaded once, and only when someone asks. */

let module: Promise<WebAssembly.Module> | undefined;

async function load(): Promise<WebAssembly.Module> {
  const { default: base64 } = await import("../vodozemac.json", { with: { type: "json" } });
  return await WebAssembly.compile(Uint8Array.fromBase64(base64));
}

/**
 * The module of `vodozemac.wasm`. It is part of the module graph: no permission is needed, and a
 * bundle has it in itself.
 */
export function wasmModule(): Promise<WebAssembly.Module> {
  module ??= load();
  return module;
}
