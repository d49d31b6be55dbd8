/** Finds the fewest requests that still show a difference. */

import { compare, whereTheyDiffer } from "./compare.ts";
import { asObject, type Compared, flat, type Step } from "./step.ts";
import type { Theirs } from "./theirs.ts";

/** A difference and what it takes. */
export interface Shrunk {
  readonly steps: readonly Step[];
  readonly difference: Compared;
}

/** Plays with ever fewer requests and members, as long as the last of them is answered differently. */
export async function shrink(
  theirs: Theirs,
  all: readonly Step[],
  difference: Compared,
): Promise<Shrunk> {
  const end = all.findIndex((step) => flat(step).some(({ id }) => id === difference.step.id));
  let found: Shrunk = { steps: all.slice(0, end + 1), difference };
  const kind = whereTheyDiffer(difference);
  const fails = async (steps: readonly Step[]): Promise<boolean> => {
    const { differences } = await compare(theirs, steps);
    const again = differences.find((other) =>
      other.step.id === difference.step.id && whereTheyDiffer(other) === kind
    );
    if (again !== undefined) found = { steps, difference: again };
    return again !== undefined;
  };
  for (let size = Math.ceil(end / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < found.steps.length - 1;) {
      const size_ = Math.min(size, found.steps.length - 1 - from);
      if (!await fails(found.steps.toSpliced(from, size_))) from += size;
    }
  }
  for (let index = 0; index < found.steps.length; index++) {
    const { beside } = found.steps[index] ?? {};
    if (beside !== undefined && beside.id !== difference.step.id) {
      await fails(found.steps.map((step, at) => at === index ? { ...step, beside: undefined } : step));
    }
    for (const part of ["query", "body"] as const) {
      for (const name of Object.keys(asObject(found.steps[index]?.[part]))) {
        const { [name]: _, ...rest } = asObject(found.steps[index]?.[part]);
        await fails(found.steps.map((step, at) => at === index ? { ...step, [part]: rest } : step));
      }
    }
  }
  return found;
}
