import { assert, assertEquals, assertMatch } from "@std/assert";
import denoJson from "../../deno.json" with { type: "json" };
import vodozemacJson from "../../vodozemac-wasm/deno.json" with { type: "json" };
import { judge } from "../../tools/audit.ts";
import { crateAdvisories, npmAdvisories } from "../../tools/audit/advisories.ts";
import { isAllowed } from "../../tools/audit/licences.ts";
import { ROOT, run } from "../../tools/process.ts";

Deno.test("isAllowed() reads SPDX expressions, old ones too", () => {
  const allowed = [
    "MIT",
    "MIT/Apache-2.0",
    "(MIT OR Apache-2.0) AND Unicode-3.0",
    "GPL-3.0-only OR MIT",
    "ISC AND (0BSD)",
  ];
  const refused = [
    "",
    "none",
    "GPL-3.0-only",
    "MIT AND GPL-3.0-only",
    "(MIT",
    "MIT Apache-2.0",
    "SEE LICENSE IN x",
    "MIT)",
  ];
  assertEquals(allowed.filter(isAllowed), allowed);
  assertEquals(refused.filter(isAllowed), []);
});

Deno.test("judge() reports licences that are not allowed, missing hashes, and what it could not check", () => {
  const good = { name: "a 1", licence: "MIT", isHashed: true };
  const [licences, hashes] = judge("things", [good, { ...good, name: "b 1", licence: "AGPL-3.0" }, {
    name: "c 1",
    licence: undefined,
    isHashed: false,
  }]);
  assertEquals(licences?.problems, ["b 1 has the licence AGPL-3.0, which is not on the list"]);
  assertMatch(licences?.unchecked ?? "", /^1 are not in the cache/);
  assertEquals(hashes?.problems, ["c 1 has no hash in the lock file"]);
  assert(
    judge("things", [good]).every(({ problems, unchecked }) =>
      problems.length === 0 && unchecked === undefined
    ),
  );
});

/** What Deno makes of a registry that answers so. */
async function askingRegistry(answer: () => Response) {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, answer);
  const registry = `http://127.0.0.1:${server.addr.port}/`;
  return await npmAdvisories((command, args) => run(command, args, { NPM_CONFIG_REGISTRY: registry }));
}

Deno.test("npmAdvisories() distinguishes an advisory, none, and no answer of the registry", async () => {
  const advisory = {
    id: 1,
    url: "https://example.org/1",
    title: "Trouble",
    severity: "high",
    vulnerable_versions: "*",
  };
  const found = await askingRegistry(() =>
    Response.json({ ajv: [{ ...advisory, cwe: [], cvss: { score: 1 } }] })
  );
  assertMatch(found.problems.join(), /Trouble[^]*ajv/);
  const none = await askingRegistry(() => Response.json({}));
  assertEquals([none.problems, none.checked, none.unchecked], [[], "none is known", undefined]);
  const silent = await askingRegistry(() => new Response("not here", { status: 405 }));
  assertEquals(silent.problems, []);
  assertMatch(silent.unchecked ?? "", /does not say/);
});

Deno.test("crateAdvisories() reports an advisory, that there is none, and that they can not be read", async () => {
  const says = (list: unknown) => {
    const stdout = JSON.stringify({ vulnerabilities: { list } });
    return crateAdvisories(() => Promise.resolve({ code: 0, stdout, output: stdout }));
  };
  const item = { advisory: { id: "RUSTSEC-1", title: "Trouble" }, package: { name: "a", version: "1.0.0" } };
  assertEquals((await says([item])).problems, ["a 1.0.0: RUSTSEC-1, Trouble"]);
  assertEquals((await says([])).checked, "none is known");
  for (
    const output of ["error: no such command: `audit`", "error: couldn't fetch advisory database: timeout"]
  ) {
    const { problems, unchecked = "" } = await crateAdvisories(() =>
      Promise.resolve({ code: 101, stdout: "", output })
    );
    assertEquals(problems, []);
    assert(unchecked.includes(output.slice(7)), unchecked);
  }
});

Deno.test("SUPPLY_CHAIN.md says of every direct dependency why it is there", async () => {
  const page = await Deno.readTextFile(`${ROOT}SUPPLY_CHAIN.md`);
  const cargo = await Deno.readTextFile(`${ROOT}vodozemac-wasm/Cargo.toml`);
  const crates = /\[dependencies\]\n(.*?)\n\n/s.exec(cargo)?.[1]?.matchAll(/^([\w-]+) =/gm) ?? [];
  const names = [
    ...Object.keys({ ...denoJson.imports, ...vodozemacJson.imports }).filter((name) => !name.endsWith("/")),
    ...[...crates].map(([, name]) => name),
  ].toSorted();
  const listed = [...page.matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name).toSorted();
  assertEquals([...new Set(listed)], [...new Set(names)]);
});
