/** The compiler as an assertion: what it takes, and what it says against the rest. */

import { assertEquals } from "@std/assert";

/** The address of a module of the types, for code that is to be compiled. */
export function moduleOf(file: string): string {
  return new URL(`../../src/types/${file}`, import.meta.url).href;
}

/** Fails with the compiler's words if `code` does not compile. */
export async function assertCompiles(code: string): Promise<void> {
  assertEquals(await complaintsOf([code]), [[]]);
}

/** The errors that the compiler finds in each of these programs, by one run: that takes seconds. */
export async function complaintsOf(programs: readonly string[]): Promise<string[][]> {
  const folder = await Deno.makeTempDir();
  try {
    const files = programs.map((_, at) => `${folder}/program_${at}.ts`);
    for (const [at, code] of programs.entries()) await Deno.writeTextFile(files[at] ?? "", code);
    const config = Deno.env.get("GREENROOM_CONFIG") ?? new URL("../../deno.json", import.meta.url).pathname;
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--config", config, ...files],
      env: { NO_COLOR: "1" },
    }).output();
    if (success) return files.map(() => []);
    const output = new TextDecoder().decode(stderr);
    const errors = output.split(/^(?=TS\d+ \[ERROR\])/m).filter((each) => each.startsWith("TS"));
    const found = files.map((file) =>
      errors.filter((each) => /^ +at (\S+?):\d+:\d+$/m.exec(each)?.[1] === `file://${file}`)
    );
    assertEquals(found.flat().length, errors.length, output); // none is of another file
    if (errors.length === 0) throw new Error(output);
    return found;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
