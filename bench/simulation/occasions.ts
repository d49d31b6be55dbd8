/**
 * What makes the operations happen that few worlds have: a story that aims at one of them has this in it.
 *
 * Over 300 lines because it is one list, in which an operation is looked up by eye.
 *
 * @module
 */

import type { Action } from "./actions/action.ts";
import type { ServicePlan } from "./appservice/world_service.ts";
import {
  SERVICE_ASKS,
  SERVICE_COMMIT,
  SERVICE_COMMITS,
  SERVICE_REQUESTS,
  SERVICE_TAKEN,
  SERVICE_TAKES,
} from "./appservice/service_operations.ts";
import type { Aim } from "./world/aim.ts";
import { HISTORY_COMMITS, HISTORY_REQUESTS } from "./world/operations.ts";

/** What a world has to be like. */
export interface Needs {
  /** Whether all users have recovery keys. Default: as it comes. */
  readonly isVouched?: true;
  readonly dehydrates?: true;
  readonly sharesHistory?: true;
  readonly hasKit?: true;
  readonly refreshes?: true;
  /** Whether there are two people. Default: as it comes. */
  readonly isSocial?: true;
  /** Whether each person has two devices. Default: as it comes. */
  readonly isTwofold?: true;
  /** Whether things begin to happen before all have found together. Default: as it comes. */
  readonly isEarly?: true;
  /** What an application service has to be like. Default: there need be none. */
  readonly service?: Partial<ServicePlan>;
}

/** What has to happen, with numbers that are not drawn. */
export type Part = Pick<Action, "kind"> & Partial<Action>;

/** What makes operations happen. */
export interface Occasion {
  readonly needs: Needs;
  readonly parts: readonly Part[];
  /** What else lies in wait from the beginning. Default: nothing. */
  readonly also?: readonly Aim[];
}

/** Time for what was begun. */
const REST: Part = { kind: "rest", what: 3 };
/** Time until a device is free whose process was killed. */
const FREE: Part = { kind: "rest", what: 7 };
const SAY: Part = { kind: "say" };
const TALK: Part = { kind: "people talk to a service", what: 2 };
const HOSTILE: Part = { kind: "a stranger encrypts something hostile" };

/** So many times the same. */
function times(count: number, aim: Aim): readonly Aim[] {
  return Array.from({ length: count }, () => aim);
}

const SECRETS: Occasion = {
  needs: { isVouched: true },
  parts: [{ kind: "a device is added without the recovery key", who: 0, what: 1 }, { kind: "rest", what: 6 }],
};
const MADE_UP: Occasion = {
  needs: { isVouched: true, isTwofold: true },
  parts: [SAY, { kind: "sends events of sessions that are made up" }, REST],
};
/** Processes of a bot that end one after the other with the same message. */
const CUT_OFF: Occasion = {
  needs: {},
  parts: [SAY, FREE, FREE, FREE],
  also: times(3, { operation: "commit session/", column: "crash before" }),
};
const DEHYDRATED: Occasion = {
  needs: { isVouched: true, dehydrates: true, isSocial: true },
  parts: [{ kind: "a user loses all devices, and has the dehydrated one", who: 0, what: 0 }, REST],
};
const HISTORY: Occasion = {
  needs: { isVouched: true, sharesHistory: true },
  parts: [SAY, { kind: "a member invites somebody, and shares the history", what: 0 }, REST],
};
const OWN_KEYS: Occasion = {
  needs: { isVouched: true },
  parts: [SAY, { kind: "a device is added, which has only the recovery key", who: 0, where: 0 }, REST],
};
const VERIFYING: Occasion = {
  needs: { isVouched: true, isSocial: true },
  parts: [{ kind: "verify a device", who: 0, what: 0 }, REST, { kind: "verify a device", who: 1 }, REST],
};
const WITHHELD: Occasion = {
  needs: { isVouched: true },
  parts: [{ kind: "a device is added without the recovery key", who: 0, what: 0 }, REST, SAY, SAY, REST],
};
/** By operation of a client, what makes it happen; others happen in most worlds. */
const OF_CLIENTS: readonly (readonly [Occasion, ...string[]])[] = [
  [SECRETS, "commit secret_request", "commit secret_answer", "PUT v3/sendToDevice/m.secret.request"],
  [{ needs: {}, parts: [HOSTILE, REST] }, "commit olm_stranger"],
  [{ needs: {}, parts: [{ ...HOSTILE, who: 0, what: 3 }, REST] }, "commit olm_misunderstood"],
  [MADE_UP, "commit parked", "PUT v3/sendToDevice/m.room_key_request"],
  [CUT_OFF, "commit attempts"],
  [
    DEHYDRATED,
    ...["commit dehydration", "commit rehydrated_session", "GET v3/dehydrated_device"],
    ...["PUT v3/dehydrated_device", "GET v3/dehydrated_device/*/events"],
  ],
  [
    HISTORY,
    ...HISTORY_COMMITS.map((name) => `commit ${name}`),
    ...HISTORY_REQUESTS,
    "GET versions",
    "commit olm-wanted",
  ],
  [
    OWN_KEYS,
    ...["commit backup", "commit backup_due", "POST v3/keys/device_signing/upload", "PUT v3/room_keys/keys"],
    ...["GET v3/room_keys/version", "POST v3/room_keys/version", "GET v3/room_keys/keys/*"],
    "PUT v3/user/*/account_data/*",
  ],
  [
    {
      needs: { isVouched: true },
      parts: [0, 0, 1].flatMap((
        who,
      ) => [{ kind: "a user replaces the backup", who, where: 1, what: 2 }, REST]),
    },
    "DELETE v3/room_keys/version/*",
  ],
  [
    VERIFYING,
    ...["commit signature_due", "commit verification", "POST v3/keys/signatures/upload"],
    "PUT v3/sendToDevice/m.key.verification.*",
  ],
  [WITHHELD, "commit withheld", "PUT v3/sendToDevice/m.room_key.withheld"],
  [
    {
      needs: { hasKit: true },
      parts: [{ kind: "command", what: 4 }, REST, { kind: "command", what: 8 }, REST],
    },
    "PUT v3/rooms/*/send/m.reaction",
    "commit shown/",
  ],
  [
    { needs: { refreshes: true }, parts: [{ kind: "token expires", what: 0 }, SAY, REST] },
    "POST v3/refresh",
  ],
  [{ needs: {}, parts: [...[0, 1, 2].map((who) => ({ kind: "passes", who })), REST] }, "commit wanted"],
  [{ needs: {}, parts: [{ kind: "new device" }, SAY, REST] }, "POST v3/user/*/filter", "commit room/"],
  // A device that ends when its store is open, and before anything else is kept.
  [
    {
      needs: {},
      parts: [20, 35, 50].flatMap((after) => [
        { kind: "new device", after: 0 },
        { kind: "everybody is away for a day", after },
      ]),
    },
    "commit schema",
  ],
];

const SPOKEN: Occasion = { needs: { service: {} }, parts: [TALK, REST, TALK, REST] };
const ENCRYPTED: Occasion = { needs: { service: { isEncrypted: true } }, parts: SPOKEN.parts };
const IDENTIFIED: Occasion = {
  needs: { service: { isEncrypted: true, hasIdentities: true } },
  parts: SPOKEN.parts,
};
const PINGING: Occasion = {
  needs: { service: { stays: true, pings: true } },
  parts: [{ kind: "a service is killed" }, REST, TALK, REST],
};
const THROWN_OUT: Occasion = {
  needs: { service: { isPrivate: true } },
  parts: [TALK, { kind: "a ghost of a service is thrown out" }, REST, TALK, TALK, REST],
};

/** By operation of an application service, what makes it happen; others happen wherever one is. */
const OF_SERVICES: readonly (readonly [Occasion, ...string[]])[] = [
  [
    ENCRYPTED,
    ...["send_key", "account", "inbound", "olm-session", "outbound_session", "outbox", "devices", "tracked"]
      .map((name) => SERVICE_COMMIT + name),
    ...["replay", "deviceListEpoch", "room_settings", "pruned", "parked"]
      .map((name) => SERVICE_COMMIT + name),
    ...["PUT v3/rooms/*/send/m.room.encrypted", "PUT v3/devices/GREENROOM", "GET v3/sync"]
      .map((name) => SERVICE_ASKS + name),
    ...["POST v3/keys/upload", "POST v3/keys/query", "POST v3/keys/claim"].map((name) => SERVICE_ASKS + name),
    ...["PUT v3/sendToDevice/m.room.encrypted", "GET v3/rooms/*/members"].map((name) => SERVICE_ASKS + name),
    ...["GET v3/rooms/*/state/m.room.encryption/", "GET v3/rooms/*/state/m.room.history_visibility/"]
      .map((name) => SERVICE_ASKS + name),
  ],
  [
    IDENTIFIED,
    ...["own_identity", "backup", "backup_due"].map((name) => SERVICE_COMMIT + name),
    ...["GET v3/user/*/account_data/*", "PUT v3/user/*/account_data/*", "POST v3/keys/device_signing/upload"]
      .map((name) => SERVICE_ASKS + name),
    ...["GET v3/room_keys/version", "POST v3/room_keys/version", "PUT v3/room_keys/keys"]
      .map((name) => SERVICE_ASKS + name),
  ],
  [
    {
      ...IDENTIFIED,
      parts: [
        ...SPOKEN.parts,
        { kind: "a member sends a service events of sessions that are made up", who: 0 },
        REST,
      ],
    },
    `${SERVICE_ASKS}GET v3/room_keys/keys/*`,
  ],
  [
    { ...ENCRYPTED, parts: [{ kind: "a stranger writes to the device of a service" }, ...SPOKEN.parts] },
    `${SERVICE_COMMIT}olm_stranger`,
  ],
  [
    { ...SPOKEN, needs: { service: { isEncrypted: false } } },
    `${SERVICE_ASKS}PUT v3/rooms/*/send/m.room.message`,
  ],
  [PINGING, `${SERVICE_ASKS}POST v1/appservice/counting/ping`, `${SERVICE_TAKES}POST ping`],
  [THROWN_OUT, ...["POST v3/rooms/*/join", "POST v3/rooms/*/invite"].map((name) => SERVICE_ASKS + name)],
  [
    {
      needs: { service: { stays: false, isEncrypted: true } },
      parts: [
        TALK,
        ...Array.from({ length: 3 }, () => ({ kind: "another instance of a service" })),
        ...[0, 1, 2].map((who) => ({ kind: "a service looks for what is left", who, after: 0 })),
        REST,
      ],
    },
    ...["wanted", "owner", "lease"].map((name) => SERVICE_COMMIT + name),
  ],
  [
    {
      needs: { service: { stays: true, isEncrypted: false } },
      parts: [TALK, FREE, FREE],
      also: times(3, {
        operation: `${SERVICE_ASKS}PUT v3/rooms/*/send/m.room.message`,
        column: "crash before",
      }),
    },
    `${SERVICE_COMMIT}attempts`,
  ],
  // Some 700 characters of IDs.
  [{ ...SPOKEN, parts: [...Array.from({ length: 6 }, () => TALK), REST] }, `${SERVICE_COMMIT}shown/`],
  // What is said when a ghost has joined, and the own user has not: the homeserver tells nothing before.
  [
    {
      needs: { isEarly: true, service: { isEncrypted: true, stays: true } },
      parts: [...Array.from({ length: 8 }, () => ({ ...TALK, after: 700, what: 0 })), REST],
      also: times(3, { operation: `${SERVICE_ASKS}POST v3/join/*`, column: "502" }),
    },
    `${SERVICE_ASKS}GET v3/joined_rooms`,
  ],
  [
    {
      needs: { isEarly: true, isVouched: true, service: { isEncrypted: true, hasIdentities: true } },
      parts: [TALK, REST, TALK, REST],
      also: times(9, { operation: `${SERVICE_ASKS}POST v3/keys/device_signing/upload`, column: "502" }),
    },
    `${SERVICE_COMMIT}withheld`,
  ],
  // A device that comes when all have a session for the room: a message has four answers.
  [
    {
      needs: { service: { isEncrypted: true, ghosts: 2, rooms: 1 } },
      parts: [
        { ...TALK, what: 3 },
        REST,
        { kind: "new device", who: 0, what: 4 },
        REST,
        { ...TALK, what: 3 },
        REST,
      ],
    },
    `${SERVICE_COMMIT}olm-wanted`,
  ],
  [
    {
      needs: { isVouched: true, service: { isEncrypted: true, hasIdentities: true } },
      parts: [...WITHHELD.parts, TALK, REST],
    },
    `${SERVICE_ASKS}PUT v3/sendToDevice/m.room_key.withheld`,
  ],
  [
    {
      needs: { service: { isEncrypted: true } },
      // It ends when it sends, and whether that has arrived is asked for a day later.
      parts: [
        { kind: "a service ends in the middle of what it does", who: 0, where: 6, what: 1 },
        TALK,
        { kind: "everybody is away for a day", after: 1_000 },
        REST,
      ],
    },
    ...["GET versions", "GET v3/rooms/*/messages"].map((name) => SERVICE_ASKS + name),
  ],
  [
    SPOKEN,
    ...SERVICE_COMMITS.map((name) => SERVICE_COMMIT + name),
    ...SERVICE_REQUESTS.map((name) => SERVICE_ASKS + name),
    ...SERVICE_TAKEN.map((name) => SERVICE_TAKES + name),
  ],
];

/** By name of an operation in the table, what makes it happen. */
const OCCASIONS: ReadonlyMap<string, Occasion> = new Map(
  [...OF_CLIENTS, ...OF_SERVICES].toReversed().flatMap(([occasion, ...operations]) =>
    operations.map((operation) => [operation, occasion] as const)
  ),
);

/** What makes an operation happen, beside what happens in every world. */
export function occasionOf(operation: string): Occasion {
  return OCCASIONS.get(operation) ?? { needs: {}, parts: [SAY, REST] };
}
