import { assert, assertEquals } from "@std/assert";
import { API_FOLDER, apiFile, hiddenTypes, namelessOptions, publicApi } from "../../tools/api.ts";

Deno.test("The public API is as it is written down: `deno task api` writes a change of it", async () => {
  const api = publicApi();
  for (const [entry, text] of api) {
    assertEquals(await Deno.readTextFile(apiFile(entry)), text, `deno task api: ${entry} has changed`);
  }
  assertEquals([...Deno.readDirSync(API_FOLDER)].length, api.size);
});

Deno.test("The public API shows members with their types, and nothing that no user reaches", () => {
  const text = [...publicApi().values()].join("\n");
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
