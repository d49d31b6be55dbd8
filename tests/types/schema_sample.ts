/**
 * Makes values that have every member a JSON schema names, so that the compiler can compare a type
 * with the schema.
 */

/** As much of a JSON schema as the specification uses. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  example?: unknown;
  pattern?: string;
  format?: string;
  deprecated?: boolean;
  title?: string;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

/** What strings of a pattern look like. */
const STRINGS: Record<string, string> = {
  "^@": "@user:example.org",
  "^!": "!room:example.org",
  "^#": "#alias:example.org",
  "^\\$": "$event",
  "^mxc:\\/\\/": "mxc://example.org/media",
  "^geo:": "geo:0,0",
};

/** Parts that the schemas describe in words only, by title. */
const BY_TITLE: Record<string, unknown> = {
  EncryptedFile: {
    url: "mxc://example.org/media",
    key: { kty: "oct", key_ops: ["encrypt", "decrypt"], alg: "A256CTR", k: "key", ext: true },
    iv: "iv",
    hashes: { sha256: "hash" },
    v: "v2",
  },
  Presence: {
    events: [{ type: "m.presence", sender: "@user:example.org", content: { presence: "online" } }],
  },
  StrippedChildStateEvent: { type: "m.space.child", content: { via: ["example.org"] }, origin_server_ts: 1 },
  "Result Event ID": "$event",
  "User identifier": { type: "m.id.user", user: "user" },
};

/**
 * Members that are identifiers or one algorithm's, where the schemas call them any string, by name.
 */
const BY_NAME: Record<string, unknown> = {
  algorithm: "m.megolm.v1.aes-sha2",
  avatar_url: "mxc://example.org/media",
  event_id: "$event",
  "og:image": "mxc://example.org/media",
  replacement_room: "!room:example.org",
  room_id: "!room:example.org",
  thread_id: "$event",
  to: "@user:example.org",
  url: "mxc://example.org/media",
};

/**
 * A value with every member that `schema` names, deprecated ones left out; `root` is what its
 * references look into.
 */
export function sampleOf(schema: Schema, root: unknown): unknown {
  if (schema.$ref !== undefined) return sampleOf(resolve(schema.$ref, root), root);
  const described = BY_TITLE[schema.title ?? ""];
  if (described !== undefined) return described;
  const parts = (schema.allOf ?? []).map((part) => sampleOf(part, root));
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (choice !== undefined) return sampleOf(choice, root);
  if (schema.properties !== undefined || schema.patternProperties !== undefined) {
    return Object.assign({}, ...parts, ...members(schema, root));
  }
  if (parts.length > 0) return parts.every(isRecord) ? Object.assign({}, ...parts) : parts[0];
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.example !== undefined) return schema.example;
  if (schema.items !== undefined) return [sampleOf(schema.items, root)];
  if (typeof schema.additionalProperties === "object") {
    return { key: sampleOf(schema.additionalProperties, root) };
  }
  return sampleOfType(schema);
}

/** The members that an object's schema names, one object each. */
function members(schema: Schema, root: unknown): Record<string, unknown>[] {
  const named = Object.entries(schema.properties ?? {})
    .filter(([, member]) => member.deprecated !== true && !isEmpty(member));
  const patterned = Object.entries(schema.patternProperties ?? {})
    .map(([pattern, member]) => [STRINGS[pattern] ?? "key", member] as const);
  return [...patterned, ...named].map(([name, member]) => ({
    [name]: BY_NAME[name] ?? sampleOf(member, root),
  }));
}

/** Whether a schema says nothing, and only repeats a member's name for its documentation. */
function isEmpty(schema: Schema): boolean {
  return Object.keys(schema).every((keyword) => keyword.startsWith("x-"));
}

/** A value of a plain type. */
function sampleOfType(schema: Schema): unknown {
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "string":
      return STRINGS[schema.pattern ?? ""] ?? "text";
    case "boolean":
      return true;
    case "integer":
    case "number":
      return 1;
    case "array":
      return [];
    default:
      return {};
  }
}

/** What a reference such as `#/$defs/tag` points at. */
function resolve(reference: string, root: unknown): Schema {
  const target = reference.slice(2).split("/").reduce<unknown>(
    (node, name) => isRecord(node) ? node[name] : undefined,
    root,
  );
  if (!isRecord(target)) throw new Error(`${reference} points at nothing`);
  return target as Schema;
}

/** Whether a value is an object. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
