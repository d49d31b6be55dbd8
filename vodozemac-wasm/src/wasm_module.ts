/** The compiled module: loaded once, and only when someone asks. */

let module: Promise<WebAssembly.Module> | undefined;

async function load(): Promise<WebAssembly.Module> {
  const { default: packed } = await import("../vodozemac.json", { with: { type: "json" } });
  return await WebAssembly.compile(await inflate(Uint8Array.fromBase64(packed)));
}

/** Read by hand: `Response` takes a third longer. */
async function inflate(deflated: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const { readable, writable } = new DecompressionStream("deflate-raw");
  const writer = writable.getWriter();
  const written = Promise.all([writer.write(deflated), writer.close()]);
  let bytes = new Uint8Array(0);
  for await (const chunk of readable) {
    const longer = new Uint8Array(bytes.length + chunk.length);
    longer.set(bytes);
    longer.set(chunk, bytes.length);
    bytes = longer;
  }
  await written;
  return bytes;
}

/**
 * The module of `vodozemac.wasm`. It is part of the module graph: no permission is needed, and a
 * bundle has it in itself.
 */
export function wasmModule(): Promise<WebAssembly.Module> {
  module ??= load();
  return module;
}
