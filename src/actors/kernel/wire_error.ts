/**
 * Errors as plain data: structured clone would flatten every class of ours to `Error`.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../../types/json.ts";
import { ActorError, ActorProtocolError, ActorStoppedError } from "./actor_error.ts";
import { RemoteError } from "./remote_error.ts";

/** How deep causes and data are followed. */
const MAX_DEPTH = 8;

/** An error on its way through a port. */
export interface WireError {
  /** The name of its class. */
  readonly name: string;
  /** Its message. */
  readonly message: string;
  /** Its `code`, if it has one that is a string. */
  readonly code?: string;
  /** Where it was thrown, on the far side. */
  readonly stack?: string;
  /** Its other own properties, as far as they are plain data. */
  readonly data?: JsonObject;
  /** What led to it. */
  readonly cause?: WireError;
}

/** Takes errors apart and puts them together again. */
export interface ErrorCodec {
  /** Takes apart whatever was thrown. The result can be cloned. */
  encode(error: unknown): WireError;
  /** Puts together what {@link ErrorCodec.encode} made of an error. */
  decode(wire: WireError): Error;
}

/**
 * Rebuilds the errors of one class.
 *
 * @param wire What came through the port: data from outside, of which only `name` is known.
 * @param cause The rebuilt cause.
 * @returns The error; `undefined` to leave it a {@link RemoteError}.
 */
export type ErrorReviver = (wire: WireError, cause: Error | undefined) => Error | undefined;

type BuiltIn = new (message: string, options?: ErrorOptions) => Error;

const builtIn = (type: BuiltIn): ErrorReviver => ({ message }, cause) =>
  new type(message, cause === undefined ? undefined : { cause });

const domException: ErrorReviver = ({ name, message }) => new DOMException(message, name);

const ofActor = (type: typeof ActorError | typeof ActorStoppedError): ErrorReviver => ({ data }, cause) =>
  typeof data?.actor === "string"
    ? new type(data.actor, { kind: typeof data.kind === "string" ? data.kind : undefined, cause })
    : undefined;

const KNOWN: Readonly<Record<string, ErrorReviver>> = {
  TypeError: builtIn(TypeError),
  RangeError: builtIn(RangeError),
  SyntaxError: builtIn(SyntaxError),
  AbortError: domException,
  TimeoutError: domException,
  DataCloneError: domException,
  ActorError: ofActor(ActorError),
  ActorStoppedError: ofActor(ActorStoppedError),
  ActorProtocolError: builtIn(ActorProtocolError),
};

/**
 * Makes a codec. The errors of the kernel and of the language come back as what they were, those of `revivers` as their
 * reviver says, and all others as {@link RemoteError}.
 *
 * @param revivers How to rebuild errors, by the name of their class.
 * @returns The codec.
 */
export function errorCodec(revivers: Readonly<Record<string, ErrorReviver>> = {}): ErrorCodec {
  const known = new Map(Object.entries({ ...KNOWN, ...revivers }));
  const decode = (wire: WireError): Error => {
    const cause = wire.cause === undefined ? undefined : decode(wire.cause);
    const error = revive(known.get(wire.name), wire, cause) ??
      new RemoteError(wire.message, { name: wire.name, code: wire.code, data: wire.data, cause });
    if (wire.stack !== undefined) {
      Object.defineProperty(error, "stack", { value: wire.stack, configurable: true, writable: true });
    }
    return error;
  };
  return { encode: encodeSafely, decode };
}

/**
 * Reads a {@link WireError} off a frame.
 *
 * @param value Data from outside.
 * @returns The error; one that says so if there is none.
 */
export function parseWireError(value: unknown, depth = 0): WireError {
  const { name, message, code, stack, data, cause } = isJsonObject(value) ? value : {};
  return {
    name: typeof name === "string" ? name : "Error",
    message: typeof message === "string" ? message : "an error without a message",
    code: typeof code === "string" ? code : undefined,
    stack: typeof stack === "string" ? stack : undefined,
    data: isJsonObject(data) ? data : undefined,
    cause: cause === undefined || depth === MAX_DEPTH ? undefined : parseWireError(cause, depth + 1),
  };
}

/** Data from the far side must not be able to make a reviver throw into the port. */
function revive(reviver: ErrorReviver | undefined, wire: WireError, cause?: Error): Error | undefined {
  try {
    return reviver?.(wire, cause);
  } catch {
    return undefined;
  }
}

/** Whatever was thrown, the asker gets an answer. */
function encodeSafely(error: unknown): WireError {
  try {
    return encode(error, 0);
  } catch {
    return { name: "Error", message: "an error was thrown whose properties can't be read" };
  }
}

function encode(error: unknown, depth: number): WireError {
  if (!(error instanceof Error)) {
    const message = typeof error === "string" ? error : `a value of type ${typeof error} was thrown`;
    return { name: "Error", message };
  }
  const { name, message, stack, cause } = error;
  const code: unknown = Reflect.get(error, "code");
  const data = plainObject(error, new Set());
  for (const key of ["name", "message", "code", "stack", "cause"]) delete data[key];
  return {
    name: String(name),
    message: String(message),
    code: typeof code === "string" ? code : undefined,
    stack: typeof stack === "string" ? stack : undefined,
    data,
    cause: cause === undefined || depth === MAX_DEPTH ? undefined : encode(cause, depth + 1),
  };
}

function plainObject(object: object, above: Set<object>): JsonObject {
  const copy: JsonObject = Object.create(null);
  for (const [key, value] of Object.entries(object)) {
    const plain = plainData(value, above);
    if (plain !== undefined) copy[key] = plain;
  }
  return copy;
}

/** A copy of what is plain data in `value`; `undefined` for anything else: functions, class instances, cycles. */
function plainData(value: unknown, above: Set<object>): unknown {
  if (typeof value !== "object" || value === null) {
    return typeof value === "function" || typeof value === "symbol" ? undefined : value;
  }
  if (above.has(value) || above.size === MAX_DEPTH) return undefined;
  const inside = new Set(above).add(value);
  if (Array.isArray(value)) return value.map((item) => plainData(item, inside));
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? plainObject(value, inside) : undefined;
}
