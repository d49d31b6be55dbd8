import { assert, assertEquals } from "@std/assert";
import { API_FOLDER, apiFile, publicApi } from "../../tools/api.ts";

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
