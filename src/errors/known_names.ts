/**
 * What a person has written or given: names of options and variables, and functions.
 *
 * @module
 */

import { ValueError } from "./matrix_error.ts";

/** The names of all options that there are; one that is missing does not compile. */
export type OptionNames<Options> = Readonly<Record<keyof Options & string, true>>;

/**
 * What other libraries call options, and what they are called here:
 * of several names, the first that there is.
 */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...{ token: "accessToken", access_token: "accessToken", user: "mxid identifier" },
  ...{ storage: "store", crypto: "encryption", logger: "log", device_id: "deviceId", domain: "serverName" },
  ...{ reply_to: "replyTo", reply_to_message_id: "replyTo", threadId: "thread", formatted_body: "html" },
  ...{ filename: "fileName", fileName: "filename", mimetype: "mimeType", contentType: "mimeType" },
  ...{ markdown: "html", parse_mode: "html", parseMode: "html" },
  ...{ autojoin: "autoJoin", notice: "msgtype", alias: "aliasLocalpart" },
  ...{ deviceDisplayName: "deviceName", initialDeviceDisplayName: "deviceName" },
  ...{ initial_device_display_name: "deviceName", room_alias_name: "aliasLocalpart" },
  ...{ name: "fileName filename serverName", alt: "caption", method: "resizeMethod" },
  ...{ powerLevels: "powerLevelContentOverride", statusMessage: "status", search: "searchQuery" },
  ...{ maxBytes: "maxSize", timeZone: "timezone", txnId: "sendKey", transactionId: "sendKey" },
  ...{ "retry.attempts": "retry.maxRetries", "retry.minDelay": "retry.base", "retry.maxDelay": "retry.cap" },
  ...{ "backoff.minDelay": "backoff.base", "backoff.maxDelay": "backoff.cap" },
  ...{ password: "authentication", pageSize: "limit", blocklist: "deny", allowlist: "allow" },
  ...{ initial_state: "initialState", room_version: "roomVersion", validate: "check" },
};

/** The address of a homeserver, and its user. */
const ADDRESS = /^(homeserver|server|base_)?_?url$/i;
const USER = /^user_?(id|name)$/i;

/** How many options are named where there is none. */
const SHOWN = 6;

/** The longest way to another name at which that is taken for what was meant. */
const MAX_DISTANCE = 3;

/**
 * Refuses names that there are not, as of a typing error, and names the nearest that there is.
 *
 * @param given The names that were given.
 * @param known Those that there are.
 * @param action What was to be done, as the error has it, and what the names are.
 * @throws {ValueError} If there is one that there is not.
 */
export function checkNames(
  given: Iterable<string>,
  known: readonly string[],
  { action, what }: { readonly action: string; readonly what: string },
): void {
  for (const name of given) if (!known.includes(name)) throw unknownName(name, known, { action, what });
}

function unknownName(
  name: string,
  meant: readonly string[],
  { action, what }: { readonly action: string; readonly what: string },
): ValueError {
  const elsewhere = ADDRESS.test(name)
    ? "homeserver baseUrl"
    : USER.test(name)
    ? "mxid identifier"
    : ELSEWHERE[name];
  const translated = elsewhere?.split(" ").find((each) => meant.includes(each));
  const nearest = translated !== undefined
    ? translated
    : meant.includes(name)
    ? undefined
    : nearestName(name, meant);
  const mend = nearest === undefined ? "leave it out" : `did you mean ${nearest}?`;
  return new ValueError(`Cannot ${action}: there is no ${what} ${name}; ${mend}`);
}

/**
 * Refuses options that there are not, as of a typing error, and what is no options at all.
 *
 * @param given The options; undefined: none.
 * @param names The names of those that there are.
 * @param action What was to be done, as the error has it.
 * @param part Of which option they are a part, and a dot. Default: of none.
 * @param meant Those that may have been meant. Default: those that there are.
 * @throws {ValueError} If there is one that there is not.
 */
export function checkOptions(
  given: unknown,
  names: Readonly<Record<string, true>>,
  action: string,
  part = "",
  meant?: readonly string[],
): void {
  if (given === undefined) return;
  const what = given !== null && Object.getPrototypeOf(given) === Object.prototype
    ? undefined
    : noOptions(given);
  if (what !== undefined) {
    const all = Object.keys(names);
    const each = [...all.slice(0, SHOWN), ...(all.length > SHOWN ? ["…"] : [])].join(", ");
    throw new ValueError(
      `Cannot ${action}: ${
        part === "" ? "its options" : part.slice(0, -1)
      } must be an object, not ${what}; write { ${each} }`,
    );
  }
  const options = given as { readonly signal?: Partial<AbortSignal> | null };
  for (const name in options) {
    if (!Object.hasOwn(options, name) || Object.hasOwn(names, name)) continue; // which costs next to nothing
    const all = meant ?? Object.keys(names);
    throw unknownName(part + name, all.map((each) => part + each), { action, what: "option" });
  }
  const { signal } = options;
  if (names.signal && signal && signal.aborted === undefined) {
    throw new ValueError(`Cannot ${action}: ${part}signal must be an AbortSignal, such as controller.signal`);
  }
}

/**
 * What stands where options belong, and is none: an instance of a class without any would pass for `{}`.
 *
 * @returns What it is, with its article; undefined: options.
 */
export function noOptions(given: unknown): string | undefined {
  if (given === null) return "null";
  if (typeof given !== "object") return `a ${typeof given}`;
  if (Array.isArray(given)) return "a list";
  const prototype = Object.getPrototypeOf(given);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  for (const name in given) if (name !== "") return undefined;
  return given instanceof Promise ? "a promise that was not awaited" : `a ${prototype.constructor.name}`;
}

/**
 * The nearest of some names.
 *
 * @param limit How many characters may differ.
 * @returns Undefined: all are too far away.
 */
export function nearestName(
  name: string,
  known: readonly string[],
  limit = MAX_DISTANCE,
): string | undefined {
  const near = known.map((each) => ({ each, distance: distanceOf(name.toLowerCase(), each.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.min(limit, Math.max(2, name.length / 3), name.length / 2))
    .sort((one, other) => one.distance - other.distance);
  return near[0]?.each;
}

/**
 * Finds a variable that is misspelled: one character away from one that is read, and that is not set.
 * What is further away may be a variable of the program.
 *
 * @param names Those that are set.
 * @param known Those that are read.
 */
export function misspelledVariable(
  names: readonly string[],
  known: readonly string[],
): { readonly name: string; readonly meant: string } | undefined {
  for (const name of names) {
    const meant = nearestName(name, known, 1);
    if (meant !== undefined && !names.includes(meant)) return { name, meant };
  }
  return undefined;
}

/** Counts the characters that have to be put in, taken out, changed, or swapped with the next (Damerau). */
function distanceOf(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const changed = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwapped = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, changed, swapped));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}

/**
 * Refuses what is no function where one is called later, when nobody would see why it is not.
 *
 * @param given What was given.
 * @param action What was to be done, as the error has it.
 * @param what What the function is, with its article. Default: its function.
 * @throws {ValueError} If it is none.
 */
export function checkFunction(given: unknown, action: string, what = "its function"): void {
  if (typeof given === "function") return;
  const is = given === undefined || given === null ? "missing" : `of type ${typeof given}`;
  throw new ValueError(`Cannot ${action}: ${what} is ${is}; give a function`);
}

/**
 * Refuses a value of an option that is none of those that it may have.
 *
 * @param given The value; undefined: none.
 * @param all Those that there are.
 * @param action What was to be done, as the error has it.
 * @param name The option.
 * @throws {ValueError} If it is none of them.
 */
export function checkOneOf(given: unknown, all: readonly string[], action: string, name: string): void {
  if (given === undefined || all.includes(given as string)) return;
  throw new ValueError(`Cannot ${action}: ${name} must be one of ${all.join(", ")}, and is "${given}"`);
}
