/**
 * Checks the content of an event before it is given to code that relies on its type.
 *
 * @module
 */

import { MalformedContentError } from "../../errors/matrix_error.ts";
import {
  asCause,
  type ContentSchemaResult,
  type EventDefinition,
  membersAtFault,
  pathOf,
} from "./define_event.ts";
import { classOf, type EventType, type InternalEventType, typeName } from "./event_type.ts";
import type { InternalEvents, MemberEvent } from "./internal_event.ts";
import { isJsonObject } from "../json.ts";
import { shapeOf } from "../checks/content_shapes.ts";
import { type AnyShape, Misfit, type Notes } from "../checks/shape.ts";

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
