import { assert, assertEquals } from "@std/assert";
import { contentCheckOf, Malformed } from "../../../src/types/events/define_event.ts";
import { CHECKED_CLASSES, shapeOf } from "../../../src/types/checks/content_shapes.ts";
import { eventType } from "../../../src/types/events/event_type.ts";
import type { EventClass, JsonObject } from "@greenroom/matrix/types";
import { isJsonObject } from "../../../src/types/json.ts";
import { sampleOf, type Schema } from "../schema_sample.ts";
import { readSharedJson, specificationTest } from "../shared_schemas.ts";

/**
 * The classes in which the specification's type is known; of a variant, the type is in front of the
 * `$`.
 */
function classesOf(name: string): EventClass[] {
  const [type = ""] = name.split("$");
  return CHECKED_CLASSES.filter((each) => shapeOf(each, type) !== undefined);
}

/** What does not fit of a content, in a class; undefined: all fits. */
function faultsOf(name: string, eventClass: EventClass, content: unknown): readonly string[] | undefined {
  const [type = ""] = name.split("$");
  const checked = contentCheckOf(eventType(type, eventClass))?.(content);
  return checked instanceof Malformed ? checked.reason.members : undefined;
}

specificationTest(
  "Every example of the specification fits its type, but for the one that breaks its own schema",
  () => {
    const examples = readSharedJson<Record<string, { type: string; content: JsonObject }[]>>(
      "event-examples.json",
    );
    const misfits: string[] = [];
    for (const { type, content } of Object.values(examples).flat()) {
      const isOlm = content.algorithm === "m.olm.v1.curve25519-aes-sha2";
      const classes = classesOf(type).filter((each) =>
        type !== "m.room.encrypted" || isOlm === (each === "to_device")
      );
      assert(classes.length > 0, `nobody knows ${type}`);
      if (classes.some((each) => faultsOf(type, each, content) !== undefined)) misfits.push(type);
    }
    assertEquals(misfits, ["m.key.verification.start"]);
  },
);

/**
 * A member that a schema names, by its path, and the content around it with something else in its
 * place.
 */
function* spoiled(value: unknown, path: readonly string[] = []): Generator<[path: string, content: unknown]> {
  for (const wrong of wrongFor(value)) yield [path.join("."), wrong];
  const entries = Array.isArray(value) ? value.slice(0, 1) : isJsonObject(value) ? value : {};
  for (const [name, inner] of Object.entries(entries)) {
    for (const [at, wrong] of spoiled(inner, [...path, name])) {
      yield [
        at,
        Array.isArray(value) ? value.with(Number(name), wrong) : { ...(value as JsonObject), [name]: wrong },
      ];
    }
  }
}

/** Values of another kind. */
function wrongFor(value: unknown): unknown[] {
  if (typeof value === "string") return [5, {}];
  if (Array.isArray(value)) return ["x", {}];
  return typeof value === "object" ? ["x", []] : ["x", {}];
}

/** A value that may be of any kind: what a property is compared with. */
const isOfAnyKind = (path: string) => /conditions\.0\.value$/.test(path);

specificationTest("Each member of a content that its schema names is found if it is of another kind", () => {
  const schemas = readSharedJson<Record<string, Schema>>("event-schemas.json");
  const unnoticed = new Set<string>();
  let count = 0;
  for (const [name, schema] of Object.entries(schemas)) {
    if (name === "m.key.verification.start") continue; // its variants say it all
    const { content } = sampleOf(schema, schema) as { content: JsonObject };
    for (const eventClass of classesOf(name)) {
      // The sample is that of a message.
      if (name === "m.room.encrypted" && eventClass === "to_device") continue;
      // What the schema of room IDs calls any string does not fit before it is spoiled.
      if (name !== "m.direct") assertEquals(faultsOf(name, eventClass, content), undefined, name);
      for (const [path, wrong] of spoiled(content)) {
        count++;
        if (faultsOf(name, eventClass, wrong) === undefined && !isOfAnyKind(path)) {
          unnoticed.add(`${name} ${path}`);
        }
      }
    }
  }
  assert(count > 1_000);
  assertEquals([...unnoticed], []);
});
