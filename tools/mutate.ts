/**
 * Breaks each guard of the encryption, one after the other, and sees whether a test notices:
 * `deno task mutate`.
 *
 * `--only=pattern` takes the files whose path fits that; `--jobs=2` is how many processes work at
 * once; `--budget=20` how many seconds of tests of a folder are tried with one mutant; `--accepted`
 * tries those too that `mutation/accepted.json` explains; `--report=path` is where the report goes
 * beside its last line. What noticed each is kept in `.cache/mutation/` and tried first the next
 * time.
 *
 * @module
 */

import { readAccepted, stale } from "./mutation/accepted.ts";
import { report } from "./mutation/report.ts";
import { runStage } from "./mutation/stage.ts";
import { plantTree } from "./mutation/tree.ts";
import type { Verdict } from "./mutation/types.ts";
import { ROOT } from "./process.ts";

/**
 * Where the tests are, the nearest to the guards first; a folder gets what those before it did not
 * notice.
 */
const FOLDERS = ["vodozemac-wasm/tests", "tests/crypto", "tests/actors", "tests/client"];
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

Deno.exit(await main() ? 0 : 1);
