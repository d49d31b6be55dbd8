/**
 * Checks the contents of events against the specification's schemas.
 *
 * @module
 */

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { JsonObject } from "@greenroom/matrix/types";
import { isJsonObject } from "../../src/types/json.ts";
import { readSharedJson } from "../types/shared_schemas.ts";

/** The schema of an event. */
interface EventSchema extends JsonObject {
  readonly $defs?: JsonObject;
  readonly properties?: { readonly content?: JsonObject };
}

class EventChecker {
  readonly #schemas = readSharedJson<Record<string, EventSchema>>("event-schemas.json");
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  readonly #compiled = new Map<string, ValidateFunction>();

  constructor() {
    addFormats.default(this.#ajv);
  }

  /** What is wrong with a content; nothing if its type is not the specification's. */
  problems(type: string, content: JsonObject): string[] {
    const variant = `${type}$${content.msgtype ?? content.method}`;
    return [type, variant].filter((name) => Object.hasOwn(this.#schemas, name)).flatMap((name) => {
      const validate = this.#validator(name);
      if (validate(content)) return [];
      return (validate.errors ?? []).map(({ instancePath, message }) =>
        `${name} content${instancePath} ${message}`
      );
    });
  }

  #validator(name: string): ValidateFunction {
    let validate = this.#compiled.get(name);
    if (validate === undefined) {
      const { $defs, properties } = this.#schemas[name] ?? {};
      validate = this.#ajv.compile({ $defs, ...properties?.content });
      this.#compiled.set(name, validate);
    }
    return validate;
  }
}

let checker: EventChecker | undefined;

/** What is wrong with an event that is sent. */
export function contentProblems(type: string, content: unknown): string[] {
  checker ??= new EventChecker();
  return isJsonObject(content) ? checker.problems(type, content) : [`${type} content is no object`];
}

/**
 * What is wrong with the events in a request.
 *
 * @param operation The operation's ID in the OpenAPI description.
 * @param params The parameters in the path.
 * @param body The body.
 */
export function eventProblems(operation: string, params: JsonObject, body: unknown): string[] {
  return eventsIn(operation, params, body).flatMap(([type, content]) => contentProblems(type, content));
}

function eventsIn(operation: string, params: JsonObject, body: unknown): [type: string, content: unknown][] {
  const json = isJsonObject(body) ? body : {};
  switch (operation) {
    case "sendMessage":
      return [[String(params.eventType), body]];
    case "setRoomStateWithKey":
      // Empty content clears a piece of state, which the schemas do not provide for.
      return Object.keys(json).length === 0 ? [] : [[String(params.eventType), body]];
    case "setAccountData":
    case "setAccountDataPerRoom":
      return [[String(params.type), body]];
    case "createRoom":
      return Array.isArray(json.initial_state)
        ? json.initial_state.filter(isJsonObject).map(({ type, content }) => [String(type), content])
        : [];
    case "sendToDevice":
      return Object.values(json.messages ?? {}).flatMap((devices) =>
        Object.values(devices as JsonObject).map((
          content,
        ): [string, unknown] => [String(params.eventType), content])
      );
    default:
      return [];
  }
}
