/**
 * A schema of an application's own, in the form of Standard Schema.
 *
 * @module
 */

import type { ContentSchema } from "@greenroom/matrix/types";
import { isJsonObject } from "../../src/types/json.ts";

/** Takes objects whose `up` is a boolean, and notes that it did. */
export const flagSchema: ContentSchema<{ up: boolean; checked?: boolean }> = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: (value) =>
      isJsonObject(value) && typeof value.up === "boolean"
        ? { value: { up: value.up, checked: true } }
        : { issues: [{ message: "must be a boolean", path: ["up"] }] },
  },
};
