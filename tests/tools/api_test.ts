import { assert, assertEquals } from "@std/assert";
import { readdirSync } from "node:fs";
import { ROOT } from "../../tools/process.ts";
import { API_FOLDER, apiFile, hiddenTypes, namelessOptions, publicApi } from "../../tools/api.ts";

const api = publicApi();

Deno.test("The public API is as it is written down: `deno task api` writes a change of it", async () => {
  for (const [entry, text] of api) {
    assertEquals(await Deno.readTextFile(apiFile(entry)), text, `deno task api: ${entry} has changed`);
  }
  assertEquals([...Deno.readDirSync(API_FOLDER)].length, api.size);
});

Deno.test("The public API shows members with their types, and nothing that no user reaches", () => {
  const text = [...api.values()].join("\n");
  assert(text.includes("sendText(roomId: RoomID"));
  assertEquals(text.match(/^ +(?:private |#|\[(?!Symbol\.|\w+(?: in|:)))/m), null);
});

Deno.test("Users can import each type that a signature mentions, and each type of options has a name", () => {
  assertEquals(hiddenTypes(), []);
  assertEquals(namelessOptions(), []);
});

Deno.test("A type that no entry exports, and options without a name, are found", () => {
  const inner = { ".": "src/crypto/sharing/mod.ts", "./kv": "src/store/deno_kv/local_database.ts" };
  assert(hiddenTypes(inner).length > 0);
  assert(namelessOptions(inner).length > 0);
});

Deno.test("Documentation has each class: none is merged with an interface that is internal", async () => {
  const hidden: string[] = [];
  const paths = readdirSync(`${ROOT}src`, { recursive: true, encoding: "utf8" });
  for (const path of paths.filter((each) => each.endsWith(".ts"))) {
    const source = await Deno.readTextFile(`${ROOT}src/${path}`);
    for (const [, name = ""] of source.matchAll(/@internal[^\n]*\*\/\nexport interface (\w+)/g)) {
      const declared = source.match(new RegExp(`^export (?:abstract )?(?:class|interface) ${name}\\b`, "gm"));
      if ((declared?.length ?? 0) > 1) hidden.push(`${path}: ${name}`);
    }
  }
  assertEquals(hidden, []);
});
