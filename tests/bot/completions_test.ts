import { assertEquals } from "@std/assert";

const ROOT = new URL("../../", import.meta.url);

interface Member {
  readonly name?: string;
  readonly accessibility?: string;
  readonly jsDoc?: { readonly tags?: readonly { readonly kind: string }[] };
}

Deno.test("No editor offers what the kit alone calls of a context", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", "src/bot/mod.ts"],
    cwd: ROOT,
    stderr: "null",
  }).output();
  type Declaration = { def?: { properties?: Member[]; methods?: Member[] } };
  type Module = { symbols: { name: string; declarations: Declaration[] }[] };
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as { nodes: Record<string, Module> };
  const offered = Object.values(nodes).flatMap(({ symbols }) => symbols).flatMap(({ name, declarations }) =>
    declarations.flatMap(({ def }) => [...def?.properties ?? [], ...def?.methods ?? []])
      .filter(({ jsDoc, accessibility }) =>
        accessibility === undefined && jsDoc?.tags?.some(({ kind }) => kind === "internal")
      )
      .map((member) => `${name}.${member.name}`)
  ).filter((member) => !member.includes("["));
  assertEquals(offered, []);
});
