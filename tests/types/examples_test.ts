import { assert, assertEquals } from "@std/assert";
import { classOf } from "../../src/types/event_type.ts";
import { readSharedJson, sharedSchemasPresent } from "./shared_schemas.ts";

/** Types without an example, whose class is checked all the same. */
const WITHOUT_EXAMPLE = [
  "INVITE",
  "com.example.unknown",
  "m.cross_signing.master",
  "m.cross_signing.self_signing",
  "m.cross_signing.user_signing",
  "m.megolm_backup.v1",
  "m.room.aliases",
  "m.secret_storage.default_key",
  "m.secret_storage.key.abc",
];

/** The one example that breaks its own schema: a start by short strings that names none of their parameters. */
const isDefective = (type: string, content: object): boolean =>
  type === "m.key.verification.start" && !("hashes" in content) && !("secret" in content);

/** Members of the examples that no schema has: a misspelt one, and one that stands a level too deep. */
function withoutStrayMembers(key: string, value: unknown): unknown {
  if (key === "audio_muted:") return undefined;
  if (key === "thumbnail_info") return { ...(value as object), is_animated: undefined };
  return value;
}

Deno.test("The compiler accepts every example of the specification as its type", async () => {
  if (!sharedSchemasPresent()) return;
  const examples = readSharedJson<Record<string, { type: string; content: object }[]>>("event-examples.json");
  const source = (name: string): string => new URL(`../../src/types/${name}`, import.meta.url).href;
  const lines = [
    `import type { ClassOf, ContentOf } from "${source("event_of.ts")}";`,
    "type Exactly<T, U> = [T, U] extends [U, T] ? true : never;",
  ];
  const types = new Set(WITHOUT_EXAMPLE);
  let count = 0;
  for (const { type, ...event } of Object.values(examples).flat()) {
    types.add(type);
    if (isDefective(type, event.content)) continue;
    count++;
    const isOlm = type === "m.room.encrypted" && JSON.stringify(event.content).includes("m.olm.v1");
    const eventClass = isOlm ? "to_device" : classOf(type);
    lines.push(
      `export const content${count}: ContentOf<{ type: "${type}"; class: "${eventClass}" }> = ` +
        `${JSON.stringify(event.content, withoutStrayMembers)};`,
    );
  }
  for (const type of types) {
    lines.push(`true satisfies Exactly<ClassOf<"${type}">, "${classOf(type)}">;`);
  }
  assertEquals(count, 82);
  await check(lines.join("\n"));
});

/** Fails with the compiler's words if `code` does not compile. */
async function check(code: string): Promise<void> {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(file, code);
    const config = new URL("../../deno.json", import.meta.url);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["check", "--quiet", "--config", config.pathname, file],
      env: { NO_COLOR: "1" },
    }).output();
    assert(success, new TextDecoder().decode(stderr));
  } finally {
    await Deno.remove(file);
  }
}
