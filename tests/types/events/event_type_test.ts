import { assert, assertEquals } from "@std/assert";
import { canBeOfClass, classOf, eventType, typeName } from "../../../src/types/events/event_type.ts";
import { readSharedJson, specificationTest } from "../shared_schemas.ts";

specificationTest("classOf() finds the class of every type that the specification has a schema of", () => {
  const schemas = readSharedJson<Record<string, { "x-eventKind": string }>>("event-schemas.json");
  const types = new Map(
    Object.entries(schemas).map(([name, schema]) => [name.split("$")[0] ?? name, schema["x-eventKind"]]),
  );
  assertEquals(types.size, 66);
  // The schemas call everything that is neither state nor sent to a room's timeline by one endpoint
  // "other".
  const classesByKind: Record<string, string[]> = {
    state: ["state"],
    message: ["message"],
    other: ["ephemeral", "account_data", "to_device"],
  };
  const ofTwoClasses = /^m\.room\.encrypted$|^m\.key\.verification\./;
  for (const [type, kind] of types) {
    const found = classOf(type);
    if (kind === "other" && ofTwoClasses.test(type)) {
      assert(canBeOfClass(type, "to_device"), type);
      continue;
    }
    assert(classesByKind[kind]?.includes(found), `${type} is ${kind}, and classOf() says ${found}`);
  }
});

Deno.test("classOf() knows the types that the contract names beyond the schemas", () => {
  assertEquals(classOf("m.room.aliases"), "state");
  assertEquals(classOf("m.secret_storage.default_key"), "account_data");
  assertEquals(classOf("m.secret_storage.key.abc"), "account_data");
  assertEquals(classOf("m.cross_signing.self_signing"), "account_data");
  assertEquals(classOf("m.presence"), "ephemeral");
  assertEquals(classOf("SYNC_STARTED"), "internal");
});

Deno.test("classOf() takes a name of two classes for a message", () => {
  assertEquals(classOf("m.room.encrypted"), "message");
  assertEquals(classOf("m.key.verification.start"), "message");
  assertEquals(classOf("m.key.verification.request"), "to_device");
});

Deno.test("classOf() returns the class of a reference, and undefined for unknown names", () => {
  assertEquals(classOf(eventType("m.room.name", "message")), "message");
  assertEquals(classOf("com.example.poll"), "unknown");
  assertEquals(classOf("m.secret_storage.key"), "unknown");
});

Deno.test("canBeOfClass() allows a name its classes, and a reference its own", () => {
  assert(canBeOfClass("m.room.encrypted", "message"));
  assert(canBeOfClass("m.room.encrypted", "to_device"));
  assert(!canBeOfClass("m.room.encrypted", "state"));
  assert(!canBeOfClass("m.room.name", "message"));
  assert(!canBeOfClass(eventType("m.room.encrypted", "message"), "to_device"));
  assert(canBeOfClass("m.secret_storage.key.abc", "account_data"));
});

Deno.test("canBeOfClass() allows an undefined name any class but internal", () => {
  assert(canBeOfClass("com.example.poll", "state"));
  assert(canBeOfClass("com.example.poll", "to_device"));
  assert(!canBeOfClass("com.example.poll", "internal"));
  assert(canBeOfClass("SYNC_STARTED", "internal"));
});

Deno.test("typeName() is the name, with a class or without", () => {
  assertEquals(typeName("m.room.name"), "m.room.name");
  assertEquals(typeName(eventType("m.room.name", "state")), "m.room.name");
});
