/**
 * Checks requests against the specification's OpenAPI description, and their events against its schemas.
 *
 * @module
 */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { JsonObject } from "@greenroom/matrix/types";
import { isJsonObject } from "../../src/types/json.ts";
import { readSharedJson } from "../types/shared_schemas.ts";
import { eventProblems } from "./event_schemas.ts";

/** A request to be checked. */
export interface CheckedRequest {
  /** The HTTP method. */
  readonly method: string;
  /** The whole URL. */
  readonly url: string;
  /** The headers. */
  readonly headers: Headers;
  /** The body: parsed JSON, or bytes; undefined without one. */
  readonly body: unknown;
}

interface Parameter {
  readonly in: "path" | "query";
  readonly name: string;
  readonly required?: boolean;
  readonly schema: JsonObject;
}

interface Operation {
  readonly operationId: string;
  readonly deprecated?: boolean;
  readonly security?: readonly JsonObject[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly [type: string]: { readonly schema: JsonObject } } };
}

interface Description {
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: JsonObject;
}

/** Deprecated operations that are used all the same, and when. */
const FALLBACKS: Readonly<Record<string, string>> = {
  getContent: "servers before version 1.11",
  getContentThumbnail: "servers before version 1.11",
  getConfig: "servers before version 1.11",
  getUrlPreview: "servers before version 1.11",
};

/**
 * Operations that must not be told the token: it is not theirs, or is just what they replace. Others that
 * want none get it all the same, for many servers do want it.
 */
const TOKENLESS = [
  "getWellknown",
  "refresh",
  "register",
  "getLoginFlows",
  "getContent",
  "getContentThumbnail",
];

/** Query parameters that the description lacks: of all operations, or of one. */
const MORE_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  // The identity of application services, which the specification describes elsewhere.
  "*": ["user_id", "device_id", "org.matrix.msc3202.device_id", "ts"],
  sync: ["org.matrix.msc4222.use_state_after"],
  // What `via` was called in servers before version 1.12.
  joinRoom: ["server_name"],
  knockRoom: ["server_name"],
};

/** Members of bodies that the description lacks, and does not forbid. */
const MORE_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  inviteUser: ["reason"],
  queryKeys: ["token"], // left the specification with version 1.7; sent only if the caller gives one
};

class Checker {
  readonly #description = readSharedJson<Description>("client-server.json");
  readonly #ajv = new Ajv2020({ strict: false, coerceTypes: false, allErrors: true });
  readonly #compiled = new WeakMap<object, ValidateFunction>();
  readonly #routes = Object.keys(this.#description.paths).map((path) => ({
    path,
    segments: path.split("/"),
  }));

  constructor() {
    addFormats.default(this.#ajv);
    const formats: Record<string, RegExp> = {
      "mx-room-id": /^!/,
      "mx-user-id": /^@[^:]*:/,
      "mx-event-id": /^\$/,
      "mx-room-alias": /^#.*:/,
      "mx-mxc-uri": /^mxc:\/\/[^/]+\/[\w-]+$/,
      "mx-server-name": /^[\w.:[\]-]+$/,
    };
    for (const [name, format] of Object.entries(formats)) this.#ajv.addFormat(name, format);
    this.#ajv.addSchema({ $id: "matrix", components: this.#description.components });
  }

  operations(): string[] {
    return Object.entries(this.#description.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
    );
  }

  nameOf(method: string, pathname: string): string | undefined {
    const found = this.route(method, pathname)?.[0];
    return this.operations().find((name) => {
      const [verb = "", path = ""] = name.split(" ");
      return this.#description.paths[path]?.[verb.toLowerCase()] === found;
    });
  }

  /** The operation that a request is for, and the parameters in its path. */
  route(method: string, pathname: string): [Operation, JsonObject] | undefined {
    const segments = pathname.split("/");
    const fits = this.#routes
      .filter((route) =>
        route.segments.length === segments.length &&
        route.segments.every((part, index) => part.startsWith("{") || part === segments[index])
      )
      .sort((one, other) => one.path.split("{").length - other.path.split("{").length);
    for (const { path, segments: parts } of fits) {
      const operation = this.#description.paths[path]?.[method.toLowerCase()];
      if (operation === undefined) continue;
      const named = parts.flatMap((part, index) =>
        part.startsWith("{") ? [[part.slice(1, -1), decodeURIComponent(segments[index] ?? "")]] : []
      );
      return [operation, Object.fromEntries(named)];
    }
    return undefined;
  }

  /** What is wrong with a value. */
  problems(what: string, schema: JsonObject, value: unknown): string[] {
    let validate = this.#compiled.get(schema);
    if (validate === undefined) {
      validate = this.#ajv.compile(rebased(schema));
      this.#compiled.set(schema, validate);
    }
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${what}${instancePath} ${message}`);
  }

  /** The members that a schema of an object names; undefined if it lets others in on purpose. */
  members(schema: JsonObject): string[] | undefined {
    const { $ref, properties, additionalProperties, allOf = [], anyOf = [], oneOf = [] } = schema;
    if (typeof $ref === "string") return this.members(this.#resolve($ref));
    if (additionalProperties !== undefined && additionalProperties !== false) return undefined;
    const parts = [allOf, anyOf, oneOf].flatMap((list) => list as JsonObject[]).map((part) =>
      this.members(part)
    );
    if (properties === undefined && parts.length === 0) return undefined;
    const named = Object.keys(properties ?? {});
    return parts.reduce<string[] | undefined>((all, part) => all && part && [...all, ...part], named);
  }

  #resolve(ref: string): JsonObject {
    const steps = ref.replace("#/", "").split("/");
    return steps.reduce<JsonObject>((value, step) => value[step] as JsonObject, { ...this.#description });
  }
}

/** A schema whose references lead into the one description that the validator knows. */
function rebased(schema: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"matrix#/components/'));
}

let checker: Checker | undefined | null;

/** What checks; null without the description, but on the build server, where it must be. */
function theChecker(): Checker | null {
  if (checker !== undefined) return checker;
  try {
    return checker = new Checker();
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || Deno.env.get("CI") === "true") throw error;
    return checker = null;
  }
}

/** Endpoints of proposals, which the specification does not describe yet. */
const PROPOSED =
  /^\/_matrix\/client\/(unstable\/(org\.matrix\.msc3814\.v1\/dehydrated_device(\/[^/]+\/events)?|org\.matrix\.msc4140\/.*|io\.element\.msc4306\/.*|uk\.timedout\.msc4323\/.*))$/;

/** All operations that the specification describes, as `GET /path/{parameter}`; none if that is missing. */
export function describedOperations(): string[] {
  return theChecker()?.operations() ?? [];
}

/** The operation that a request is for, likewise; undefined if there is none. */
export function operationOf(method: string, pathname: string): string | undefined {
  return theChecker()?.nameOf(method, pathname);
}

/**
 * What is wrong with a request; nothing if it is as the specification says. Requests to other paths than
 * Matrix's pass, and so do all where the description is not beside the repository.
 */
export function requestProblems(request: CheckedRequest): string[] {
  const checker = theChecker();
  if (checker === null) return [];
  const { method, headers, body } = request;
  const { pathname, searchParams } = new URL(request.url);
  if (!/^\/(_matrix|\.well-known)\//.test(pathname)) return [];
  if (PROPOSED.test(pathname) || searchParams.has("org.matrix.msc4140.delay")) return [];
  const found = checker.route(method, pathname);
  if (found === undefined) return [`${method} ${pathname}: no such endpoint`];
  const [operation, params] = found;
  const problems = [
    ...deprecation(operation),
    ...authorization(operation, headers),
    ...pathProblems(checker, operation, params),
    ...queryProblems(checker, operation, searchParams),
    ...bodyProblems(checker, operation, headers, body),
    ...eventProblems(operation.operationId, params, body),
  ];
  return problems.map((problem) => `${method} ${pathname} (${operation.operationId}): ${problem}`);
}

function deprecation({ deprecated, operationId }: Operation): string[] {
  return deprecated && !Object.hasOwn(FALLBACKS, operationId) ? ["deprecated, and no named fallback"] : [];
}

function authorization({ security = [], operationId }: Operation, headers: Headers): string[] {
  if (TOKENLESS.includes(operationId) && headers.has("authorization")) {
    return ["sends a token where none is wanted"];
  }
  if (security.length === 0) return [];
  const optional = security.some((scheme) => Object.keys(scheme).length === 0);
  return optional || /^Bearer \S+$/.test(headers.get("authorization") ?? "") ? [] : ["sends no token"];
}

function pathProblems(checks: Checker, { parameters = [] }: Operation, params: JsonObject): string[] {
  return parameters.filter((parameter) => parameter.in === "path").flatMap(({ name, schema }) =>
    checks.problems(`path parameter ${name}`, schema, params[name])
  );
}

function queryProblems(checks: Checker, operation: Operation, query: URLSearchParams): string[] {
  const { parameters = [], operationId } = operation;
  const known = parameters.filter((parameter) => parameter.in === "query");
  const missing = known.filter(({ name, required }) => required && !query.has(name));
  const more = [...MORE_PARAMETERS["*"] ?? [], ...MORE_PARAMETERS[operationId] ?? []];
  const open = known.some(({ schema }) => schema.type === "object"); // its members are parameters
  const unknown = [...query.keys()].filter((name) =>
    !open && !more.includes(name) && !known.some((parameter) => parameter.name === name)
  );
  return [
    ...missing.map(({ name }) => `query parameter ${name} is missing`),
    ...unknown.map((name) => `query parameter ${name} is unknown`),
    ...known.filter(({ name }) => query.has(name)).flatMap(({ name, schema }) =>
      checks.problems(`query parameter ${name}`, schema, parsedParameter(schema, query.getAll(name)))
    ),
  ];
}

/** The value of a query parameter, by the type it should have; left as text if it can't be. */
function parsedParameter(schema: JsonObject, texts: string[]): unknown {
  const [text = ""] = texts;
  if (schema.type === "array") return texts;
  if (texts.length > 1) return texts;
  if (schema.type === "integer" || schema.type === "number") {
    return /^-?\d+$/.test(text) ? Number(text) : text;
  }
  if (schema.type === "boolean") return text === "true" || (text === "false" ? false : text);
  return text;
}

function bodyProblems(checks: Checker, operation: Operation, headers: Headers, body: unknown): string[] {
  const content = operation.requestBody?.content;
  if (content === undefined) {
    const nothing = body === undefined || (isJsonObject(body) && Object.keys(body).length === 0);
    return nothing ? [] : ["sends a body where none is wanted"];
  }
  if (content["application/json"] === undefined) {
    return headers.has("content-type") && body instanceof Uint8Array
      ? []
      : ["sends no bytes, or no content type"];
  }
  if (headers.get("content-type") !== "application/json") return ["sends no application/json"];
  const { schema } = content["application/json"];
  const members = checks.members(schema);
  const more = MORE_MEMBERS[operation.operationId] ?? [];
  const unknown = members === undefined || !isJsonObject(body)
    ? []
    : Object.keys(body).filter((name) =>
      !members.includes(name) && !more.includes(name) && !name.includes(".")
    );
  return [
    ...checks.problems("body", schema, body),
    ...unknown.map((name) => `body member ${name} is unknown`),
  ];
}
