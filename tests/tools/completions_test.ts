import { assertEquals } from "@std/assert";
import denoJson from "../../deno.json" with { type: "json" };

const ROOT = new URL("../../", import.meta.url);

interface Member {
  readonly name?: string;
  readonly accessibility?: string;
  /** Of a method: what it is. */
  readonly kind?: string;
  /** Whether its name is a symbol. */
  readonly computed?: boolean;
  readonly jsDoc?: { readonly tags?: readonly { readonly kind: string }[] };
}
type Declaration = { def?: { properties?: Member[]; methods?: Member[] } };
type Module = { symbols: { name: string; declarations: Declaration[] }[] };

Deno.test("No editor offers what the library alone calls", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--json", ...Object.values(denoJson.exports)],
    cwd: ROOT,
    stderr: "null",
  }).output();
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as { nodes: Record<string, Module> };
  const offered = Object.values(nodes).flatMap(({ symbols }) => symbols).flatMap(({ name, declarations }) =>
    declarations.flatMap(({ def }) => [...def?.properties ?? [], ...def?.methods ?? []])
      // A setter shows as its getter does.
      .filter(({ name, kind, computed, accessibility, jsDoc }) =>
        kind !== "setter" && computed !== true && name?.startsWith("[") !== true &&
        accessibility === undefined &&
        jsDoc?.tags?.some(({ kind }) => kind === "internal")
      )
      .map((member) => `${name}.${member.name}`)
  );
  assertEquals(offered, []);
});
