/**
 * Crash points and threats by their numbers: what reaches each, or why nothing here does.
 *
 * @module
 */

/**
 * By crash point, the operations between which a process ends there; a crash before one, or after one.
 * Why some are missing is said in {@link CRASHES_ELSEWHERE}.
 */
export const CRASH_POINTS: ReadonlyMap<string, readonly string[]> = new Map([
  ["C1 own keys made, not uploaded", ["POST v3/keys/upload | crash before"]],
  ["C2 own keys uploaded, answer lost", [
    "POST v3/keys/upload | crash after",
    "POST v3/keys/upload | lost after",
  ]],
  ["C3 keys claimed, no session stored", [
    "POST v3/keys/claim | crash after",
    "commit olm-session | crash before",
  ]],
  ["C4 session stored, not used", ["commit olm-session | crash after"]],
  ["C5 message to a device stored, not sent", ["PUT v3/sendToDevice/m.room.encrypted | crash before"]],
  ["C6 message to a device sent, answer lost", [
    "PUT v3/sendToDevice/m.room.encrypted | crash after",
    "PUT v3/sendToDevice/m.room.encrypted | lost after",
  ]],
  ["C7 group session made", ["commit outbound_session | crash after"]],
  ["C8 some keys have arrived", ["commit outbox | crash before", "commit outbox | crash after"]],
  ["C9 event encrypted, not sent", ["PUT v3/rooms/*/send/m.room.encrypted | crash before"]],
  ["C10 event sent, answer lost", [
    "PUT v3/rooms/*/send/m.room.encrypted | crash after",
    "PUT v3/rooms/*/send/m.room.encrypted | lost after",
  ]],
  ["C11 sync received, not committed", ["GET v3/sync | crash after", "commit inbound | crash before"]],
  ["C12 a part of a sync committed", ["commit inbound | crash after", "commit sync | crash before"]],
  ["C13 devices looked up, answer lost", [
    "POST v3/keys/query | crash after",
    "commit devices | crash before",
  ]],
  ["C14 leave seen, no new session", ["commit room_settings | crash after", "commit state/ | crash after"]],
  ["C15 wedge noticed", ["commit olm-wanted | crash before", "commit olm-wanted | crash after"]],
  ["C16 identity made, not known to be published", [
    "POST v3/keys/device_signing/upload | crash before",
    "POST v3/keys/device_signing/upload | crash after",
    "POST v3/keys/device_signing/upload | lost after",
  ]],
  ["C17 device verified, its signature not uploaded", [
    "POST v3/keys/signatures/upload | crash before",
    "POST v3/keys/signatures/upload | crash after",
    "commit signature_due | crash after",
  ]],
  ["C18 verification under way", [
    "PUT v3/sendToDevice/m.key.verification.* | crash before",
    "commit verification | crash after",
  ]],
  ["C19 version of the backup made, answer lost", [
    "POST v3/room_keys/version | crash after",
    "POST v3/room_keys/version | lost after",
  ]],
  ["C20 keys put into the backup, answer lost", [
    "PUT v3/room_keys/keys | crash after",
    "PUT v3/room_keys/keys | lost after",
    "commit backup_due | crash before",
  ]],
  ["C21 some secrets stored", [
    "PUT v3/user/*/account_data/* | crash before",
    "PUT v3/user/*/account_data/* | crash after",
    "PUT v3/user/*/account_data/* | lost after",
  ]],
  ["C22 store set back", ["state: a disk was put back, which events show"]],
  ["C23 history of an inviter is announced, or the invitation accepted", [
    "POST media/v3/upload | crash before",
    "POST media/v3/upload | crash after",
    "commit history_announced | crash before",
    "commit history_announced | crash after",
    "commit history_accepted | crash before",
    "commit history_accepted | crash after",
    "GET v1/media/download/* | crash before",
    "GET v1/media/download/* | crash after",
  ]],
  ["C24 a part of what a dehydrated device has received is read", [
    "commit rehydrated_session | crash before",
    "commit rehydrated_session | crash after",
    "GET v3/dehydrated_device/*/events | crash after",
    "PUT v3/dehydrated_device | crash after",
    "commit dehydration | crash after",
  ]],
  ["C26 identity pinned", ["commit devices | crash after"]],
]);

/** By crash point, why no world has it, and which test has. */
export const CRASHES_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  [
    "C25 keys of a file or of the backup taken in, some",
    "the hashing of a key file takes real time, and nobody here restores a backup by hand: each commit and request " +
    "is cut off in tests/encryption/key_files_test.ts and tests/encryption/backup/crash_changes_test.ts",
  ],
]);

/**
 * By reason, cells of the table of operations and faults that nothing can reach;
 * one that is reached is reported.
 */
export const CELLS_ELSEWHERE: ReadonlyMap<string, readonly string[]> = new Map([]);

/** How a threat is named where something reaches it. */
export const THREAT = "threat: ";

/**
 * Why no action stands for a threat; each has its tests in `tests/crypto/threats/`, as `SECURITY.md` says.
 */
export const ELSEWHERE: ReadonlyMap<string, readonly string[]> = new Map([
  ["a message or a key that the reader refuses for its form, alone: no order or chance is in it", [
    "T08",
    "T10",
    "T27",
  ]],
  ["no dehydrated device here is of a hostile server, or is sent more than keys", ["T117", "T118", "T119"]],
  ["how devices change while they are queried, or rooms in gaps: it happens without an action", [
    "T22",
    "T36",
  ]],
  ["it takes keys of a member or of a user's other device, which outsiders do not get here", [
    ...["T69", "T73", "T74", "T94", "T115", "T116", "T120"],
  ]],
  ["the application's own decisions, which these worlds do not make", ["T70", "T76"]],
  ["encryption that the client itself begins: here another program does", ["T68", "T85"]],
  ["not on the way of messages: secrets, files, logs, memory", [
    ...["T53", "T54", "T55", "T57", "T58", "T104", "T105", "T106", "T107", "T108", "T109", "T110"],
  ]],
  [
    "codes are scanned beside the network, by a function of the code and of what is shown: users compare emoji here",
    [
      "T49",
    ],
  ],
  ["what is signed is made of the own keys, and not of an answer: no order or chance is in it", ["T56"]],
  ["stores here refuse no record, and no engine traps", ["T63", "T86", "T96"]],
  ["one record alone: here whole disks are put back", ["T84"]],
]);
