import type { ActionKind } from "./action.ts";
import { everyday } from "./everyday.ts";
import { faults } from "./faults.ts";

/** All kinds of actions, by name. */
export const ALL_KINDS: ReadonlyMap<string, ActionKind> = new Map(
  [...everyday, ...faults].map((kind) => [kind.name, kind]),
);
