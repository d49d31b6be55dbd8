/**
 * What a schema has to say against a value, without the value.
 *
 * @module
 */

import type { ContentIssue } from "./content_schema.ts";

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
 * Issues as the cause of an error: a program reads them as they are. What prints the error, or makes JSON of it, gets the members at
 * fault alone, since the words of a schema may quote the value, and some libraries add it.
 */
export function asCause(issues: readonly ContentIssue[]): readonly ContentIssue[] {
  const cause = [...issues];
  const value = () => `of ${membersAtFault(issues)}; read the issues for the schema's words`;
  for (const look of LOOKS) Object.defineProperty(cause, look, { value });
  return cause;
}
