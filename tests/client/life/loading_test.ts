import { assert, assertEquals } from "@std/assert";
import { ROOT, run } from "../../../tools/process.ts";

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier: string };
    readonly isDynamic?: boolean;
  }[];
}

/** What a program evaluates that imports an entry of the package, before it does anything. */
async function loaded(entry = "mod.ts"): Promise<{ files: Set<string>; others: Set<string> }> {
  const { stdout } = await run("deno", ["info", "--json", entry]);
  const { modules, redirects }: { modules: Module[]; redirects: Record<string, string> } = JSON.parse(stdout);
  const known = new Map(modules.map((module) => [module.specifier, module]));
  const [root, files, others] = [`file://${ROOT}`, new Set([`file://${ROOT}${entry}`]), new Set<string>()];
  for (const file of files) { // grows while it is walked
    if (file.startsWith(`${root}third_party/`)) continue; // stands in for a package of JSR
    for (const { code, isDynamic = false } of known.get(file)?.dependencies ?? []) {
      if (code === undefined || isDynamic) continue;
      const target = redirects[code.specifier] ?? code.specifier;
      (target.startsWith(root) ? files : others).add(target);
    }
  }
  return { files: new Set([...files].map((file) => file.slice(root.length))), others };
}

Deno.test("A program that imports Greenroom loads no package of npm, and nothing of Node", async () => {
  const { others } = await loaded();
  assertEquals([...others], []);
});

Deno.test("Clients and bots load nothing of OAuth 2.0, and its logins no library before they are called", async () => {
  for (const entry of ["mod.ts", "src/bot/mod.ts"]) {
    const { files } = await loaded(entry);
    assertEquals([...files].filter((path) => path.startsWith("src/oauth/")), [], entry);
  }
  const { others } = await loaded("src/oauth/mod.ts");
  assertEquals([...others].filter((specifier) => specifier.startsWith("npm:")), []);
});

Deno.test("A program that imports Greenroom loads neither the engine of encryption nor a file with nothing but types", async () => {
  const { files } = await loaded();
  assert(files.has("src/client/client.ts"));
  assertEquals(
    [...files].filter((path) => path === "src/crypto/engine/engine.ts" || path.startsWith("vodozemac-wasm/")),
    [],
  );
  const empty: string[] = [];
  for (const path of files) {
    const text = await Deno.readTextFile(ROOT + path);
    if (!/^(export )?(async |abstract )?(const|let|function|class|enum|\{) /m.test(text)) empty.push(path);
  }
  assertEquals(empty, []);
});

Deno.test("A bundled program has all that encryption needs in its one file, and no permission for it", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [entry, bundle] = [`${folder}/bot.ts`, `${folder}/bot.js`];
    const script = `
      import { Client } from "${ROOT}mod.ts";
      import { Homeserver } from "${ROOT}src/testing/mod.ts";
      await using homeserver = new Homeserver();
      const { accessToken } = homeserver.createUser("echo");
      const { baseUrl, fetch } = homeserver;
      await using client = new Client({ baseUrl, fetch, accessToken, encryption: true });
      console.log((await client.crypto.getOwnDeviceKeys()).ed25519.length);
    `;
    await Deno.writeTextFile(entry, script);
    const config = `--config=${ROOT}deno.json`;
    await run("deno", ["bundle", "--quiet", "--platform=deno", config, `--output=${bundle}`, entry]);
    await Deno.remove(entry);
    const { stdout } = await run("deno", ["run", "--quiet", "--no-config", "--no-prompt", bundle]);
    assertEquals(stdout.trim(), "43");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
