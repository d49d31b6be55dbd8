/** The compiler as an assertion: code made from the specification's examples must compile. */

import { assert } from "@std/assert";

/** The address of a module of the types, for code that is to be compiled. */
export function moduleOf(file: string): string {
  return new URL(`../../src/types/${file}`, import.meta.url).href;
}

/** Fails with the compiler's words if `code` does not compile. */
export async function assertCompiles(code: string): Promise<void> {
  const said = await complaintsOf(code);
  assert(said === "", said);
}

/** What the compiler says against `code`; empty: nothing. */
export async function complaintsOf(code: string): Promise<string> {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, code);
    const config = new URL("../../deno.json", import.meta.url);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--config", config.pathname, file],
      env: { NO_COLOR: "1" },
    }).output();
    return success ? "" : new TextDecoder().decode(stderr);
  } finally {
    await Deno.remove(file);
  }
}
