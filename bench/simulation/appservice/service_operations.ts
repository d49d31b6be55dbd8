/**
 * What application services do, and what becomes of that: names for the table of coverage.
 *
 * @module
 */

import { FAULTS } from "../world/ambushes.ts";

/** Begins the names of commits, of requests to the homeserver, and of requests of the homeserver. */
export const [SERVICE_COMMIT, SERVICE_ASKS, SERVICE_TAKES] = [
  "service commit ",
  "service asks ",
  "service takes ",
];

/** What happens to what it asks, on the network, and to what it is asked. */
export const [OUTGOING, INCOMING] = [
  ["lost", "lost after", "twice", "502"],
  ["lost", "lost after", "twice", "late", "late answer", "502"],
] as const;

/** What happens to each. */
export const SERVICE_COLUMNS: ReadonlyMap<string, readonly string[]> = new Map([
  [SERVICE_COMMIT, ["done", ...FAULTS]],
  [SERVICE_ASKS, ["done", ...FAULTS, ...OUTGOING]],
  [SERVICE_TAKES, ["done", ...INCOMING]],
]);

/** The commits of an application service: of its inbox, and of its own user's client. */
export const SERVICE_COMMITS: readonly string[] = [
  "counting/head counting/in",
  ...["session/", "pack/", "state/", "shown/", "settled/", "sync", "owner", "lease", "send_key"],
  ...["account", "inbound", "olm-session", "outbound_session", "outbox", "devices", "tracked", "replay"],
  ...["own_identity", "backup", "backup_due", "deviceListEpoch", "room_settings", "parked", "pruned"],
  ...["attempts", "wanted", "olm-wanted", "olm_stranger", "withheld"],
];

/** Its requests. */
export const SERVICE_REQUESTS: readonly string[] = [
  ...["POST v3/register", "POST v3/join/*", "POST v3/rooms/*/join", "POST v3/rooms/*/invite"],
  ...["PUT v3/rooms/*/send/m.room.message", "PUT v3/rooms/*/send/m.room.encrypted"],
  ...["POST v1/appservice/counting/ping", "PUT v3/devices/GREENROOM", "GET v3/sync"],
  ...["POST v3/keys/upload", "POST v3/keys/query", "POST v3/keys/claim"],
  ...["PUT v3/sendToDevice/m.room.encrypted", "GET v3/rooms/*/members", "GET v3/profile/*"],
  ...["GET v3/rooms/*/state/m.room.encryption/", "GET v3/rooms/*/state/m.room.history_visibility/"],
  ...["GET v3/user/*/account_data/*", "PUT v3/user/*/account_data/*", "POST v3/keys/device_signing/upload"],
  ...["GET v3/room_keys/version", "POST v3/room_keys/version", "PUT v3/room_keys/keys"],
  ...["PUT v3/sendToDevice/m.room_key.withheld", "GET v3/joined_rooms", "GET v3/rooms/*/messages"],
  ...["GET versions", "GET v3/room_keys/keys/*"],
];

/** What its homeserver asks. */
export const SERVICE_TAKEN: readonly string[] = ["PUT transactions", "POST ping", "GET users"];

/** The transitions of its parts. */
export const SERVICE_STATES: readonly string[] = [
  ...["a transaction is kept", "a transaction is removed", "another process was faster"]
    .map((state) => `inbox: ${state}`),
  "inbox: one that comes again is known",
  ...["takes a transaction", "takes a knock", "refuses what it can't keep"].map((state) => `door: ${state}`),
  "door: refuses what comes before another",
  "door: refuses, since its process has failed",
  ...["begins", "goes on", "goes on where another process was"].map((state) => `feed: ${state}`),
  ...["hands over again what was cut off", "reads the queue of the device"].map((state) => `feed: ${state}`),
  ...["a user is made", "a user was made before", "a user joins", "a user can't join", "a user is invited"]
    .map((state) => `ghosts: ${state}`),
  ...["a device is made", "a device is gone"].map((state) => `ghosts: ${state}`),
  "a start is refused, since the homeserver does not get through",
].map((state) => `service: ${state}`);

/** By method and path of a request, and whether it was accepted, what that says of ghosts and of the feed. */
const OF_REQUESTS: readonly (readonly [RegExp, string, string | undefined])[] = [
  [/^POST .*\/register$/, "ghosts: a user is made", "ghosts: a user was made before"],
  [/^POST .*\/rooms\/[^/]+\/join$/, "ghosts: a user joins", "ghosts: a user can't join"],
  [/^POST .*\/rooms\/[^/]+\/invite$/, "ghosts: a user is invited", undefined],
  [/^PUT .*\/devices\/[^/]+$/, "ghosts: a device is made", undefined],
  [/^GET .*\/sync$/, "feed: reads the queue of the device", undefined],
];
/** By what the door says, what that is. */
const OF_REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/Not kept/, "door: refuses what it can't keep"],
  [/Another comes before/, "door: refuses what comes before another"],
  [/has failed/, "door: refuses, since its process has failed"],
];

/** What a request of an application service has done; undefined: nothing that is counted. */
export function stateOfRequest(
  request: string,
  { ok, body }: { readonly ok: boolean; readonly body: string },
): string | undefined {
  if (body.includes("M_UNKNOWN_DEVICE")) return "service: ghosts: a device is gone";
  const found = OF_REQUESTS.find(([expression]) => expression.test(request));
  const state = ok ? found?.[1] : found?.[2];
  return state === undefined ? undefined : `service: ${state}`;
}

/** What the door of an application service has said; undefined: nothing that is counted. */
export function stateOfAnswer(
  name: string,
  { ok, body }: { readonly ok: boolean; readonly body: string },
): string | undefined {
  if (ok) return `service: door: takes a ${name.startsWith("POST ping") ? "knock" : "transaction"}`;
  const state = OF_REFUSALS.find(([expression]) => expression.test(body))?.[1];
  return state === undefined ? undefined : `service: ${state}`;
}
