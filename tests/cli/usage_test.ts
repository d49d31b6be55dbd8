import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import denoJson from "../../deno.json" with { type: "json" };
import { commandsIn, greenroom, Place, startGreenroom } from "./support/greenroom.ts";

Deno.test("greenroom --help lists the commands, and each has a help of its own", async () => {
  const { code, stdout } = await greenroom(["--help"]);
  assertEquals(code, 0);
  const names = commandsIn(stdout);
  assert(names.includes("login") && names.includes("doctor"), stdout);
  for (const name of names) {
    const help = await greenroom([...name.split(" "), "--help"]);
    assertEquals([help.code, help.stderr], [0, ""], name);
    assertStringIncludes(help.stdout, `Usage: greenroom ${name}`);
  }
});

Deno.test("greenroom --version is that of the package, and help before a command is its help", async () => {
  assertEquals(await greenroom(["--version"]), { code: 0, stdout: `${denoJson.version}\n`, stderr: "" });
  assertEquals(await greenroom(["help", "store", "export"]), await greenroom(["store", "export", "--help"]));
  assertEquals((await greenroom(["help"])).code, 0);
});

Deno.test("What can't be understood ends with 2, on standard error, and says what to look at", async () => {
  for (
    const args of [
      ...[[], ["nothing"], ["login", "--nothing"], ["login", "--user"], ["doctor", "word"]],
      ...[["doctor", "--", "word"], ["members", "--"], ["send", "!room:x", "--", "one", "two"]],
    ]
  ) {
    const { code, stdout, stderr } = await greenroom(args);
    assertEquals([code, stdout], [2, ""], args.join(" "));
    assertStringIncludes(stderr, "greenroom", args.join(" "));
  }
});

Deno.test("A command or option that is mistyped is answered with the one that was meant", async () => {
  const meant = [
    [["logn"], "greenroom login?"],
    [["nwe", "bot"], "greenroom new?"],
    [["init"], "greenroom new?"],
    [["store-export"], "greenroom store export?"],
    [["rooms", "crate"], "greenroom rooms create?"],
    [["recovery", "chek"], "greenroom recovery check?"],
    [["store", "inspct"], "greenroom store inspect?"],
    [["store", "nothing-like-it"], "see greenroom store --help"],
    [["login", "--homserver=x"], "--homeserver?"],
    [["nothing-like-it"], "see greenroom --help"],
    [["constructor"], "see greenroom --help"],
    [["toString"], "see greenroom --help"],
    [["completions", "constructor"], "none of bash, zsh and fish"],
  ] as const;
  for (const [args, mend] of meant) {
    const { code, stderr } = await greenroom(args);
    assertEquals(code, 2, args.join(" "));
    assertStringIncludes(stderr, mend);
  }
});

Deno.test("A secret on the command line is refused, and not repeated", async () => {
  const lines = [
    ["login", "--password=s3cret"],
    ["login", "--password", "s3cret"],
    ["login", "--token=s3cret"],
    ["login", "--recovery-key", "s3cret"],
    ["login", "-ps3cret"],
    ["login", "s3cret"],
    ["s3cret"],
  ];
  for (const args of lines) {
    const { code, stdout, stderr } = await greenroom(args);
    assertEquals(code, 2, args.join(" "));
    assert(!`${stdout}${stderr}`.includes("s3cret"), args.join(" "));
  }
  assertStringIncludes((await greenroom(["login", "--password=x"])).stderr, "standard input");
});

Deno.test("A pipe that is closed at the other end ends it quietly", async () => {
  const child = startGreenroom(["--help"]);
  await child.stdout.cancel();
  await child.stdin.close();
  const stderr = new Response(child.stderr).text();
  assertEquals([(await child.status).code, await stderr], [141, ""]);
});

Deno.test("Without a login, no command makes a store, and each says who makes one", async () => {
  await using place = await Place.make();
  await place.makeBot();
  const commands = [["listen"], ["chat", "@alice:localhost"], ["keys", "export", "keys.txt"], [
    "store",
    "prune",
  ]];
  for (const args of commands) {
    const { code, stderr } = await place.run(args);
    assertEquals([code, stderr.includes("greenroom login")], [3, true], `${args.join(" ")}: ${stderr}`);
  }
  assertEquals([...Deno.readDirSync(`${place.folder}/data`)], []);
});

Deno.test("A folder where a file is needed ends with what to do, and no stack", async () => {
  const folder = await Deno.makeTempDir({ prefix: "greenroom-cli-" });
  await Deno.mkdir(`${folder}/sub`);
  const commands = [
    ["run", "sub"],
    ["keys", "import", "sub"],
    ["store", "import", "sub"],
    ["store", "inspect"],
    ["recovery", "check"],
    ["keys", "export", "sub", "--passphrase-stdin"],
    ["appservice", "register", "bridge", "http://localhost:1", "x", "--file=sub"],
  ];
  const env = { MATRIX_STORE: "sub", MATRIX_RECOVERY_KEY_FILE: "sub" };
  for (const args of commands) {
    const { code, stderr } = await greenroom(args, { cwd: folder, env });
    assert(code !== 0, args.join(" "));
    assert(stderr.startsWith("greenroom: ") && stderr.includes("sub"), `${args.join(" ")}: ${stderr}`);
    assert(!/^ +at /m.test(stderr), `${args.join(" ")}: ${stderr}`);
  }
  await Deno.mkdir(`${folder}/.env`);
  const { stderr } = await greenroom(["rooms"], { cwd: folder });
  assertEquals([stderr.includes(".env: it is a folder"), /^ +at /m.test(stderr)], [true, false], stderr);
  await Deno.remove(folder, { recursive: true });
});
