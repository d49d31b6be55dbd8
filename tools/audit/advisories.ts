/**
 * Known advisories, from where there are any to ask for.
 *
 * @module
 */

import type { Finding, Run } from "./types.ts";

const NPM = "advisories of npm packages";
const CRATES = "advisories of crates";

/** Asks the npm registry, through Deno. */
export async function npmAdvisories(run: Run): Promise<Finding> {
  const { code, output } = await run("deno", ["audit"]);
  if (code === 0) return { question: NPM, problems: [], checked: "none is known" };
  if (/^Found \d+ vulnerabilities/m.test(output)) {
    return { question: NPM, problems: [output.trim()] };
  }
  return { question: NPM, problems: [], unchecked: `the registry does not say (${reasonIn(output)})` };
}

/** Asks the advisory database of RustSec, through `cargo audit` where that is installed. */
export async function crateAdvisories(run: Run): Promise<Finding> {
  const args = ["audit", "--json", "--file", "vodozemac-wasm/Cargo.lock"];
  const { stdout, output } = await run("cargo", args).catch((error) => ({
    stdout: "",
    output: String(error),
  }));
  const found = reportIn(stdout);
  if (found === undefined) {
    const mend = "cargo install cargo-audit --locked, and a network that reaches its database";
    return {
      question: CRATES,
      problems: [],
      unchecked: `there is no answer (${reasonIn(output)}); it takes ${mend}`,
    };
  }
  const problems = found.map(({ advisory, package: crate }) =>
    `${crate.name} ${crate.version}: ${advisory.id}, ${advisory.title}`
  );
  return { question: CRATES, problems, ...(problems.length === 0 && { checked: "none is known" }) };
}

interface Vulnerability {
  readonly advisory: { readonly id: string; readonly title: string };
  readonly package: { readonly name: string; readonly version: string };
}

function reportIn(stdout: string): readonly Vulnerability[] | undefined {
  try {
    return JSON.parse(stdout).vulnerabilities.list;
  } catch {
    return undefined;
  }
}

/** The line that says why, without addresses. */
function reasonIn(output: string): string {
  const line = output.split("\n").find((each) => /error|failed/i.test(each)) ?? output.split("\n")[0] ?? "";
  return line.replace(/\s*(?:for url )?\(?https?:[^\s)]*\)?/g, "").replace(/^error: /, "").trim();
}
