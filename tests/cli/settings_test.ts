import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { UsageError } from "../../src/cli/io/mod.ts";
import { VARIABLES } from "../../src/bot/env.ts";
import {
  checkNamesOf,
  readSettings,
  refuseFromEnvironment,
  writePrivateStream,
  writeSettings,
} from "../../src/cli/project/mod.ts";

/** Acts in a folder of its own, with this `.env`. */
async function inFolder(env: string, act: () => Promise<void>): Promise<void> {
  const [before, folder] = [Deno.cwd(), await Deno.makeTempDir({ prefix: "greenroom-cli-" })];
  Deno.chdir(folder);
  try {
    await Deno.writeTextFile(".env", env);
    await act();
  } finally {
    Deno.chdir(before);
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("A value of .env may have several lines, and what looks like a variable in it is none", async () => {
  const env = [
    'MATRIX_ADMINS="@a:x\n@b:y"',
    "OTHER='one\nMATRIX_TOKEN=evil\n'",
    "MATRIX_TOKEN=right",
    "MATRIX_TOKEN=second",
    "",
  ];
  await inFolder(env.join("\n"), async () => {
    const { MATRIX_ADMINS, MATRIX_TOKEN } = await readSettings();
    assertEquals([MATRIX_ADMINS, MATRIX_TOKEN], ["@a:x\n@b:y", "right"]);
  });
});

Deno.test("Settings are changed as wholes, and the others stay as they are", async () => {
  const env =
    "# the bot's\r\n\nMATRIX_PASSWORD='one\ntwo' # both\nOTHER=`\nMATRIX_TOKEN=no\n`\nMATRIX_TOKEN=old\n";
  await inFolder(env, async () => {
    await writeSettings({ MATRIX_PASSWORD: undefined, MATRIX_TOKEN: "new", MATRIX_USER: "@b:x" });
    assertEquals(
      await Deno.readTextFile(".env"),
      "# the bot's\r\n\nOTHER=`\nMATRIX_TOKEN=no\n`\nMATRIX_TOKEN=new\nMATRIX_USER=@b:x\n",
    );
  });
});

Deno.test("A variable that is empty in the environment is refused too: the bot would have none", () => {
  const before = Deno.env.get("MATRIX_STORE_KEY_FILE");
  try {
    Deno.env.set("MATRIX_STORE_KEY_FILE", "");
    assertThrows(() => refuseFromEnvironment("MATRIX_STORE_KEY_FILE"), Error, "unset MATRIX_STORE_KEY_FILE");
  } finally {
    if (before === undefined) Deno.env.delete("MATRIX_STORE_KEY_FILE");
    else Deno.env.set("MATRIX_STORE_KEY_FILE", before);
  }
});

Deno.test("A variable that is empty in the environment counts more than .env, as it does for the bot", async () => {
  const before = Deno.env.get("MATRIX_ADMINS");
  try {
    Deno.env.set("MATRIX_ADMINS", " ");
    await inFolder("MATRIX_ADMINS=@a:x\nMATRIX_USER=@b:x\nMATRIX_TOKEN=\n", async () => {
      const { MATRIX_ADMINS, MATRIX_USER, MATRIX_TOKEN } = await readSettings();
      assertEquals([MATRIX_ADMINS, MATRIX_USER, MATRIX_TOKEN], [undefined, "@b:x", undefined]);
    });
  } finally {
    if (before === undefined) Deno.env.delete("MATRIX_ADMINS");
    else Deno.env.set("MATRIX_ADMINS", before);
  }
});

Deno.test("Of two that write a new file at once one succeeds, and the file is that one's", async () => {
  await inFolder("", async () => {
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    const stream = (byte: number) =>
      new ReadableStream<Uint8Array<ArrayBuffer>>({
        async pull(controller) {
          if (++waiting === 2) both.resolve();
          await both.promise;
          controller.enqueue(new Uint8Array([byte]));
          controller.close();
        },
      }, { highWaterMark: 0 });
    const results = await Promise.allSettled([1, 2].map((byte) => writePrivateStream("copy", stream(byte))));
    const won = results.findIndex(({ status }) => status === "fulfilled");
    assertEquals(results.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
    assertEquals([...await Deno.readFile("copy")], [won + 1]);
    await assertRejects(() => writePrivateStream("copy", stream(3)), Error, "there already");
    assertEquals([...Deno.readDirSync(".")].map(({ name }) => name).sort(), [".env", "copy"]);
  });
});

Deno.test("Each variable of a bot is meant by a name near to it, and is none that is refused", () => {
  for (const name of Object.keys(VARIABLES)) {
    checkNamesOf({ [name]: "" });
    const mistyped = name.replace(/(.)(.)$/, "$2$1");
    assertThrows(() => checkNamesOf({ [mistyped]: "" }), UsageError, `${mistyped}; did you mean ${name}?`);
  }
  checkNamesOf({ MATRIX_ANNOUNCEMENTS: "!room:localhost" } as object);
});
