import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { Place } from "./support/greenroom.ts";

const FILE = "data/recovery.key";

Deno.test("recovery check says whether the key of the file, or another, is right", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const [key, own] = [await place.read(FILE) ?? "", await place.run(["recovery", "check"])];
  assertEquals(own.code, 0, own.stderr);
  assertStringIncludes(own.stdout, "is right");
  assert(!`${own.stdout}${own.stderr}`.includes(key.trim()));
  const typed = await place.run(["recovery", "check", "--stdin"], { input: key });
  assertEquals(typed.code, 0, typed.stderr);
  const wrong = await place.run(["recovery", "check", "--stdin"], { input: "EsTc\n" });
  assertEquals(wrong.code, 4, wrong.stderr);
  assert(!/EsTc|a bot:/.test(wrong.stderr), wrong.stderr);
  await Deno.remove(`${place.folder}/${FILE}`);
  assertEquals((await place.run(["recovery", "check"])).code, 3);
  for (const command of ["check", "change"]) {
    const elsewhere = await place.run(["recovery", command], { cwd: place.parent });
    assertEquals([elsewhere.code, elsewhere.stderr.includes("greenroom login")], [3, true], elsewhere.stderr);
  }
});

Deno.test("recovery change makes a key that opens everything, and the old one nothing", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const old = await place.read(FILE) ?? "";
  const { code, stdout, stderr } = await place.run(["recovery", "change"]);
  assertEquals([code, stdout], [0, ""], stderr);
  const changed = await place.read(FILE) ?? "";
  assert(changed !== old);
  assert(!stderr.includes(changed.trim()), "it is shown at a terminal only");
  assertEquals((await place.run(["recovery", "check"])).code, 0);
  assertEquals((await place.run(["recovery", "check", "--stdin"], { input: old })).code, 4);
  await place.assertSound();
});

Deno.test("recovery change completes a change that was cut off, before or after the homeserver had it", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const old = await place.read(FILE) ?? "";
  assertEquals((await place.run(["recovery", "change"])).code, 0);
  const first = await place.read(FILE) ?? "";
  // As if cut off before the rename.
  await Deno.rename(`${place.folder}/${FILE}`, `${place.folder}/${FILE}.new`);
  await Deno.writeTextFile(`${place.folder}/${FILE}`, old);
  const after = await place.run(["recovery", "change"]);
  assertEquals(
    [after.code, await place.read(FILE), await place.read(`${FILE}.new`)],
    [0, first, undefined],
    after.stderr,
  );
  const fault = place.homeserver.faults.add({
    kind: "status",
    status: 403,
    match: { method: "PUT", path: "/account_data/" },
  });
  assertEquals((await place.run(["recovery", "change"])).code, 4);
  fault.remove();
  const begun = await place.read(`${FILE}.new`);
  assertEquals([await place.read(FILE), begun === undefined], [first, false]);
  const before = await place.run(["recovery", "change"]);
  assertEquals([before.code, await place.read(FILE)], [0, begun], before.stderr);
});
