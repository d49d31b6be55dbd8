import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { PASSWORD, Place } from "./support/greenroom.ts";

const FILE = "data/recovery.key";
const RESET = ["recovery", "reset", "--yes", "--password-stdin"];

Deno.test("recovery reset makes an identity and a key that work, where the key was lost", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const old = await place.read(FILE) ?? "";
  await Deno.remove(`${place.folder}/${FILE}`);
  const { code, stdout, stderr } = await place.run(RESET, { input: `${PASSWORD}\n` });
  assertEquals([code, stdout], [0, ""], stderr);
  assertStringIncludes(stderr, "Others see that its identity has changed");
  const made = await place.read(FILE) ?? "";
  assert(made !== "" && made !== old && !stderr.includes(made.trim()), stderr);
  assertEquals(await place.read(`${FILE}.new`), undefined);
  assertEquals((await place.run(["recovery", "check"])).code, 0);
  assertEquals((await place.run(["recovery", "check", "--stdin"], { input: old })).code, 4);
  await place.assertSound();
});

Deno.test("recovery reset changes nothing without a terminal or --yes, a password, or the right one", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const old = await place.read(FILE);
  const unasked = await place.run(["recovery", "reset"]);
  assertEquals([unasked.code, unasked.stderr.includes("give --yes")], [2, true], unasked.stderr);
  const without = await place.run(["recovery", "reset", "--yes"]);
  assertEquals([without.code, without.stderr.includes("--password-stdin")], [2, true], without.stderr);
  const wrong = await place.run(RESET, { input: "xyzzy\n" });
  assertEquals([wrong.code, /xyzzy|a bot:/.test(wrong.stderr)], [4, false], wrong.stderr);
  assertStringIncludes(wrong.stderr, `The key in ${FILE} is right`);
  assertEquals([await place.read(FILE), await place.read(`${FILE}.new`)], [old, undefined]);
  assertEquals((await place.run(["recovery", "check"])).code, 0);
  await place.assertSound();
});

Deno.test("recovery reset completes a reset that was cut off after the homeserver had it", async () => {
  await using place = await Place.make();
  await place.makeLoggedInBot();
  const old = await place.read(FILE) ?? "";
  const fault = place.homeserver.faults.add({
    kind: "status",
    status: 403,
    match: { method: "PUT", path: "/account_data/" },
  });
  const cut = await place.run(RESET, { input: `${PASSWORD}\n` });
  assertEquals(cut.code, 4, cut.stderr);
  fault.remove();
  const made = await place.read(`${FILE}.new`) ?? "";
  assertEquals([await place.read(FILE), made !== ""], [old, true]);
  const again = await place.run(["recovery", "reset", "--yes"]);
  assertEquals([again.code, await place.read(FILE)], [0, made], again.stderr);
  assertStringIncludes(again.stderr, "Completed what was cut off");
  assertEquals((await place.run(["recovery", "check"])).code, 0);
});

Deno.test("recovery reset names the page of approval where the server has OAuth 2.0", async () => {
  await using place = await Place.make({ oauth: true });
  await place.makeBot();
  const { accessToken } = place.homeserver.createUser("bot2");
  const login = await place.loginByToken(accessToken, "--user=@bot2:localhost");
  assertEquals(login.code, 0, login.stderr);
  const asked = await place.run(["recovery", "reset", "--yes"]);
  assertEquals(
    [asked.code, asked.stderr.includes("action=org.matrix.cross_signing_reset")],
    [4, true],
    asked.stderr,
  );
  assertEquals(await place.read(`${FILE}.new`), undefined);
  place.homeserver.oauth.allowCrossSigningReset("@bot2:localhost");
  const done = await place.run(["recovery", "reset", "--yes"]);
  assertEquals(done.code, 0, done.stderr);
  assertEquals((await place.run(["recovery", "check"])).code, 0);
});
