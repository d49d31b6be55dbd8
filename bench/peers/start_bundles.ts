/**
 * Greenroom's contestants, bundled with the sources as `docs/hosts/docker.md` says that a bot can be.
 *
 * @module
 */

import { ROOT, run } from "../../tools/process.ts";
import type { Entrant } from "./entrants.ts";
import type { Variant } from "./start_and_idle.ts";

const CONTESTANTS = `${import.meta.dirname ?? "."}/contestants`;
const SCRIPTS = ["greenroom.ts", "encrypted.ts"];

/** What is added to the name of a contestant. */
export const BUNDLED = ", bundled";

/** Bundles that go away with this. */
export class StartBundles implements AsyncDisposable, Variant {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Makes them. */
  static async make(): Promise<StartBundles> {
    const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
    const flags = ["--quiet", "--platform=deno", "--code-splitting", `--config=${ROOT}deno.json`];
    const entries = SCRIPTS.map((script) => `${CONTESTANTS}/${script}`);
    const { code, output } = await run("deno", ["bundle", ...flags, `--outdir=${folder}`, ...entries]);
    if (code !== 0) throw new Error(`Cannot bundle the contestants: ${output}`);
    return new StartBundles(folder);
  }

  /** The same program in its bundle. */
  of({ name, args, ...entrant }: Entrant): Entrant {
    const bundled = (arg: string) =>
      arg.startsWith(CONTESTANTS) ? `${this.#folder}${arg.slice(CONTESTANTS.length, -".ts".length)}.js` : arg;
    return { ...entrant, name: name + BUNDLED, args: args.map(bundled) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }
}
