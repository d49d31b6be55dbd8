import { assertMatch } from "@std/assert";

const SOURCE = new URL("../../src/base/own_code.ts", import.meta.url);

Deno.test("In the package on JSR, the lines of all its bundles are Greenroom's", async () => {
  const folder = await Deno.makeTempDir();
  const code = `${folder}/@greenroom/matrix/1.2.3/dist`;
  await Deno.mkdir(code, { recursive: true });
  await Deno.copyFile(SOURCE, `${code}/chunk-ONE.ts`);
  await Deno.writeTextFile(`${code}/chunk-TWO.ts`, 'export const fail = () => { throw new Error("no"); };\n');
  const { placeOf } = await import(`file://${code}/chunk-ONE.ts`);
  const { fail } = await import(`file://${code}/chunk-TWO.ts`);
  try {
    fail();
  } catch (error) {
    assertMatch(placeOf(error), /\/own_code_test\.ts:\d+:\d+$/);
  }
  await Deno.remove(folder, { recursive: true });
});
