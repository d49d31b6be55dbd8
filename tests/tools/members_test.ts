import { assert, assertEquals } from "@std/assert";
import { MEMBER_TARGETS, withMembers } from "../../tools/members.ts";
import { ROOT } from "../../tools/process.ts";
import { PLACES_FILE, placesText } from "../../tools/option_places.ts";

for (const target of MEMBER_TARGETS) {
  Deno.test(`${target.name} shows the members that it has from elsewhere: \`deno task members\` writes them`, async () => {
    const isCurrent = await Deno.readTextFile(`${ROOT}${target.file}`) === await withMembers(target);
    assert(isCurrent, `deno task members: what ${target.file} shows has changed`);
  });
}

Deno.test("Documentation tools find in each class what users call", async () => {
  const members = await documented("mod.ts", "types.ts", "src/bot/mod.ts");
  const expected = {
    Client: [
      "createRoom",
      "downloadMedia",
      "login",
      "on",
      "runTask",
      "sendText",
      "start",
      "stop",
      "syncOnce",
    ],
    ClientRoom: ["getName", "invite", "isEncrypted", "leave", "sendText", "setTag"],
    Bot: ["command", "commands", "hears", "on", "start", "use"],
    Context: ["ask", "react", "redact", "reply", "roomId", "send", "sendImage", "getSession", "step"],
    TimerContext: ["data", "in", "roomId", "send"],
  };
  for (const [name, wanted] of Object.entries(expected)) {
    const found = members.get(name) ?? new Set();
    assertEquals(wanted.filter((each) => !found.has(each)), [], `${name} lacks them`);
  }
});

/** What `deno doc` finds in each class of entries, and in the interface beside it. */
async function documented(...entries: readonly string[]): Promise<Map<string, Set<string>>> {
  const command = new Deno.Command(Deno.execPath(), { args: ["doc", "--json", ...entries], cwd: ROOT });
  const { stdout } = await command.output();
  interface Named {
    readonly name: string;
  }
  interface Definition {
    readonly properties?: readonly Named[];
    readonly methods?: readonly Named[];
  }
  interface Documented {
    readonly symbols:
      readonly (Named & { readonly declarations: readonly { readonly def?: Definition }[] })[];
  }
  const { nodes } = JSON.parse(new TextDecoder().decode(stdout)) as { nodes: Record<string, Documented> };
  return new Map(
    Object.values(nodes).flatMap(({ symbols }) => symbols).map(({ name, declarations }) => [
      name,
      new Set(
        declarations.flatMap(({ def }) => [...def?.properties ?? [], ...def?.methods ?? []]).map((each) =>
          each.name
        ),
      ),
    ]),
  );
}

Deno.test("Where operations take options is written down: `deno task members` does it", async () => {
  const isCurrent = await Deno.readTextFile(`${ROOT}${PLACES_FILE}`) === await placesText();
  assert(isCurrent, `deno task members: what ${PLACES_FILE} says has changed`);
});
