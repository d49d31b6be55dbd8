/**
 * Breaks each guard of the encryption, and others against attackers, one after the other, and checks that
 * a test fails: `deno task mutate`. `--help` lists its options.
 *
 * What failed for each guard is kept in `.cache/mutation/` and tried first the next time.
 *
 * @module
 */

import { readAccepted, stale } from "./mutation/accepted.ts";
import { report } from "./mutation/report.ts";
import { runStage } from "./mutation/stage.ts";
import { plantTree } from "./mutation/tree.ts";
import type { Verdict } from "./mutation/types.ts";
import { ROOT } from "../tools/process.ts";

/**
 * The folders of tests, those closest to the guards first. A folder gets the changes that the
 * folders before it did not notice.
 */
const FOLDERS = [
  ...["vodozemac-wasm/tests", "tests/crypto", "tests/encryption", "tests/actors", "tests/client"],
  ...["tests/errors", "tests/api", "tests/store", "tests/appservice", "tests/bot"],
];
const USAGE = `deno task mutate [--option=value …]

  --only=pattern  only files whose path matches this regular expression
  --tests=a,b     only these files of tests and those in these folders, in this order
  --jobs=2        how many processes work at the same time
  --budget=20     how many seconds of tests of a folder are run for one change
  --accepted      tries those changes, too, that mutation/accepted.json explains
  --report=path   where the report goes; default: printed
  --help          prints this`;

const KILLERS = `${ROOT}.cache/mutation/killers.json`;

const options: ReadonlyMap<string, string> = new Map(Deno.args.map((arg) => {
  const [name = "", value = ""] = arg.replace(/^--/, "").split("=");
  return [name, value];
}));

async function readKillers(): Promise<Map<string, string>> {
  return new Map(Object.entries(JSON.parse(await Deno.readTextFile(KILLERS).catch(() => "{}"))));
}

function writeKillers(killers: ReadonlyMap<string, string>): void {
  Deno.mkdirSync(new URL(".", `file://${KILLERS}`), { recursive: true });
  Deno.writeTextFileSync(KILLERS, JSON.stringify(Object.fromEntries(killers)));
}

async function main(): Promise<boolean> {
  const accepted = await readAccepted();
  const killers = await readKillers();
  await using tree = await plantTree();
  const only = new RegExp(options.get("only") ?? "");
  const mutants = tree.mutants.filter(({ path }) => only.test(path));
  const verdicts = new Map<number, Verdict>(mutants.map((mutant) => [mutant.id, { mutant, reachedBy: 0 }]));
  const failing: string[] = [];
  for (const folder of (options.get("tests") ?? FOLDERS.join()).split(",")) {
    const left = [...verdicts.values()].filter(({ mutant, killer }) =>
      killer === undefined && (options.has("accepted") || !accepted.has(mutant.key))
    );
    let tried = 0;
    let killed = 0;
    const failed = await runStage(tree, { folder, mutants: left.map(({ mutant }) => mutant) }, {
      jobs: Number(options.get("jobs") ?? 2),
      budgetMs: Number(options.get("budget") ?? 20) * 1000,
      killers,
      report(verdict) {
        const reachedBy = (verdicts.get(verdict.mutant.id)?.reachedBy ?? 0) + verdict.reachedBy;
        verdicts.set(verdict.mutant.id, { ...verdict, reachedBy });
        if (verdict.killer !== undefined) killers.set(verdict.mutant.key, verdict.killer);
        if (verdict.killer !== undefined) killed++;
        if (++tried % 100 !== 0) return;
        console.log(`${folder}: ${tried} of ${left.length} tried, ${killed} killed`);
        writeKillers(killers);
      },
    });
    console.log(`${folder}: ${left.length} tried, ${killed} killed`);
    failing.push(...failed.map(({ name, error }) => `${name}: ${error}`));
  }
  writeKillers(killers);
  const { guards } = tree;
  const text = report({
    guards,
    verdicts: [...verdicts.values()],
    accepted,
    stale: stale(accepted, tree.mutants).filter((key) => only.test(key)),
    failing,
  });
  const path = options.get("report");
  if (path === undefined) console.log(text);
  else await Deno.writeTextFile(path, `${text}\n`);
  console.log(text.split("\n").at(-1));
  return text.endsWith("\n0 unexplained survivors");
}

if (options.has("help")) console.log(USAGE);
else Deno.exit(await main() ? 0 : 1);
