/**
 * What is said of a session's history: whether its key may be shared with users who are invited later.
 *
 * @module
 */

import type { JsonObject } from "../../types/json.ts";

/** What unstable versions of the specification call `shared_history`, and other clients still do. */
export const UNSTABLE_SHARED = "org.matrix.msc3061.shared_history";

/** What matrix-sdk-crypto calls it in room keys: it shares no key that does not say so. */
export const OTHER_SHARED = "m.shared_history";

/** Whether the key may be shared; undefined: it is not said. */
export function saidShared(content: JsonObject): boolean | undefined {
  const said = content.shared_history ?? content[UNSTABLE_SHARED] ?? content[OTHER_SHARED];
  return typeof said === "boolean" ? said : undefined;
}
