/**
 * Where an error comes from in the application: the first frame of its stack that is not Greenroom's.
 *
 * In a bundle all frames are in one file, in which this package is in one piece: modules stand
 * in the order in which they are evaluated. This one, which entries import first, is its
 * beginning, and their last lines are its end.
 *
 * @module
 */

/** A place in a file. */
interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Where something was called. */
export interface CallSite {
  stack?: string;
}

const FRAME = /^ +at (?:.*[ (])?((?:file|https?|blob):[^\s()]+):(\d+):(\d+)\)?$/gm;
/** Libraries, of Greenroom and of applications. */
const LIBRARY = /\/node_modules\/|\/deno\/npm\//;
/** The end of this module's address, unless it is in a bundle. */
const HERE = /\/src\/base\/own_code\.[jt]s$/;
/** The folder of this package in JSR, or in a copy of it: there the code is in bundles of its own. */
const PACKAGE = /^.*\/@greenroom\/matrix\/\d[^/]*\//;
/** How many frames are looked through: Greenroom has some between an application and a request. */
const FRAMES = 30;

/** The folder of this package's code; undefined in a bundle of an application. */
const folder = HERE.test(import.meta.url)
  ? import.meta.url.replace(HERE, "/src/")
  : PACKAGE.exec(import.meta.url)?.[0];

/**
 * Where a bundle has this module, and the ends of entries. Functions, since V8 reads a file anew
 * before it says where in it the code runs that is no function: 7 ms for a bundle.
 */
const begin = () => callSite();
const ends: (() => CallSite)[] = [];

const sites = new WeakMap<object, CallSite>();

/**
 * Says where an entry of this package ends.
 *
 * @param end A function that stands in its last line, and calls {@link callSite}.
 */
export function endOwnCode(end: () => CallSite): void {
  ends.push(end);
}

/**
 * Notes where something is called: what it throws may have lost that, since stacks are short.
 *
 * @param called The function that is called; what called it comes first. Default: this one.
 */
export function callSite(called: (...given: never[]) => unknown = callSite): CallSite {
  const site: CallSite = {};
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  Error.captureStackTrace(site, called);
  Error.stackTraceLimit = stackTraceLimit;
  return site;
}

/** Says where what has thrown an error was called. */
export function noteCallSite(error: unknown, site: CallSite): void {
  if (error instanceof Error && !sites.has(error)) sites.set(error, site);
}

/** Finds the line of the application that an error comes from; undefined: that is not known. */
export function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const found = [error.stack, sites.get(error)?.stack].flatMap(framesOf).find((frame) => !isOwn(frame));
  return found && `${found.file}:${found.line}:${found.column}`;
}

function framesOf(stack: string | undefined): Place[] {
  return [...(stack ?? "").matchAll(FRAME)].map(([, file = "", line, column]) => ({
    file,
    line: Number(line),
    column: Number(column),
  }));
}

function isOwn(frame: Place): boolean {
  if (LIBRARY.test(frame.file)) return true;
  if (folder !== undefined) return frame.file.startsWith(folder);
  const [first] = framesOf(begin().stack);
  if (first === undefined || frame.file !== first.file || isBefore(frame, first)) return false;
  return ends.some((end) => framesOf(end().stack).slice(0, 1).some((last) => !isBefore(last, frame)));
}

function isBefore(one: Place, other: Place): boolean {
  return one.line < other.line || (one.line === other.line && one.column < other.column);
}
