import { assertEquals } from "@std/assert";
import { exportedSymbols } from "../../tools/docs/exported.ts";

Deno.test("No editor offers what the library alone calls", async () => {
  const offered = (await exportedSymbols()).flatMap(({ name, members }) =>
    members
      // A setter shows as its getter does.
      .filter(({ name, kind, computed, accessibility, jsDoc }) =>
        kind !== "setter" && computed !== true && !name?.startsWith("[") &&
        accessibility === undefined &&
        jsDoc?.tags?.some(({ kind }) => kind === "internal")
      )
      .map((member) => `${name}.${member.name}`)
  );
  assertEquals(offered, []);
});
