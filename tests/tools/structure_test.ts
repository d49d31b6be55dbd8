import { assertEquals } from "@std/assert";
import { findCycles } from "../../tools/structure/cycles.ts";
import { checkFiles } from "../../tools/structure/files.ts";
import { checkFolders } from "../../tools/structure/folders.ts";
import { importGraph } from "../../tools/structure/import_graph.ts";
import { checkCryptoModules, checkKernel, checkLayers } from "../../tools/structure/layers.ts";
import { checkPlatform } from "../../tools/structure/platform.ts";
import { checkSurface } from "../../tools/structure/surface.ts";
import type { ImportEdge } from "../../tools/structure/types.ts";

/** `a -> b` is an import, `a ~> b` one of types only. */
function edges(...imports: string[]): ImportEdge[] {
  return imports.map((line) => {
    const [from = "", arrow, to = ""] = line.split(" ");
    return { from, to, typeOnly: arrow === "~>", lazy: false };
  });
}

function layerViolations(...imports: string[]): string[] {
  const all = edges(...imports);
  return checkLayers(all, all.map(({ from }) => from));
}

Deno.test("findCycles() finds nothing where imports only go down", () => {
  assertEquals(findCycles(edges("a -> b", "a -> c", "b -> c", "c -> d")), []);
});

Deno.test("findCycles() names each cycle once, with a shortest way round, and counts type imports", () => {
  assertEquals(findCycles(edges("a -> b", "b ~> c", "c -> a", "b -> a", "d -> a", "x -> x")), [
    "a: imports itself: a -> b -> a",
    "c: imports itself: c -> a -> b -> c",
    "x: imports itself: x -> x",
  ]);
});

Deno.test("checkLayers() accepts imports that go down", () => {
  assertEquals(
    layerViolations(
      "mod.ts -> src/client/client.ts",
      "src/bot/text/mention.ts -> mod.ts",
      "src/bot/text/mention.ts ~> types.ts",
      "src/bot/env.ts -> src/store/sqlite.ts",
      "src/client/client.ts -> src/actors/syncer/syncer.ts",
      "src/actors/syncer/syncer.ts -> src/api/server/sync.ts",
      "src/actors/syncer/syncer.ts -> src/actors/kernel/mod.ts",
      "src/api/server/sync.ts -> src/types/ids.ts",
      "src/crypto/decrypt.ts ~> src/store/crypto_store.ts",
      "src/testing/homeserver.ts -> src/base/clock.ts",
      "src/testing/conformance/store_conformance.ts ~> mod.ts",
      "src/testing/bot_tester.ts -> src/store/base/mod.ts",
      "src/types/ids.ts -> src/errors/matrix_error.ts",
      "src/base/clock.ts -> third_party/jsr/std-async/delay.ts",
    ),
    [],
  );
});

Deno.test("checkLayers() refuses imports that go up, sideways, or out of the product", () => {
  for (
    const line of [
      "src/client/client.ts -> mod.ts",
      "src/bot/text/mention.ts -> src/api/messages/matrix_link.ts",
      "src/bot/env.ts -> src/store/base/mod.ts",
      "src/api/server/sync.ts -> src/actors/syncer/syncer.ts",
      "src/api/server/sync.ts ~> src/store/store.ts",
      "src/store/store.ts -> src/api/server/sync.ts",
      "src/crypto/decrypt.ts -> src/store/crypto_store.ts",
      "src/crypto/decrypt.ts ~> src/api/keys.ts",
      "src/types/ids.ts -> src/api/http/endpoint.ts",
      "src/base/clock.ts -> src/client/client.ts",
      "src/testing/homeserver.ts -> src/api/server/sync.ts",
      "src/testing/homeserver.ts -> mod.ts",
      "src/testing/conformance/store_conformance.ts -> src/actors/store/store_actor.ts",
      "src/testing/conformance/store_conformance.ts ~> src/store/sealed/sealed.ts",
      "src/client/client.ts -> src/testing/homeserver.ts",
      "src/api/server/sync.ts -> tests/support/fake.ts",
    ]
  ) assertEquals(layerViolations(line).length, 1, line);
});

Deno.test("checkLayers() refuses a file that is in no layer", () => {
  assertEquals(checkLayers([], ["src/utils/strings.ts", "src/api/http/endpoint.ts"]).length, 1);
});

Deno.test("checkKernel() refuses Matrix in the kernel", () => {
  const clean = [
    "src/actors/kernel/mod.ts -> src/actors/kernel/channel.ts",
    "src/actors/kernel/actor_error.ts -> src/errors/matrix_error.ts",
  ];
  const outside = "src/actors/syncer/syncer.ts -> src/api/server/sync.ts";
  assertEquals(checkKernel(edges(...clean, outside)), []);
  assertEquals(checkKernel(edges("src/actors/kernel/mod.ts ~> src/types/ids.ts")).length, 1);
  assertEquals(
    checkKernel(edges(...clean, "src/actors/kernel/actor.ts -> src/actors/syncer/syncer.ts", outside)).length,
    1,
  );
});

Deno.test("checkCryptoModules() refuses imports that go up among the modules of the encryption", () => {
  const down = [
    "src/crypto/engine/engine.ts -> src/crypto/olm/olm_channels.ts",
    "src/crypto/olm/olm_channels.ts -> src/crypto/devices/user_record.ts",
    "src/crypto/olm/olm_channels.ts -> src/crypto/olm/olm_inbox.ts",
    "src/crypto/olm/olm_channels.ts -> src/base/clock.ts",
    "src/client/client.ts -> src/crypto/engine/engine.ts",
  ];
  assertEquals(checkCryptoModules(edges(...down)), []);
  for (
    const line of [
      "src/crypto/olm/olm_channels.ts -> src/crypto/engine/engine.ts",
      "src/crypto/devices/user_record.ts ~> src/crypto/identity/own_identity.ts",
      "src/crypto/megolm/room_key.ts -> src/crypto/verification/verifications.ts",
      "src/crypto/news/news.ts -> src/crypto/records/transaction.ts",
      "src/crypto/engine/engine.ts -> src/crypto/news/news.ts",
    ]
  ) assertEquals(checkCryptoModules(edges(...down, line)).length, 1, line);
});

Deno.test("checkFolders() refuses a folder of more than 24 files, but not for what its subfolders hold", () => {
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${folder}/${at}.ts`);
  assertEquals(checkFolders([...files("src/api", 24), ...files("src/api/http", 24), "mod.ts"]), []);
  assertEquals(checkFolders(files("src/api", 25)), [
    "src/api: holds 25 files; give them subfolders by concept",
  ]);
});

Deno.test("importGraph() sees imports between files of the repository and leaves out all others", async () => {
  const graph = await importGraph(["tools/structure/cycles.ts", "tools/step.ts"]);
  const from = (path: string) => graph.filter((edge) => edge.from === path);
  assertEquals(
    from("tools/structure/cycles.ts"),
    edges("tools/structure/cycles.ts ~> tools/structure/types.ts"),
  );
  assertEquals(
    from("tools/step.ts"),
    edges("tools/step.ts -> tools/process.ts", "tools/step.ts -> tools/test_summary.ts"),
  );
});

Deno.test("importGraph() takes more files than the arguments of a command can name", async () => {
  const paths = Array.from({ length: 4_000 }, () => "tools/structure/cycles.ts");
  assertEquals(await importGraph(paths), edges("tools/structure/cycles.ts ~> tools/structure/types.ts"));
});

Deno.test("checkSurface() refuses a root of more than 100 names, and one that does not name what it exports", () => {
  const root = (...names: string[]) => [{
    path: "mod.ts",
    text: `export {\n  ${names.join(",\n  ")},\n} from "./src/a.ts";\nexport type { B } from "./src/b.ts";\n`,
  }];
  const names = (count: number) => Array.from({ length: count }, (_, at) => `a${at}`);
  assertEquals(checkSurface(root(...names(99))), []);
  assertEquals(checkSurface(root(...names(100))), [
    "mod.ts: exports 101 names; move types that operations take and return to types.ts",
  ]);
  for (const text of [`export * from "./src/a.ts";\n`, `export type * from "./src/a.ts";\n`]) {
    assertEquals(checkSurface([{ path: "mod.ts", text }]).length, 1);
    assertEquals(checkSurface([{ path: "types.ts", text }]), []);
  }
});

const head = "/**\n * What it is for.\n *\n * @module\n */\n";
const long = "x;\n".repeat(300);

const fileCases: { name: string; refused: [string, string][]; accepted: [string, string][] }[] = [
  {
    name: "files over 300 lines without a reason",
    refused: [["tools/a.ts", long + "x;\n"], ["src/a.ts", head + long]],
    accepted: [
      ["tools/a.ts", long],
      ["src/a.ts", head.replace("@module", "Over 300 lines because it is a table.\n *\n * @module") + long],
      ["README.md", long + long],
      ["third_party/a.ts", long + long],
    ],
  },
  {
    name: "barrels",
    refused: [
      ["tools/a.ts", `export * from "./b.ts";\nexport { c } from "./c.ts";\n`],
      ["src/a.ts", `${head}export type {\n  B,\n} from "./b.ts";\nexport * as c from "./c.ts";\n`],
    ],
    accepted: [
      ["mod.ts", `${head}export * from "./b.ts";\nexport * from "./c.ts";\n`],
      ["tools/a.ts", `export * from "./b.ts";\nexport const from = { c };\n`],
    ],
  },
  {
    name: "files of the product without a module comment",
    refused: [
      ["src/a.ts", "export const a = 1;\n"],
      ["src/a.ts", "/** What it is for. */\nexport const a = 1;\n"],
      ["mod.ts", `import "./a.ts";\n${head}`],
    ],
    accepted: [["src/a.ts", head], ["tests/a_test.ts", "x;\n"]],
  },
  {
    name: "paths of one machine",
    refused: ["work", "root", "farm"].map((folder) => ["README.md", `See (/${folder}/notes.txt)\n`]),
    accepted: [["README.md", "https://example.org/work/ and ./work/x and homework/root/\n"]],
  },
  {
    name: "comments that only repeat their declaration",
    refused: [
      ["src/a.ts", `${head}/** A room's name. */\nexport type RoomName = string;\n`],
      ["src/a.ts", `${head}interface A {\n  /** The events. */\n  events: ClientEvent[];\n}\n`],
    ],
    accepted: [
      ["src/a.ts", `${head}/** A room's name, for people. */\nexport const roomName = 1;\n`],
      ["src/a.ts", `${head}/**\n * A room's name.\n *\n * @see x\n */\nexport type RoomName = string;\n`],
      ["tests/a_test.ts", "/** A room. */\nconst room = 1;\n"],
    ],
  },
  {
    name: "left-overs",
    refused: [
      "// TO" + "DO: more",
      "// FIX" + "ME",
      "Deno.test.on" + "ly(f)",
      "Deno.test.ign" + "ore(f)",
      "ignore: tr" + "ue",
    ]
      .map((line) => ["tests/a_test.ts", line]),
    accepted: [["tests/a_test.ts", "Deno.test({ fn, ignore: missing })"]],
  },
  {
    name: "an internal member that programs find by its name",
    refused: [
      [
        "src/a.ts",
        head + "/** @internal For the client alone. */\n  set engine(engine: Engine) {}\n",
      ],
      [
        "src/a.ts",
        head + "/**\n * Calls it.\n *\n * @internal\n * @param a It.\n */\n  async call(a: A) {}\n",
      ],
    ],
    accepted: [
      [
        "src/a.ts",
        head +
        "/** @internal */\n  readonly [CALL]: Call;\n  /** @internal */\n  async [SAY](): Promise<void> {}\n",
      ],
      [
        "src/a.ts",
        head + "/** @internal */\n  constructor() {}\n  /** @internal */\n  protected override get a() {}\n",
      ],
      ["tests/a.ts", "/** @internal */\n  call() {}\n"],
    ],
  },
];

for (const { name, refused, accepted } of fileCases) {
  Deno.test(`checkFiles() refuses ${name}`, () => {
    for (const [path, text] of refused) {
      const violations = checkFiles([{ path, text }]);
      assertEquals(violations.map((line) => line.split(":")[0]), [path], text);
    }
    for (const [path, text] of accepted) assertEquals(checkFiles([{ path, text }]), [], text);
  });
}

Deno.test("checkPlatform() refuses Deno and modules of Node outside of the port, but not in comments and texts", () => {
  const uses = (path: string, text: string) => checkPlatform([{ path, text }]).length;
  assertEquals(uses("src/api/http/request.ts", "export const pid = Deno.pid;"), 1);
  assertEquals(uses("src/bot/bot.ts", "let file: Deno.FsFile | undefined;"), 1);
  assertEquals(uses("src/bot/bot.ts", 'import { join } from "node:path";'), 1);
  assertEquals(uses("mod.ts", 'const crypto = () => import("node:crypto");'), 1);
  assertEquals(uses("src/base/clock.ts", "globalThis.Deno?.unrefTimer?.(1);"), 1);
  assertEquals(uses("src/bot/bot.ts", '// as Deno.serve()\nthrow "write Deno.serve()";'), 0);
  assertEquals(uses("src/base/platform/deno.ts", "export const pid = Deno.pid;"), 0);
  assertEquals(uses("tests/bot/bot_test.ts", "Deno.test();"), 0);
});
