import type { ActionKind } from "./action.ts";
import { deployment } from "./deployment.ts";
import { everyday } from "./everyday.ts";
import { faults } from "./faults.ts";

/** All kinds of actions, by name. */
export const ALL_KINDS: ReadonlyMap<string, ActionKind> = new Map(
  [...everyday, ...faults, ...deployment].map((kind) => [kind.name, kind]),
);
