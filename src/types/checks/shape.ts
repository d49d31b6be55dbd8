/**
 * The language in which it is written down what a content must be: a shape, the shapes of plain values, and
 * those of objects, lists and maps.
 *
 * What may be absent is taken away if it does not fit: an optional member, an item of a list, an entry of a
 * map. What must be there makes the whole around it not fit. `null` in place of an optional member or of an
 * entry counts as its absence, and so does an empty string in place of one that is something else
 * (`avatar_url`, as Dendrite writes it for users without one).
 *
 * Over 300 lines because it is one language, and each word of it a few lines.
 *
 * @module
 */

import {
  isReceivedEventId,
  isReceivedRoomAlias,
  isReceivedRoomId,
  isReceivedUserId,
} from "../identifiers.ts";
import type { ContentURI, EventID, RoomAlias, RoomID, UserID } from "../ids.ts";
import { isJsonObject, type JsonObject } from "../json.ts";

/** A part of a value that does not fit. */
export class Misfit {
  /** The way to the part, from the whole; `*` stands for an item of a list or an entry of a map. */
  readonly path: string[] = [];

  /** What is wrong with it, in words, without the value. */
  readonly problem: string;

  /** @param problem What is wrong with it. */
  constructor(problem: string) {
    this.problem = problem;
  }

  /** The same, seen from one step further out. */
  in(name: string): this {
    this.path.unshift(name);
    return this;
  }
}

/** What is noted on the way through a value. */
export interface Notes {
  /** What did not fit and was taken away, the first ten. */
  readonly taken: Misfit[];
  /** How often a shape has led back to itself. */
  depth: number;
  /** The room of all events, which need not say it. Absent: each event says its own. */
  readonly room?: string;
  /** How many events of lists were left out. */
  leftOut?: number;
}

/** For callers that do not need the removed parts. */
export const UNNOTED: Notes = { taken: [], depth: 0 };

/**
 * What a value must be, as the function that checks it: gives the value, a copy without what was
 * taken away, or what does not fit. A shape of `T` is one of exactly `T`, so that the compiler
 * finds a table that says more or less than a type.
 */
export interface Shape<T> {
  (value: unknown, notes: Notes): T | Misfit;
  /** A `typeof` of which every value fits: such a value need not be looked at. */
  readonly primitive?: "string" | "number" | "boolean";
  /** Makes what stands for a member that is absent; undefined: nothing can. */
  readonly absent?: () => T;
  /** For the compiler alone. */
  readonly type?: (value: T) => void;
}

/** A shape of which it is not known any more what it is of. */
export type AnyShape = Shape<JsonObject>;

/** A member that may be absent. */
interface Optional<T> {
  /** What it must be if it is there. */
  readonly optional: Shape<T>;
}

/** What the members of an object must be. */
export type Members<T> = {
  readonly [Name in keyof T]-?: Record<never, never> extends Pick<T, Name>
    ? Optional<Exclude<T[Name], undefined>>
    : Shape<T[Name]>;
};

/** How often a shape may lead back to itself. */
const MAX_DEPTH = 10;

function plain<T>(name: string, is: (value: unknown) => boolean): Shape<T> {
  const problem = `is not ${name}`;
  return (value) => is(value) ? value as T : new Misfit(problem);
}

function primitive<T>(type: NonNullable<Shape<T>["primitive"]>, is: (value: unknown) => boolean): Shape<T> {
  return Object.assign(plain<T>(`a ${type}`, is), { primitive: type });
}

function address<T extends string>(scheme: string): Shape<T> {
  return plain(
    `a URI that begins with ${scheme}`,
    (value) => typeof value === "string" && value.startsWith(scheme),
  );
}

/** A string. */
export const text: Shape<string> = primitive("string", (value) => typeof value === "string");
/** A number. */
export const number: Shape<number> = primitive("number", (value) => typeof value === "number");
/** A boolean. */
export const boolean: Shape<boolean> = primitive("boolean", (value) => typeof value === "boolean");
/** `true`. */
export const isTrue: Shape<true> = plain("true", (value) => value === true);
/** Whatever JSON can say. */
export const anything: Shape<unknown> = (value) => value;
/** An object of which nothing more is said. */
export const anyObject: Shape<JsonObject> = plain("an object", isJsonObject);
/** A user ID. */
export const userId: Shape<UserID> = plain("a user ID", isReceivedUserId);
/** A room ID. */
export const roomId: Shape<RoomID> = plain("a room ID", isReceivedRoomId);
/** A room alias. */
export const roomAlias: Shape<RoomAlias> = plain("a room alias", isReceivedRoomAlias);
/** An event ID. */
export const eventId: Shape<EventID> = plain("an event ID", isReceivedEventId);
/** The address of a file in the content repository. */
export const contentUri: Shape<ContentURI> = address("mxc://");
/** The address of a place. */
export const geoUri: Shape<`geo:${string}`> = address("geo:");

/** A text that is as a pattern or a question of its own has it. */
export function matching<T extends string>(
  name: string,
  is: RegExp | ((value: string) => boolean),
): Shape<T> {
  const fits = is instanceof RegExp ? (value: string) => is.test(value) : is;
  return plain(name, (value) => typeof value === "string" && fits(value));
}

/** A power level: a number, which was a string at times in room versions up to 9. */
export const level: Shape<number> = (value) => {
  const given = typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) ? Number(value) : value;
  return typeof given === "number" ? given : new Misfit("is not a number");
};

/** One of some values. */
export function oneOf<const Values extends readonly (string | number | boolean)[]>(
  ...values: Values
): Shape<Values[number]> {
  return plain(`one of ${values.join(", ")}`, (value) => values.includes(value as Values[number]));
}

/** A value of one shape or of the other. */
export function either<One, Other>(one: Shape<One>, other: Shape<Other>): Shape<One | Other> {
  return (value, notes) => {
    const taken = one(value, notes);
    return taken instanceof Misfit ? other(value, notes) : taken;
  };
}

/** A value of a shape, or `null`. */
export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  const nullOr: Shape<T | null> = (value, notes) => value === null ? null : shape(value, notes);
  return Object.assign(nullOr, { primitive: shape.primitive });
}

/** A member that may be absent. */
export function optional<T>(shape: Shape<T>): Optional<T> {
  return { optional: shape };
}

/**
 * A member that its type has, and that no code needs: something stands for it where it is absent.
 *
 * @param shape What it must be if it is there.
 * @param absent Makes what stands for it.
 */
export function orElse<T>(shape: Shape<T>, absent: () => NoInfer<T>): Shape<T> {
  const whole: Shape<T> = (value, notes) => shape(value, notes);
  return Object.assign(whole, { primitive: shape.primitive, absent });
}

/** A shape that is needed before it is there: one that leads back to itself. */
export function later<T>(shape: () => Shape<T>): Shape<T> {
  return (value, notes) => {
    if (notes.depth >= MAX_DEPTH) return new Misfit("lies too deep");
    notes.depth++;
    try {
      return shape()(value, notes);
    } finally {
      notes.depth--;
    }
  };
}

type Entry = [name: string, member: Shape<unknown> | Optional<unknown>];

/** A list; items that do not fit are taken away. */
export function list<T>(item: Shape<T>): Shape<T[]> {
  return (value, notes) => {
    if (!Array.isArray(value)) return new Misfit("is not a list");
    let copy: T[] | undefined;
    for (let index = 0; index < value.length; index++) {
      const given = value[index];
      const before = notes.taken.length;
      const taken = item(given, notes);
      if (taken !== given) {
        copy ??= value.slice(0, index);
        step("*", taken, before, notes);
      }
      if (taken instanceof Misfit) note(taken, notes);
      else copy?.push(taken);
    }
    return copy ?? value;
  };
}

/** An object with any keys; entries that do not fit are removed. */
export function map<T extends object>(entry: Shape<Exclude<T[keyof T], undefined>>): Shape<T> {
  return (value, notes) => {
    if (!isJsonObject(value)) return new Misfit("is not an object");
    let copy: JsonObject | undefined;
    for (const key of Object.keys(value)) {
      const given = value[key];
      const before = notes.taken.length;
      const taken = entry(given, notes);
      if (taken === given) continue;
      step("*", taken, before, notes);
      copy ??= { ...value };
      put(copy, key, taken, given, notes);
    }
    return (copy ?? value) as T;
  };
}

/** A {@link map} that must have an entry. */
export function having<T extends object>(key: string, shape: Shape<T>): Shape<T> {
  return (value, notes) => {
    const taken = shape(value, notes);
    return taken instanceof Misfit || Object.hasOwn(taken, key) ? taken : new Misfit("is missing").in(key);
  };
}

/** A member of an object. */
interface Member {
  readonly name: string;
  readonly shape: Shape<unknown>;
  readonly primitive: Shape<unknown>["primitive"];
  readonly absent: Shape<unknown>["absent"];
  readonly isOptional: boolean;
}

/** An object with the members of a type, and whatever others. */
export function object<T extends object>(members: Members<T>): Shape<T> {
  let known: readonly Member[] | undefined; // of most types no event comes
  return (value, notes) => {
    if (!isJsonObject(value)) return new Misfit("is not an object");
    known ??= membersOf(members);
    let copy: JsonObject | undefined;
    // By index and by name: to go through the members that are there costs several times as much.
    for (let index = 0; index < known.length; index++) {
      const { name, shape, primitive, absent, isOptional } = known[index] as Member;
      const given = value[name];
      if (given === undefined) {
        if (isOptional) continue;
        if (absent === undefined) return new Misfit("is missing").in(name);
        copy ??= { ...value };
        copy[name] = absent();
        continue;
      }
      if (isOf(primitive, given)) continue;
      const before = notes.taken.length;
      const taken = shape(given, notes);
      if (taken === given) continue;
      step(name, taken, before, notes);
      if (!isOptional && taken instanceof Misfit) return taken;
      copy ??= { ...value };
      put(copy, name, taken, given, notes);
    }
    return (copy ?? value) as T;
  };
}

function membersOf(members: object): Member[] {
  return (Object.entries(members) as Entry[]).map(([name, member]) => {
    const isOptional = "optional" in member;
    const shape = isOptional ? member.optional : member;
    return { name, shape, primitive: shape.primitive, absent: shape.absent, isOptional };
  });
}

/**
 * One of several objects, told apart by a member.
 *
 * @param tag The member.
 * @param shapes The objects, by the member's value.
 * @param other What an object with another value must be; undefined: there is none.
 */
export function variants<Contents extends object, Other = never>(
  tag: string,
  shapes: { readonly [Value in keyof Contents]?: Shape<Contents[Value]> },
  other?: Shape<Other>,
): Shape<Contents[keyof Contents] | Other> {
  const byTag = new Map<unknown, Shape<unknown>>(Object.entries(shapes));
  return (value, notes) => {
    if (!isJsonObject(value)) return new Misfit("is not an object");
    const shape = byTag.get(value[tag]) ?? other;
    if (shape === undefined) return new Misfit("is none of those that are known").in(tag);
    return shape(value, notes) as Contents[keyof Contents] | Other | Misfit;
  };
}

/**
 * Returns whether a value has a `typeof`. So written, the compiler of V8 need not make the name of the
 * type.
 */
function isOf(type: Shape<unknown>["primitive"], value: unknown): boolean {
  return type === "string"
    ? typeof value === "string"
    : type === "number"
    ? typeof value === "number"
    : type === "boolean" && typeof value === "boolean";
}

/** The member that {@link variants} has looked at. */
export function tag<Value extends string>(): Shape<Value> {
  return anything as Shape<Value>;
}

/**
 * Says of what did not fit in a part, where that part is. Something was taken away only if the part
 * is not what was given.
 */
function step(name: string, taken: unknown, before: number, notes: Notes): void {
  for (let index = before; index < notes.taken.length; index++) notes.taken[index]?.in(name);
  if (taken instanceof Misfit) taken.in(name);
}

/** Puts what fits in the place of what was given, or takes it away. */
function put(copy: JsonObject, name: string, taken: unknown, given: unknown, notes: Notes): void {
  if (taken instanceof Misfit) {
    delete copy[name];
    if (given !== null && given !== "") note(taken, notes); // servers write either for what is not there
  } else copy[name] = taken;
}

/** How much is noted of what was taken away: anyone can send thousands of items that do not fit. */
const MAX_NOTES = 10;

function note(misfit: Misfit, { taken }: Notes): void {
  if (taken.length < MAX_NOTES) taken.push(misfit);
}
