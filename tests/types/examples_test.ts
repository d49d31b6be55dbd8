import { assertEquals } from "@std/assert";
import { assertCompiles, moduleOf } from "./compiler.ts";
import { classOf } from "../../src/types/events/event_type.ts";
import { sampleOf, type Schema } from "./schema_sample.ts";
import { readSharedJson, specificationTest } from "./shared_schemas.ts";

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

/**
 * The one example that breaks its own schema: a start by short strings that names none of their
 * parameters.
 */
const isDefective = (type: string, content: object): boolean =>
  type === "m.key.verification.start" && !("hashes" in content) && !("secret" in content);

/**
 * Members of the examples that no schema has: a misspelt one, and one that stands a level too deep.
 */
function withoutStrayMembers(key: string, value: unknown): unknown {
  if (key === "audio_muted:") return undefined;
  if (key === "thumbnail_info") return { ...(value as object), is_animated: undefined };
  return value;
}

specificationTest("The compiler accepts every example of the specification as its type", async () => {
  const examples = readSharedJson<Record<string, { type: string; content: object }[]>>("event-examples.json");
  const lines = [
    `import type { ClassOf, ContentOf } from "${moduleOf("events/event_of.ts")}";`,
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
  await assertCompiles(lines.join("\n"));
});

specificationTest("The compiler accepts contents with every member that their schema names", async () => {
  const schemas = readSharedJson<Record<string, Schema>>("event-schemas.json");
  const lines = [`import type { ContentOf } from "${moduleOf("events/event_of.ts")}";`];
  const left = new Set([
    // What these say of all their variants is in each variant's own schema.
    "m.key.verification.start",
    "m.room.message",
    // Maps of identifiers, which their schemas call any string: their examples are checked.
    "m.direct",
    "m.image_pack.rooms",
  ]);
  for (const [name, schema] of Object.entries(schemas)) {
    if (left.has(name)) continue;
    const type = name.split("$")[0];
    const { content } = sampleOf(schema, schema) as { content: object };
    lines.push(`export const content${lines.length}: ContentOf<"${type}"> = ${JSON.stringify(content)};`);
  }
  await assertCompiles(lines.join("\n"));
});
