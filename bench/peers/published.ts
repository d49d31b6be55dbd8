/**
 * Greenroom's contestants with the package as it is published: modules of a registry, as JSR would have them.
 *
 * @module
 */

import denoJson from "../../deno.json" with { type: "json" };
import { run } from "../../tools/process.ts";
import { published } from "../first_start/packages.ts";
import { SlowRegistry } from "../first_start/registry.ts";
import type { Entrant } from "./entrants.ts";
import type { Variant } from "./start_and_idle.ts";

/** What is added to the name of a contestant. */
export const PUBLISHED = ", as published";

/** A registry with the package, for as long as this is there. */
export class PublishedPackage implements AsyncDisposable, Variant {
  readonly #folder: string;
  readonly #registry: SlowRegistry;

  private constructor(folder: string, registry: SlowRegistry) {
    [this.#folder, this.#registry] = [folder, registry];
  }

  /** Builds the package. Libraries of npm are those that Deno has in its cache. */
  static async make(): Promise<PublishedPackage> {
    const folder = await Deno.makeTempDir({ prefix: "greenroom-bench-" });
    const own = await published(`${folder}/package`);
    const registry = new SlowRegistry([own], { roundTrip: 0, upstream: "", kept: new Map() });
    const imports = Object.fromEntries(
      Object.keys(denoJson.exports).map((entry) => [
        denoJson.name + entry.slice(1),
        `jsr:${denoJson.name}@${denoJson.version}${entry.slice(1)}`,
      ]),
    );
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify({ imports }));
    const { stdout } = await run("deno", ["info", "--json"]);
    await Deno.mkdir(`${folder}/cache`);
    await Deno.symlink(`${JSON.parse(stdout).npmCache}`, `${folder}/cache/npm`);
    return new PublishedPackage(folder, registry);
  }

  /** The same contestant with this package. */
  of({ name, args: [command = "run", ...args], env, ...entrant }: Entrant): Entrant {
    return {
      ...entrant,
      name: name + PUBLISHED,
      args: [command, `--config=${this.#folder}/deno.json`, ...args],
      env: { ...env, JSR_URL: this.#registry.env.JSR_URL ?? "", DENO_DIR: `${this.#folder}/cache` },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#registry[Symbol.asyncDispose]();
    await Deno.remove(this.#folder, { recursive: true });
  }
}
