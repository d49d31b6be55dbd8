/**
 * Generated TypeScript, as `deno fmt` formats it.
 *
 * @module
 */

import { ROOT } from "./process.ts";

/** The same text, formatted. */
export async function formatted(text: string): Promise<string> {
  const fmt = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--ext=ts", "-"],
    ...{ cwd: ROOT, stdin: "piped", stdout: "piped" } as const,
  }).spawn();
  const output = fmt.output();
  await new Blob([text]).stream().pipeTo(fmt.stdin);
  return new TextDecoder().decode((await output).stdout);
}
