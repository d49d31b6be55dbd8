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
