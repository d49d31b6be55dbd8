/**
 * The files of another commit.
 *
 * @module
 */

import { ROOT, run } from "../../tools/process.ts";
import type { Entrant } from "../peers/entrants.ts";

/** The files of a commit, in a folder that goes away with this. */
export class Checkout implements AsyncDisposable {
  /** The folder, which ends with a slash as `ROOT` does. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /** Writes them; undefined where the commit is not there, as in a clone without history. */
  static async of(commit: string): Promise<Checkout | undefined> {
    const { code } = await run("git", ["cat-file", "-e", `${commit}^{commit}`]);
    if (code !== 0) return undefined;
    const folder = `${await Deno.makeTempDir({ prefix: "greenroom-guard-" })}/`;
    const archive = `${folder}files.tar`;
    for (
      const [command, ...args] of [
        ["git", "archive", "--format=tar", `--output=${archive}`, commit],
        ["tar", "-xf", archive, "-C", folder],
      ] as const
    ) {
      const { code, output } = await run(command, args);
      if (code !== 0) throw new Error(`Cannot write the files of ${commit}: ${output}`);
    }
    await Deno.remove(archive);
    return new Checkout(folder);
  }

  /** The same contestant, by this commit's files. */
  entrant({ args, ...rest }: Entrant): Entrant {
    const there = (arg: string) => arg.startsWith(ROOT) ? this.folder + arg.slice(ROOT.length) : arg;
    return { ...rest, args: args.map(there), cwd: this.folder };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}
