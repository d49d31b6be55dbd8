/**
 * The steps from each version of the schema to the next. What a step does is never changed once it was published: the next version
 * has a step of its own.
 *
 * @module
 */

import { isJsonObject } from "../../types/json.ts";
import type { SchemaDraft } from "./schema_draft.ts";

/** Changes records from one version to the next, by what they hold and nothing else. */
export type SchemaStep = (records: SchemaDraft) => void | Promise<void>;

/** From version 0, which wrote no version down, on. */
export const SCHEMA_STEPS: readonly SchemaStep[] = [dateLeftRooms];

/** Rooms that were left say when, so that their state can be removed some time later: these were left long ago. */
async function dateLeftRooms(records: SchemaDraft): Promise<void> {
  for await (const { key, value } of records.list(["room"])) {
    if (isJsonObject(value) && (value.membership === "leave" || value.membership === "ban")) {
      records.set(key, { ...value, leftAt: 0 });
    }
  }
}
