import { assertEquals, assertFalse, assertStringIncludes, assertThrows } from "@std/assert";
import { ROOT } from "../../tools/process.ts";
import { securityPage, threatLines, withThreats } from "../../tools/threats.ts";

const FOLDER = "tests/crypto/threats";

Deno.test("threatLines() gives a line for each number, in their order, with the first sentence of its first file", () => {
  const lines = threatLines([
    {
      path: "olm/t100_test.ts",
      text: "/**\n * T100: a stranger sends\n * too much. It must be refused.\n */\n",
    },
    { path: "devices/t17_share_test.ts", text: "/** The same elsewhere. */\n" },
    { path: "devices/t17_test.ts", text: "/**\n * Who: the server\n *\n * What must hold.\n */\n" },
  ]);
  assertEquals(lines, [
    `- **T17** Who: the server. [t17](${FOLDER}/devices/t17_test.ts), [t17_share](${FOLDER}/devices/t17_share_test.ts)`,
    `- **T100** A stranger sends too much. [t100](${FOLDER}/olm/t100_test.ts)`,
  ]);
});

Deno.test("threatLines() refuses a file without a head comment or a number", () => {
  assertThrows(
    () => threatLines([{ path: "olm/t1_test.ts", text: "/** A threat. */" }]),
    Error,
    "is not called",
  );
  assertThrows(() => threatLines([{ path: "olm/t61_test.ts", text: "import …" }]), Error, "has no comment");
});

Deno.test("withThreats() replaces what was listed, and nothing else", () => {
  const page = withThreats(
    "# Security\n\n<!-- Written by `deno task threats`: do not edit. -->\n<!-- deno-fmt-ignore-start -->\n" +
      "\n- old\n\n<!-- deno-fmt-ignore-end -->\n\nMore.\n",
    ["- new"],
  );
  assertEquals(withThreats(page, ["- new"]), page);
  assertFalse(page.includes("old"));
  assertStringIncludes(page, "\n- new\n\n<!-- deno-fmt-ignore-end -->\n\nMore.\n");
});

Deno.test("SECURITY.md lists every threat that has a test, as the head of its test says, and names no file that is not there", async () => {
  const { written, due } = await securityPage();
  assertEquals(written, due, "SECURITY.md is not up to date: run deno task threats");
  for (const [, path = ""] of written.matchAll(/\]\((?!https?:)([^)#]+)/g)) await Deno.stat(ROOT + path);
});
