import type { ActionKind } from "./action.ts";
import { deployment } from "./deployment.ts";
import { everyday } from "./everyday.ts";
import { faults } from "./faults.ts";
import { hostile } from "./hostile.ts";
import { strangers } from "./strangers.ts";

/** All kinds of actions, by name. */
export const ALL_KINDS: ReadonlyMap<string, ActionKind> = new Map(
  [...everyday, ...faults, ...deployment, ...hostile, ...strangers].map((kind) => [kind.name, kind]),
);
