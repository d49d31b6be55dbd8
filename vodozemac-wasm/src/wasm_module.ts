/** The compiled module: loaded once, and only when someone asks. */

let module: Promise<WebAssembly.Module> | undefined;

async function load(): Promise<WebAssembly.Module> {
  // @ts-expect-error: TypeScript 6 does not know source-phase imports; this one yields a module and not an instance, so
  // that several can be made.
  return await import.source("../vodozemac.wasm");
}

/** The module of `vodozemac.wasm`. It is part of the module graph: no permission is needed. */
export function wasmModule(): Promise<WebAssembly.Module> {
  module ??= load();
  return module;
}
