import type { ActionKind } from "./action.ts";
import { deployment } from "./deployment.ts";
import { disks } from "./disks.ts";
import { everyday } from "./everyday.ts";
import { faults } from "./faults.ts";
import { forgers } from "./forgers.ts";
import { historyForgers } from "./history/forgers.ts";
import { history } from "./history/invitations.ts";
import { historyMoments } from "./history/moments.ts";
import { historyTraitors } from "./history/traitors.ts";
import { hostile } from "./hostile.ts";
import { hostileEvents } from "./hostile_events.ts";
import { inheritance } from "./inheritance.ts";
import { intrusion } from "./intrusion.ts";
import { kitKinds } from "./kit.ts";
import { keyLists } from "./key_lists.ts";
import { newcomers } from "./newcomers.ts";
import { passes } from "./passes.ts";
import { rareFaults } from "./rare_faults.ts";
import { serviceKinds } from "./service.ts";
import { serviceThreats } from "./service_threats.ts";
import { state } from "./state.ts";
import { strangers } from "./strangers.ts";
import { trust } from "./trust.ts";
import { verification } from "./verification.ts";

/** All kinds of actions, by name. */
export const ALL_KINDS: ReadonlyMap<string, ActionKind> = new Map(
  [
    ...[...everyday, ...faults, ...rareFaults, ...disks, ...deployment, ...passes, ...state],
    ...[...hostile, ...hostileEvents, ...keyLists, ...strangers, ...intrusion, ...verification],
    ...[...trust, ...newcomers, ...forgers, ...inheritance],
    ...[...history, ...historyMoments, ...historyForgers, ...historyTraitors],
    ...[...kitKinds, ...serviceKinds, ...serviceThreats],
  ].map((kind) => [kind.name, kind]),
);

/**
 * The names of those that are not played where an application service encrypts: a device
 * loses what it has, or is hurt, and to find that out others have to be talked to, which
 * users of an application service are not.
 */
export const HURTING_KINDS: ReadonlySet<string> = new Set([
  ...disks.map(({ name }) => name),
  ...["a message to devices is refused", "plants a backup", "fails over a device"],
  ...["makes one-time keys up", "hands one-time keys out twice"],
]);
