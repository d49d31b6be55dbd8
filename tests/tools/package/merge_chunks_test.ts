import { assertRejects } from "@std/assert";
import { mergeChunks } from "../../../tools/package/merge_chunks.ts";

Deno.test("A chunk of which not only names are imported is not merged: its names are others then", async () => {
  for (const use of ["export * from", "export * as all from", "import * as all from", "import all from"]) {
    const folder = await Deno.makeTempDir({ prefix: "greenroom-merge-" });
    try {
      await Deno.writeTextFile(`${folder}/mod.js`, `${use} "./chunk-A.js";\n`);
      await Deno.writeTextFile(`${folder}/chunk-A.js`, "export const one = 1;\nexport default one;\n");
      const merging = () => mergeChunks(folder, [{ name: "all.js", root: "mod.js" }]);
      await assertRejects(merging, Error, "does not import names", use);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  }
});
