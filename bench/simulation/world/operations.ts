/**
 * The names of what processes do: faults are planned for them, and counted.
 *
 * @module
 */

import type { Operation } from "../../../tests/client/support/crash.ts";
import { generalPathOf } from "../../../tests/client/support/operation_names.ts";

/** Begins the names of commits in the table of coverage. */
export const COMMIT = "commit ";

/** The kinds of records of which a commit has its name: the first that it has. Others only go along. */
export const COMMITS: readonly string[] = [
  ...["own_identity", "signature_due", "secret_request", "secret_answer", "verification"],
  ...["rehydrated_session", "dehydration", "olm_stranger", "olm_misunderstood"],
  ...["session/", "outbound_session", "inbound", "olm-session", "devices", "room_settings", "parked"],
  ...["account", "replay", "outbox", "tracked", "pack/", "state/", "owner", "send_key", "attempts"],
  "olm-wanted",
  ...["backup_due", "backup"],
  ...[
    "withheld",
    "deviceListEpoch",
    "room/",
    "pruned",
    "shown/",
    "settled/",
    "sync",
    "lease",
    "wanted",
    "schema",
  ],
];

/** Those of history that is shared with who is invited. */
export const HISTORY_COMMITS: readonly string[] = ["history_announced", "history_accepted"];

/** The requests of clients for that. */
export const HISTORY_REQUESTS: readonly string[] = [
  "POST media/v3/upload",
  "GET v1/media/download/*",
  "POST v3/rooms/*/invite",
];

/** The requests of clients that are not syncs. */
export const REQUESTS: readonly string[] = [
  ...["GET v3/account/whoami", "GET v3/rooms/*/members", "GET v3/rooms/*/messages", "GET versions"],
  ...["GET v3/rooms/*/state/m.room.encryption/", "GET v3/rooms/*/state/m.room.history_visibility/"],
  ...["POST v3/join/*", "POST v3/keys/claim", "POST v3/keys/query", "POST v3/keys/upload"],
  ...["POST v3/refresh", "POST v3/user/*/filter", "PUT v3/rooms/*/send/m.room.encrypted"],
  ...["PUT v3/rooms/*/send/m.room.message"],
  ...["PUT v3/sendToDevice/m.room.encrypted", "PUT v3/sendToDevice/m.room_key.withheld"],
  ...["POST v3/keys/device_signing/upload", "POST v3/keys/signatures/upload"],
  ...["GET v3/room_keys/version", "POST v3/room_keys/version", "PUT v3/room_keys/keys"],
  ...["GET v3/room_keys/keys/*", "GET v3/user/*/account_data/*", "PUT v3/user/*/account_data/*"],
  ...["GET v3/dehydrated_device", "PUT v3/dehydrated_device", "GET v3/dehydrated_device/*/events"],
  "PUT v3/sendToDevice/m.key.verification.*",
  "DELETE v3/room_keys/version/*",
  ...["PUT v3/sendToDevice/m.secret.request", "PUT v3/sendToDevice/m.room_key_request"],
  "PUT v3/rooms/*/send/m.reaction",
];

/** The request of clients that is one. */
export const SYNC = "GET v3/sync";

/** Which kind of operation a request of a name is. */
export function operationOf(request: string): Operation {
  return request === SYNC ? "sync" : "request";
}

/** What happens so often that it has its faults anyhow: others are met with where these do not count. */
export const COMMON: ReadonlySet<string> = new Set([
  ...["lease", "sync", "tracked", "replay", "outbound_session", "inbound", "session/", "pack/", "state/"],
  "account",
  ...["outbox", "devices", "settled/", "owner", "own_identity", "wanted", "counting/head counting/in"],
  ...["GET v3/user/*/account_data/*", "POST v3/keys/query", "POST v3/keys/upload", "GET v3/account/whoami"],
  ...["PUT v3/rooms/*/send/m.room.encrypted", "PUT v3/rooms/*/send/m.room.message", SYNC],
  ...["POST v3/register", "PUT transactions"],
]);

/** The names of the last paths. */
const known = new Map<string, string>();
const MOST_KNOWN = 5_000;

/** The general name of a path of the client-server API. */
export function pathName(pathname: string): string {
  if (known.size >= MOST_KNOWN) known.clear();
  return known.getOrInsertComputed(pathname, nameOf);
}

function nameOf(pathname: string): string {
  return generalPathOf(pathname).replace("/_matrix/client/", "").replace(/(?<=account_data\/).*/, "*")
    .replace(/(?<=room_keys\/keys\/).*/, "*").replace(/(?<=room_keys\/version\/).*/, "*")
    .replace("unstable/org.matrix.msc3814.v1", "v3").replace(/(?<=dehydrated_device\/)[^/]+/, "*")
    .replace(/(?<=m\.key\.verification\.).*/, "*").replace("/_matrix/media/", "media/")
    .replace(/(?<=media\/download\/).*/, "*");
}

/** The name of a commit, by the kinds of its records. */
export function commitName(kinds: string): string {
  const isNamed = (kind: string): boolean => kinds.includes(kind);
  return HISTORY_COMMITS.find(isNamed) ?? COMMITS.find(isNamed) ?? kinds;
}
