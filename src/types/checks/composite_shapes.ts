/**
 * Shapes of objects, lists and maps: where what may be absent is taken away if it does not fit.
 *
 * @module
 */

import { isJsonObject, type JsonObject } from "../json.ts";
import { anything, type Members, Misfit, type Notes, type Optional, type Shape } from "./shape.ts";

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
  const known = (Object.entries(members) as Entry[]).map(([name, member]): Member => {
    const isOptional = "optional" in member;
    const shape = isOptional ? member.optional : member;
    return { name, shape, primitive: shape.primitive, absent: shape.absent, isOptional };
  });
  return (value, notes) => {
    if (!isJsonObject(value)) return new Misfit("is not an object");
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
