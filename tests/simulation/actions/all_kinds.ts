import type { ActionKind } from "./action.ts";
import { deployment } from "./deployment.ts";
import { disks } from "./disks.ts";
import { everyday } from "./everyday.ts";
import { faults } from "./faults.ts";
import { forgers } from "./forgers.ts";
import { history } from "./history.ts";
import { historyForgers } from "./history_forgers.ts";
import { hostile } from "./hostile.ts";
import { hostileEvents } from "./hostile_events.ts";
import { inheritance } from "./inheritance.ts";
import { intrusion } from "./intrusion.ts";
import { kitKinds } from "./kit.ts";
import { keyLists } from "./key_lists.ts";
import { passes } from "./passes.ts";
import { serviceKinds } from "./service.ts";
import { strangers } from "./strangers.ts";
import { trust } from "./trust.ts";
import { verification } from "./verification.ts";

/** All kinds of actions, by name. */
export const ALL_KINDS: ReadonlyMap<string, ActionKind> = new Map(
  [
    ...[...everyday, ...faults, ...disks, ...deployment, ...passes],
    ...[...hostile, ...hostileEvents, ...keyLists, ...strangers, ...intrusion, ...verification],
    ...[...trust, ...forgers, ...inheritance, ...history, ...historyForgers],
    ...[...kitKinds, ...serviceKinds],
  ].map((kind) => [kind.name, kind]),
);

/** The names of those in which a server or a user is hostile, or a device loses what it has. */
export const HOSTILE_KINDS: ReadonlySet<string> = new Set(
  [
    ...[...disks, ...hostile, ...hostileEvents, ...keyLists, ...strangers, ...intrusion, ...forgers],
    ...historyForgers,
  ].map(({ name }) => name).concat("a message to devices is refused", "plants a backup"),
);
