/**
 * Names of what a process does: for requests and commits that differ only in rooms, events and the
 * like they are the same.
 *
 * @module
 */

import type { StoreMutation } from "@greenroom/matrix";

/** The kinds of the records in a commit. */
export function kindsOf(mutations: readonly StoreMutation[]): string {
  const kinds = mutations.map(({ key }) =>
    key.slice(2, 4).map((part) => part.replaceAll(/[!@$].*/g, "")).join("/")
  );
  return [...new Set(kinds)].sort().join(" ");
}

/** The kinds of records that can be a commit's subject. Other kinds only accompany these. */
const SUBJECTS = [
  ...[
    "session/",
    "outbound_session",
    "inbound",
    "olm-session",
    "devices",
    "room_settings",
    "parked",
    "account",
  ],
  ...["replay", "outbox", "tracked", "state/", "owner"],
];

/** The subject of an operation: the first of {@link SUBJECTS} in its name, else its name. */
export function subjectOf(name: string): string {
  return SUBJECTS.find((subject) => name.includes(subject)) ?? name;
}

/** A path without its room, event and transaction. */
export function generalPathOf(pathname: string): string {
  return pathname.replace(/\/(send|sendToDevice)\/([^/]+)\/.*/, "/$1/$2").replace(/\/redact\/.*/, "/redact")
    .replaceAll(/(%21|%24|%40|[!$@])[^/]*/g, "*");
}
