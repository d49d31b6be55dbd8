/**
 * What Greenroom needs of a schema: the part of the Standard Schema interface that Zod, Valibot,
 * ArkType and many others implement. It is declared here, and not imported, so that the
 * documentation is whole and nothing is depended on.
 *
 * @see {@link https://standardschema.dev | Standard Schema}
 * @module
 */

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
  /** None. */
  readonly issues?: undefined;
}

/** A schema let a value not pass. */
export interface ContentRefused {
  /** Why. */
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
export function pathOf({ path = [] }: ContentIssue): string {
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
