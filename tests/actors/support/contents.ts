/**
 * A schema of the smallest library that knows Standard Schema.
 *
 * @module
 */

import type { ContentSchema } from "@greenroom/matrix/types";
import { isJsonObject } from "../../../src/types/json.ts";

/** The content that {@link numberSchema} lets pass. */
export interface NumberContent {
  n: number;
}

/** Lets contents pass whose `n` is a number, and doubles it. */
export function numberSchema({ later }: { later: boolean }): ContentSchema<NumberContent> {
  const validate = (value: unknown) =>
    isJsonObject(value) && typeof value.n === "number"
      ? { value: { n: value.n * 2 } }
      : { issues: [{ message: "Not a number", path: ["n"] }] };
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => later ? Promise.resolve(validate(value)) : validate(value),
    },
  };
}
