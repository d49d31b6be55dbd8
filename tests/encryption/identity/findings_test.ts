import { assertEquals } from "@std/assert";
import type {
  CryptoDevice,
  CryptoFinding,
  CryptoFindingCode,
  DeviceKeys,
  KeyBackupInfo,
  SecretStorageProblem,
} from "@greenroom/matrix/types";
import {
  backupFinding,
  clockFinding,
  dehydratedFinding,
  type DeviceFacts,
  deviceFinding,
  fallbackFinding,
  identityFinding,
  oneTimeKeysFinding,
  openStorageFinding,
  privateKeysFinding,
  storageFinding,
  storedKeysFinding,
} from "../../../src/encryption/identity/findings.ts";
import { skewOf } from "../../../src/api/http/mod.ts";
import { ALICE } from "./scene.ts";

const YES = true, NO = false;

/** The keys of a device. */
function keysOf(...keys: [string, string][]): DeviceKeys {
  return { user_id: ALICE, device_id: "BOT", algorithms: [], keys: Object.fromEntries(keys), signatures: {} };
}

const KEYS = keysOf(["curve25519:BOT", "A"], ["ed25519:BOT", "B"]);
const SHOWN = {
  userId: ALICE,
  master: "M",
  hasChanged: NO,
  wasReset: NO,
  isVerified: YES,
  wasVerified: YES,
} as const;
const PUBLIC = { master: "M", selfSigning: "S", userSigning: "U" } as const;
const BACKUP: KeyBackupInfo = {
  version: "1",
  count: 3,
  problem: undefined,
  isReadable: YES,
  isComplete: YES,
  isWanted: undefined,
};

const device = (change: Partial<DeviceFacts>) => [
  deviceFinding({ conflict: NO, device: KEYS, isSigned: YES, shown: KEYS, ...change }),
];
const identity = (change: Partial<typeof SHOWN | Record<"hasChanged" | "isVerified", boolean>>) => [
  identityFinding({ shown: { ...SHOWN, ...change } }),
];
const storage = (problem?: SecretStorageProblem) => [storageFinding(problem)];
const backup = (change: Partial<KeyBackupInfo>) => [backupFinding({ ...BACKUP, ...change })];
const dehydrated = (...devices: Pick<CryptoDevice, "isDehydrated" | "trust">[]) =>
  dehydratedFinding(devices as CryptoDevice[]);
const before = 1_000_000_000, after = before + 500;
const clock = (shown: number) => clockFinding(skewOf({ shown, before, after }));

/** What only `doctor()` itself can tell; `doctor_test.ts` has it. */
type OfItself = "store-kept" | "store-volatile" | "store-lost" | "not-checked";

/** What is found of what, by what is found. */
const FOUND: Readonly<Record<Exclude<CryptoFindingCode, OfItself>, () => CryptoFinding[][]>> = {
  "device-signed": () => [
    device({}),
    device({ shown: keysOf(["ed25519:BOT", "B"], ["curve25519:BOT", "A"]) }), // in another order
  ],
  "device-unsigned": () => [device({ isSigned: NO })],
  "device-missing": () => [device({ shown: undefined }), device({ shown: undefined, isSigned: NO })],
  "device-conflict": () => [
    device({ conflict: YES }),
    device({ conflict: YES, shown: undefined }),
    device({ shown: keysOf(["curve25519:BOT", "A"], ["ed25519:BOT", "C"]) }),
    device({ shown: keysOf(["ed25519:BOT", "B"]) }),
  ],
  "identity-verified": () => [identity({})],
  "identity-unproven": () => [identity({ isVerified: NO })],
  "identity-changed": () => [identity({ hasChanged: YES }), identity({ hasChanged: YES, isVerified: NO })],
  "identity-absent": () => [[identityFinding({ shown: undefined })]],
  "private-keys-here": () => [privateKeysFinding({ shown: SHOWN, keys: { ...PUBLIC, phase: "published" } })],
  "private-keys-missing": () => [
    privateKeysFinding({ shown: SHOWN, keys: undefined }),
    privateKeysFinding({ shown: SHOWN, keys: { ...PUBLIC, phase: "published", missing: ["master"] } }),
  ],
  "private-keys-unpublished": () => [
    privateKeysFinding({ shown: undefined, keys: { ...PUBLIC, phase: "created" } }),
    privateKeysFinding({ shown: SHOWN, keys: { ...PUBLIC, phase: "created" } }),
  ],
  "dehydrated-device-on": () => [
    dehydrated({ isDehydrated: NO, trust: "verified" }, { isDehydrated: YES, trust: "verified" }),
  ],
  "dehydrated-device-missing": () => [
    dehydrated(),
    dehydrated({ isDehydrated: NO, trust: "verified" }),
    dehydrated({ isDehydrated: YES, trust: "unsigned" }),
  ],
  "secret-storage-opens": () => [[openStorageFinding()]],
  "secret-storage-locked": () => [storage()],
  "secret-storage-absent": () => [storage("absent")],
  "secret-storage-unusable": () => [
    ...(["mistyped", "wrong-key", "no-passphrase", "damaged", "unusable"] as const).map(storage),
  ],
  "stored-keys-match": () => [
    storedKeysFinding({ master: "fits", selfSigning: "fits", userSigning: "fits" }),
  ],
  "stored-keys-incomplete": () => [
    storedKeysFinding({ master: "fits", selfSigning: "absent", userSigning: "absent" }),
  ],
  "stored-keys-mismatch": () => [
    storedKeysFinding({ master: "differs", selfSigning: "absent", userSigning: "fits" }),
  ],
  "backup-on": () => [backup({})],
  "backup-behind": () => [backup({ isComplete: NO })],
  "backup-unreadable": () => [backup({ isReadable: NO, isComplete: NO })],
  "backup-untrusted": () => [
    backup({ problem: "untrusted", isReadable: NO }),
    backup({ problem: "untrusted", isWanted: NO }),
  ],
  "backup-unusable": () => [backup({ problem: "unusable", isReadable: NO }), backup({ problem: "unusable" })],
  "backup-absent": () => [
    backup({ problem: "absent", version: undefined, isReadable: NO }),
    backup({ problem: "absent", version: undefined, isWanted: YES }),
  ],
  "backup-unwanted": () => [backup({ problem: "absent", version: undefined, isWanted: NO })],
  "one-time-keys-left": () => [[oneTimeKeysFinding(10)], [oneTimeKeysFinding(50)]],
  "one-time-keys-few": () => [[oneTimeKeysFinding(9)], [oneTimeKeysFinding(0)], [oneTimeKeysFinding()]],
  "fallback-key-published": () => [[fallbackFinding(YES)]],
  "fallback-key-missing": () => [[fallbackFinding(NO)]],
  "clock-right": () => [clock(before - 60_000), clock(before), clock(after), clock(after + 60_000)],
  "clock-wrong": () => [clock(before - 60_001), clock(after + 60_001)],
};

for (const [code, cases] of Object.entries(FOUND)) {
  Deno.test(`The doctor finds ${code} by the facts, alone`, () => {
    for (const [index, found] of cases().entries()) {
      assertEquals(found.map((each) => each.code), [code], `case ${index}`);
      const [{ level, mend } = {}] = found;
      assertEquals(mend === undefined, level === "ok");
    }
  });
}

Deno.test("The doctor finds nothing of what there is not", () => {
  const none = { shown: undefined, keys: undefined };
  assertEquals(privateKeysFinding(none), []);
  assertEquals(
    privateKeysFinding({ ...none, keys: { ...PUBLIC, phase: "published", missing: ["master"] } }),
    [],
  );
  assertEquals([dehydratedFinding(undefined), storedKeysFinding(undefined), clockFinding(undefined)], [
    [],
    [],
    [],
  ]);
});

Deno.test("What the doctor finds says what it is about", () => {
  assertEquals(backup({}).at(0)?.facts, { count: 3, version: "1" });
  assertEquals(backup({ problem: "untrusted", version: undefined }).at(0)?.facts, { count: 3 });
  assertEquals(identity({ hasChanged: YES }).at(0)?.facts, { master: "M" });
  const skews = [before - 61_000, before - 1_001, before - 1_000, after, after + 1, after + 61_000];
  assertEquals(skews.map((shown) => clock(shown)[0]?.facts?.skew), [-61_000, -1_001, 0, 0, 1, 61_000]);
  const said = (shown: number) => /\d+ seconds \w+/.exec(clock(shown)[0]?.message ?? "")?.[0];
  assertEquals([said(before - 61_000), said(after + 61_000)], ["61 seconds ahead", "61 seconds behind"]);
  const named = (of: Parameters<typeof storedKeysFinding>[0]) =>
    storedKeysFinding(of)[0]?.message.match(/master|selfSigning|userSigning/g);
  assertEquals(named({ master: "differs", selfSigning: "absent", userSigning: "fits" }), ["master"]);
  assertEquals(named({ master: "fits", selfSigning: "absent", userSigning: "absent" }), [
    "selfSigning",
    "userSigning",
  ]);
});

Deno.test("Of a secret storage that does not open the doctor says whether another key would help", () => {
  const helps =
    (["mistyped", "wrong-key", "no-passphrase", "unverifiable", "damaged", "other-keys", "unusable"] as const)
      .filter((problem) => storage(problem)[0]?.mend?.startsWith("Give the recovery key"));
  assertEquals(helps, ["mistyped", "wrong-key", "no-passphrase"]);
});
