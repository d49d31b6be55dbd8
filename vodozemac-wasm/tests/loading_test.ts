import { assert, assertEquals } from "@std/assert";

/** Runs a script in a fresh process that has no permission and asks for none. */
async function run(script: string): Promise<string> {
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--quiet", "--ext=ts", "-"],
    cwd: `${import.meta.dirname}/..`,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const input = process.stdin.getWriter();
  await input.write(new TextEncoder().encode(script));
  await input.close();
  const { stdout, stderr, success } = await process.output();
  assert(success, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

Deno.test("Vodozemac.load() needs no permission", async () => {
  const script = `
    import { Vodozemac } from "@greenroom/vodozemac-wasm";
    const { megolm } = await Vodozemac.load();
    using outbound = megolm.createOutbound();
    using inbound = megolm.createInbound(outbound.sessionKey());
    // Beyond the number of messages at which node:crypto is loaded.
    for (let index = 0; index < 300; index++) inbound.decrypt(outbound.encrypt("x"));
    console.log(inbound.decrypt(outbound.encrypt("ok")).messageIndex);
  `;
  assertEquals(await run(script), "300");
});

Deno.test("importing the package compiles nothing before the first load()", async () => {
  const script = `
    let compiled = 0;
    for (const name of ["compile", "instantiate"]) {
      const original = WebAssembly[name];
      WebAssembly[name] = (...args) => (compiled += 1, original.apply(WebAssembly, args));
    }
    const { Vodozemac } = await import("@greenroom/vodozemac-wasm");
    const before = compiled;
    for (let time = 0; time < 2; time++) await Vodozemac.load();
    console.log(before, compiled);
  `;
  assertEquals(await run(script), "0 2"); // compiled, and instantiated
});

Deno.test("Vodozemac works in a Worker", async () => {
  const worker = new Worker(new URL("./support/worker.ts", import.meta.url), { type: "module" });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = (event) => reject(event.error);
  assertEquals((await promise).length, 43);
  worker.terminate();
});
