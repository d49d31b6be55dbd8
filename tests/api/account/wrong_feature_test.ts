import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { wrongFeature } from "../../../src/api/account/wrong_feature.ts";

/** The features of proposals that the type has, with a number. */
const source = await Deno.readTextFile(new URL("../../../src/types/api/login.ts", import.meta.url));
const [, type = ""] = /export type ServerFeature = Open<([^;]*)>;/.exec(source) ?? [];
const names = [...type.matchAll(/"([^"]*msc(\d{4})[^"]*)"/g)].map(([_, name = "", msc = ""]) => ({
  name,
  msc,
}));

Deno.test("The number of a proposal gets the name that ServerFeature has for its feature", () => {
  assert(names.length > 10);
  for (const { name, msc } of names) {
    for (const given of [msc, `msc${msc}`, `MSC${msc}`]) {
      assertStringIncludes(wrongFeature(given).message, `write "${name}"`);
    }
  }
  assertStringIncludes(wrongFeature("4186").message, 'write "org.matrix.simplified_msc3575"');
});

Deno.test("The number of a proposal whose feature is not known gets no name", () => {
  for (const given of ["9999", "msc1234"]) {
    assertEquals(
      wrongFeature(given).message,
      `Cannot say what the server supports: "${given}" is no name of a feature; one is like ` +
        '"org.matrix.msc4140": client.versions() has them in unstable_features',
    );
  }
});
