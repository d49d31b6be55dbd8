/**
 * Types of event that an application defines, with a schema that checks their contents before code that
 * relies on a type gets them.
 *
 * Over 300 lines because a definition and the check by it are one thing.
 *
 * @module
 */

import { checkOptions } from "../../errors/known_names.ts";
import { MalformedContentError, ValueError } from "../../errors/matrix_error.ts";
import { shapeOf } from "../checks/content_shapes.ts";
import { type AnyShape, Misfit, type Notes } from "../checks/shape.ts";
import { isJsonObject, type JsonObject } from "../json.ts";
import {
  classOf,
  type EventClass,
  type EventType,
  type EventTypeRef,
  type InternalEventType,
  typeName,
} from "./event_type.ts";
import type { InternalEvents, MemberEvent } from "./internal_event.ts";

/** A schema of any library with Standard Schema, version 1. */
export interface ContentSchema<Content extends object> {
  /** The library's side of the interface. */
  readonly "~standard": ContentSchemaProperties<Content>;
}

/** What a schema library provides of each schema. */
export interface ContentSchemaProperties<Content extends object> {
  /** The version of Standard Schema. */
  readonly version: 1;
  /** The library's name. */
  readonly vendor: string;
  /** Checks a value. */
  readonly validate: (value: unknown) => ContentSchemaResult<Content> | Promise<ContentSchemaResult<Content>>;
  /** What goes in and what comes out; for the compiler alone, there is no value at run time. */
  readonly types?: ContentSchemaTypes<Content> | undefined;
}

/** What goes into a schema and what comes out. */
export interface ContentSchemaTypes<Content extends object> {
  /** What the schema is meant for. */
  readonly input: unknown;
  /** What the schema returns. */
  readonly output: Content;
}

/** How a check ended: with a value, or with issues. */
export type ContentSchemaResult<Content extends object> = ContentAccepted<Content> | ContentRefused;

/** A schema let a value pass. */
export interface ContentAccepted<Content extends object> {
  /** The value, as the schema returns it. */
  readonly value: Content;
  /** Always undefined: the value is valid. */
  readonly issues?: undefined;
}

/** A schema let a value not pass. */
export interface ContentRefused {
  /** The reasons why the value is not valid. */
  readonly issues: readonly ContentIssue[];
}

/** Why a schema let a value not pass. */
export interface ContentIssue {
  /** What is wrong, in the library's words, which may quote the value. */
  readonly message: string;
  /** The way to the member at fault; the whole value is if absent or empty. */
  readonly path?: readonly (PropertyKey | ContentPathSegment)[] | undefined;
}

/** A step on the way to a member. */
export interface ContentPathSegment {
  /** The name or index of the member. */
  readonly key: PropertyKey;
}

/** Names the members that issues are about, such as `options.0.text`; never their values. */
export function membersAtFault(issues: readonly ContentIssue[]): string {
  return issues.map((issue) => pathOf(issue) || "the whole").join(", ");
}

/** Names the member that an issue is about; empty: the whole. */
function pathOf({ path = [] }: ContentIssue): string {
  return path.map((segment) => String(typeof segment === "object" ? segment.key : segment)).join(".");
}

/** How Deno, Node.js and JSON ask a value what it is to look like. */
const LOOKS = [Symbol.for("Deno.customInspect"), Symbol.for("nodejs.util.inspect.custom"), "toJSON"];

/**
 * Issues as the cause of an error: a program reads them as they are. What prints the error, or
 * makes JSON of it, gets the members at fault alone, since the words of a schema may quote the
 * value, and some libraries add it.
 */
export function asCause(issues: readonly ContentIssue[]): readonly ContentIssue[] {
  const cause = [...issues];
  const value = () => `of ${membersAtFault(issues)}; read the issues for the schema's words`;
  for (const look of LOOKS) Object.defineProperty(cause, look, { value });
  return cause;
}

/** A type of event with its class and what its content must be. */
export interface EventDefinition<
  Type extends string = string,
  Class extends EventClass = EventClass,
  Content extends object = JsonObject,
> extends EventTypeRef<Type, Class> {
  /** What checks contents; `undefined` lets every object pass. */
  readonly schema: ContentSchema<Content> | undefined;
}

/** The classes that an application can define events of. */
export type DefinableEventClass = Exclude<EventClass, "internal" | "unknown">;

/** What {@linkcode defineEvent} takes. */
export interface DefineEventOptions<
  Type extends string,
  Class extends DefinableEventClass,
  Content extends object,
> {
  /**
   * The type, as the wire has it; name it after a domain that you own, as in `com.example.poll`.
   */
  type: Type;
  /** Where events of the type occur. */
  class: Class;
  /**
   * What checks contents, of any library with Standard Schema: Zod, Valibot, ArkType and
   * others. It should check and not change: what it returns takes the content's place when it is
   * sent, and when it is delivered.
   *
   * @default {undefined} Every object passes.
   */
  schema?: ContentSchema<Content>;
}

/**
 * Defines a type of event. Events of it are typed where they are handled and sent, and checked at
 * both places if there is a schema.
 *
 * @param options The type, its class and its schema.
 * @returns The definition, to be given wherever an `EventType` is asked for.
 *
 * @example
 * ```ts
 * import { defineEvent } from "@greenroom/matrix";
 *
 * const poll = defineEvent({ type: "com.example.poll", class: "message" });
 * console.assert(poll.type === "com.example.poll");
 * ```
 */
export function defineEvent<
  const Type extends string,
  const Class extends DefinableEventClass,
  Content extends object = JsonObject,
>(options: DefineEventOptions<Type, Class, Content>): EventDefinition<Type, Class, Content> {
  checkOptions(options, { type: true, class: true, schema: true }, "define a type of event");
  return Object.freeze({ type: options.type, class: options.class, schema: options.schema });
}

/**
 * Checks a content against the schema of its definition.
 *
 * @param definition The definition.
 * @param content The content.
 * @returns The content as the schema returns it; a promise of it if the schema is asynchronous.
 * @throws {ValueError} If the schema refuses the content, or there is none and the content is no
 * object. The message names the members at fault and no values; the schema's own words are in the
 * error's `cause`, a list of issues, which is not printed with it.
 */
export function validateContent<Content extends object>(
  definition: EventDefinition<string, EventClass, Content>,
  content: unknown,
): Content | Promise<Content> {
  const { type, schema } = definition;
  if (schema === undefined) {
    if (!isJsonObject(content)) {
      throw new ValueError(`Cannot accept content of "${type}": not an object; pass one`);
    }
    return content as Content; // without a schema the definition's word is all there is
  }
  const result = schema["~standard"].validate(content);
  return result instanceof Promise
    ? result.then((settled) => acceptedContent(type, settled))
    : acceptedContent(type, result);
}

function acceptedContent<Content extends object>(
  type: string,
  result: ContentSchemaResult<Content>,
): Content {
  if (result.issues === undefined) return result.value;
  throw new ValueError(
    `Cannot accept content of "${type}": its schema refuses ${
      membersAtFault(result.issues)
    }; make the content fit the schema`,
    { cause: asCause(result.issues) },
  );
}

/** A content that does not fit. */
export class Malformed {
  /** What is left of it and fits; undefined: nothing that could be used. */
  readonly content: object | undefined;
  /** What does not fit. */
  readonly reason: MalformedContentError;

  /**
   * @param content What is left and fits.
   * @param reason What does not fit.
   */
  constructor(content: object | undefined, reason: MalformedContentError) {
    this.content = content;
    this.reason = reason;
  }
}

/**
 * Checks a content: gives the very content if it fits, another one if its sender wrote `null` for
 * what is absent or its schema changes it, or what does not fit.
 */
export type ContentCheck = (content: unknown) => object | Malformed | Promise<object | Malformed>;

/** Internal events about a change of membership carry the member event. */
const MEMBERSHIPS: {
  readonly [Type in InternalEventType as InternalEvents[Type] extends MemberEvent ? Type : never]: true;
} = {
  JOIN: true,
  PROFILE_CHANGE: true,
  INVITE: true,
  USER_INVITED: true,
  REJECT_INVITE: true,
  DISINVITE: true,
  LEAVE: true,
  KICK: true,
  BAN: true,
  UNBAN: true,
  KNOCK: true,
};

/**
 * The check of a type's contents: by the schema of a definition, or by what the specification says
 * of the type. Undefined: nothing is promised of them.
 */
export function contentCheckOf(type: EventType): ContentCheck | undefined {
  if (typeof type === "object" && "schema" in type) return schemaCheck(type as EventDefinition);
  const eventClass = classOf(type);
  const name = typeName(type);
  if (eventClass === "internal") {
    return Object.hasOwn(MEMBERSHIPS, name) ? contentCheckOf("m.room.member") : undefined;
  }
  const shape = shapeOf(eventClass, name);
  return shape &&
    shapeCheck(name, shape, { canBeCleared: eventClass === "state" && name !== "m.room.member" });
}

/** Returns whether nothing is left in a content: it was redacted, or it is state that was cleared. */
export function isEmpty(content: unknown): content is Record<string, never> {
  if (!isJsonObject(content)) return false;
  for (const name in content) if (Object.hasOwn(content, name)) return false;
  return true;
}

function shapeCheck(
  type: string,
  shape: AnyShape,
  { canBeCleared }: { readonly canBeCleared: boolean },
): ContentCheck {
  let notes: Notes = { taken: [], depth: 0 };
  return (content) => {
    const fitting = shape(content, notes);
    if (fitting === content) return fitting; // nothing was taken away
    const { taken } = notes;
    if (canBeCleared && isEmpty(content)) return content;
    if (!(fitting instanceof Misfit) && taken.length === 0) return fitting;
    notes = { taken: [], depth: 0 };
    return fitting instanceof Misfit
      ? new Malformed(undefined, misfits(type, [...taken, fitting]))
      : new Malformed(fitting, misfits(type, taken));
  };
}

function misfits(eventType: string, all: readonly Misfit[]): MalformedContentError {
  const members = all.map(({ path }) => path.join("."));
  const problems = all.map(({ problem }, index) => `${members[index] || "it"} ${problem}`);
  return new MalformedContentError(
    `Cannot use content of "${eventType}" as it is: ${problems.join(", ")}`,
    { eventType, members },
  );
}

function schemaCheck({ type, schema }: EventDefinition): ContentCheck | undefined {
  if (schema === undefined) return undefined;
  return (content) => {
    const result = schema["~standard"].validate(content);
    return result instanceof Promise
      ? result.then((settled) => accepted(type, settled))
      : accepted(type, result);
  };
}

function accepted(eventType: string, result: ContentSchemaResult<object>): object | Malformed {
  if (result.issues === undefined) return result.value;
  const message = `Cannot use content of "${eventType}": its schema refuses ${membersAtFault(result.issues)}`;
  const members = result.issues.map(pathOf);
  return new Malformed(
    undefined,
    new MalformedContentError(message, { eventType, members, cause: asCause(result.issues) }),
  );
}
