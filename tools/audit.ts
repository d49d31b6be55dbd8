/**
 * `deno task audit`: the licences and hashes of all dependencies, and known advisories where there
 * are any to ask for.
 *
 * It ends with 1 only for what was found. What could not be looked at is said.
 *
 * @module
 */

import denoJson from "../deno.json" with { type: "json" };
import { crateAdvisories, npmAdvisories } from "./audit/advisories.ts";
import { crates } from "./audit/cargo.ts";
import { isAllowed } from "./audit/licences.ts";
import { npmPackages } from "./audit/npm.ts";
import type { Dependency, Finding } from "./audit/types.ts";
import { run } from "./process.ts";

/** What is wrong with dependencies, and what is not known of them. */
export function judge(kind: string, dependencies: readonly Dependency[]): Finding[] {
  const known = dependencies.filter(({ licence }) => licence !== undefined);
  const absent = dependencies.length - known.length;
  const refused = known.filter(({ licence = "" }) => !isAllowed(licence));
  const byLicence = Map.groupBy(known, ({ licence }) => licence);
  const counts = [...byLicence].map(([licence, each]) => `${each.length} ${licence}`).sort();
  const unhashed = dependencies.filter(({ isHashed }) => !isHashed);
  return [
    {
      question: `licences of ${kind}`,
      problems: refused.map(({ name, licence }) =>
        `${name} has the licence ${licence}, which is not on the list`
      ),
      checked: `${known.length} looked at: ${counts.join(", ")}`,
      ...(absent > 0 && { unchecked: `${absent} are not in the cache: run the tests first` }),
    },
    {
      question: `hashes of ${kind}`,
      problems: unhashed.map(({ name }) => `${name} has no hash in the lock file`),
      checked: `${dependencies.length} in the lock file`,
    },
  ];
}

if (import.meta.main) {
  const { all, shipped } = await npmPackages(run, [
    ...Object.values(denoJson.exports),
    "vodozemac-wasm/mod.ts",
  ]);
  const rust = await crates(run);
  const findings = [
    ...judge("npm packages", all),
    ...(typeof rust === "string"
      ? [{ question: "licences of crates", problems: [], unchecked: rust }]
      : judge("crates", rust)),
    await npmAdvisories(run),
    await crateAdvisories(run),
  ];
  for (const { question, problems, checked, unchecked } of findings) {
    for (const problem of problems) console.log(`${question}: FOUND ${problem}`);
    if (problems.length === 0 && checked !== undefined) console.log(`${question}: ${checked}`);
    if (unchecked !== undefined) console.log(`${question}: NOT CHECKED, ${unchecked}`);
  }
  console.log(`npm packages that a program gets: ${[...new Set(shipped)].join(", ")}`);
  Deno.exit(findings.every(({ problems }) => problems.length === 0) ? 0 : 1);
}
