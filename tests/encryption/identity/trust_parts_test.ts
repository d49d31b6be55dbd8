import { DOWNLOAD } from "../../../src/api/http/mod.ts";
import { assert, assertEquals, assertFalse, assertRejects, assertStrictEquals } from "@std/assert";
import { MatrixError, MatrixRequestError, UnknownTokenError } from "@greenroom/matrix";
import {
  KeyBackupError,
  NetworkError,
  OwnIdentityError,
  SecretStorageError,
  ServiceResponseError,
} from "@greenroom/matrix/errors";
import { openerOf } from "../../../src/crypto/engine/engine.ts";
import { Doctor } from "../../../src/encryption/identity/doctor.ts";
import { IdentityRequests } from "../../../src/encryption/identity/identity_requests.ts";
import { EarlyReads } from "../../../src/encryption/identity/identity.ts";
import { ensureVerified } from "../../../src/encryption/identity/ensure_verified.ts";
import {
  firstReads,
  hasSeeds,
  IdentityCall,
  type IdentityTools,
  isWhole,
} from "../../../src/encryption/identity/identity_secrets.ts";
import type { EncryptedClient, EngineRunner } from "../../../src/actors/crypto/crypto.ts";
import type { AllAPI } from "../../../src/api/api.ts";
import type { OpenSecretStorage, SecretStorageUnlock } from "@greenroom/matrix/types";
import { ALICE, KEY } from "./scene.ts";
import { answeredBy } from "../../support/answered_by.ts";
import { newSeeds } from "../../../src/crypto/identity/identity_seeds.ts";
import { SEED_SECRETS } from "../../../src/crypto/identity/identity.ts";

const WITH_BACKUP = true, WITHOUT = false;
const done = () => Promise.resolve();
const ANSWER = { operation: "getAccountData", method: "GET", path: "/" } as const;
const answered = (status: number) => new MatrixRequestError({ ...ANSWER, status, body: {} });

Deno.test("Private keys that prove nothing, or can't sign a device, verify none", async () => {
  const known = { master: "M", selfSigning: "S", userSigning: "U", phase: "published" };
  for (const [verified, missing] of [[false, "master"], [true, "selfSigning"]] as const) {
    const shown = {
      userId: ALICE,
      master: "M",
      hasChanged: false,
      isVerified: verified,
      wasVerified: verified,
    };
    const state = () => Promise.resolve({ shown, keys: { ...known, missing: [missing] } });
    let asks = 0;
    const asked = () => Promise.resolve(void asks++).then(() => ({ names: ["a"], devices: ["PHONE"] }));
    const isConfirmed = false; // what is not at hand can't be confirmed
    const identity = {
      ...{ state, look: state, publishDevice: done, publishSignature: () => Promise.resolve(isConfirmed) },
      requestSecrets: asked,
    };
    const warned: string[] = [];
    const log = { warn: (message: string) => void warned.push(message) };
    const engine = { log } as unknown as EngineRunner; // it comes to nothing else
    using call = new IdentityCall(engine, { identity } as unknown as IdentityTools);
    // It was opened, and did not have the private keys.
    Object.defineProperty(call, "storage", { value: { keyId: "key" } });
    const report = await ensureVerified(call, { dehydratedDevice: true });
    assertEquals(report, { state: "needs-secret", master: "M", backup: undefined });
    const told = warned.map((text) => /(\d) other devices were asked/.exec(text)?.[1]);
    assertEquals([told, asks], verified ? [["1"], 1] : [[undefined], 0]);
  }
});

/** What becomes of a start of a device that has all it needs, if the storage can't be opened for an error. */
async function reopened(
  error: Error,
  { by = { passphrase: "a phrase" } as SecretStorageUnlock, keyId = "now" } = {},
) {
  const shown = { userId: ALICE, master: "M", hasChanged: false, isVerified: true, wasVerified: true };
  const opener = { keyId: "before", recoveryKey: await openerOf(KEY) };
  const state = () => Promise.resolve({ shown, keys: { phase: "published" }, opener });
  const isConfirmed = true;
  const identity = { state, publishDevice: done, publishSignature: () => Promise.resolve(isConfirmed) };
  const asked: string[] = [];
  const getAccountData = () =>
    Promise.resolve(void asked.push("name")).then(() =>
      keyId === "" ? Promise.reject(error) : { key: keyId }
    );
  const warned: string[] = [];
  const log = { warn: (message: string) => void warned.push(message), debug() {} };
  const tools = { identity, api: { getAccountData } } as unknown as IdentityTools;
  using call = new IdentityCall({ log } as unknown as EngineRunner, tools);
  call.open = () => Promise.resolve(void asked.push("open")).then(() => Promise.reject(error));
  const { state: reached } = await ensureVerified(call, { ...by, backup: WITHOUT });
  return { reached, asked, warned: warned.join() };
}

Deno.test("A device that has all it needs goes on while the server does not say what the storage has, and not if it can't", async () => {
  const failed = [new NetworkError("away"), new ServiceResponseError("no JSON"), answered(403)];
  for (const error of failed) {
    const { reached, asked, warned } = await reopened(error, { keyId: "" });
    assertEquals([reached, asked], ["verified", ["name"]]);
    assert(warned.startsWith("Could not look whether the passphrase opens"), warned);
  }
  const dead = new UnknownTokenError({ ...ANSWER, status: 401, body: { errcode: "M_UNKNOWN_TOKEN" } });
  for (const error of [dead, new RangeError("a bug")]) {
    assertStrictEquals(await reopened(error, { keyId: "" }).catch((thrown) => thrown), error);
  }
});

Deno.test("A storage that has other private keys by now, or none, is said not to open; what its answers may have spoilt is asked for again", async () => {
  const cases = [
    [new SecretStorageError("", { problem: "wrong-key" }), 2],
    [new OwnIdentityError("", { problem: "incomplete" }), 2],
    [new OwnIdentityError("", { problem: "mismatch" }), 1],
  ] as const;
  for (const [error, opened] of cases) {
    for (const by of [{ passphrase: "a phrase" }, { recoveryKey: KEY }]) {
      const { reached, asked, warned } = await reopened(error, { by });
      assertEquals([reached, asked], ["verified", ["name", ...Array(opened).fill("open")]]);
      const named = by.recoveryKey === undefined ? "passphrase" : "recovery key";
      assert(warned.startsWith(`The ${named} does not open the secret storage`), warned);
    }
  }
  const known = await reopened(new RangeError("not opened"), { keyId: "before" });
  assertEquals([known.reached, known.asked, known.warned], ["verified", ["name"], ""]);
  for (const other of [new RangeError("a bug"), new KeyBackupError("", { problem: "changed" })]) {
    assertStrictEquals(await reopened(other).catch((thrown) => thrown), other);
  }
});

Deno.test("A device that has the private keys asks the others for the key of the backup, if it is to use that and lacks it", async () => {
  const shown = { userId: ALICE, master: "M", hasChanged: false, isVerified: true, wasVerified: true };
  for (const [backup, asks] of [[undefined, 1], ["on", 0], [WITHOUT, 0]] as const) {
    let asked = 0;
    const identity = {
      state: () => Promise.resolve({ shown, keys: { phase: "published" } }),
      publishDevice: done,
      publishSignature: () => Promise.resolve(WITH_BACKUP),
      requestSecrets: () => Promise.resolve(void asked++).then(() => ({ names: [], devices: [] })),
    };
    const tools = { identity, backup: { ensure: () => Promise.resolve(backup) } } as unknown as IdentityTools;
    using call = new IdentityCall({} as unknown as EngineRunner, tools);
    const report = await ensureVerified(call, backup === WITHOUT ? { backup } : {});
    assertEquals([report.backup, asked], [backup === WITHOUT ? undefined : backup, asks]);
  }
});

Deno.test("Secrets are asked for without a backup if the server does not say which there is", async () => {
  const wanted: unknown[] = [];
  const shown = { isBehind: false };
  const ask = (kind: string, body: unknown) => {
    if (kind === "requestSecrets") wanted.push(body);
    return Promise.resolve(kind === "requestSecrets" ? { names: [], devices: [] } : shown);
  };
  const round = () => Promise.resolve({ ended: 1 });
  const engine = { actor: answeredBy(ask), requests: { round }, round } as unknown as EngineRunner;
  const requests = (error: Error) =>
    new IdentityRequests(engine, { getKeyBackupVersion: () => Promise.reject(error) });
  await requests(new MatrixError("away")).requestSecrets();
  assertEquals(wanted, [{ backup: undefined }]);
  await assertRejects(() => requests(new RangeError("a bug")).requestSecrets(), RangeError);
  assertEquals(wanted.length, 1);
});

Deno.test("A storage has private keys if each of them is there, and the same", async () => {
  const seeds = newSeeds();
  const text = (bytes: Uint8Array) => bytes.toBase64({ omitPadding: true });
  const has = async (change: Record<string, string | undefined | Error> = {}) => {
    const kept: Record<string, string | undefined | Error> = {
      [SEED_SECRETS.master]: text(seeds.master),
      [SEED_SECRETS.selfSigning]: text(seeds.selfSigning),
      [SEED_SECRETS.userSigning]: text(seeds.userSigning),
      ...change,
    };
    const get = (name: string) =>
      kept[name] instanceof Error ? Promise.reject(kept[name]) : Promise.resolve(kept[name]);
    return await hasSeeds({ get } as unknown as OpenSecretStorage, seeds, {});
  };
  assert(await has());
  const { userSigning: name } = SEED_SECRETS;
  const damaged = new SecretStorageError("damaged", { problem: "damaged" });
  for (const other of [undefined, text(seeds.master), "AAAA", damaged]) {
    assertFalse(await has({ [name]: other }));
  }
  await assertRejects(() => has({ [name]: new MatrixError("away") }), MatrixError, "away");
  assertEquals([isWhole(seeds), isWhole({ ...seeds, userSigning: undefined }), isWhole({})], [
    true,
    false,
    false,
  ]);
});

Deno.test("What a start reads early is of the account, each once, and of a backup only if that is wanted", async () => {
  const asked: unknown[] = [];
  const api = {
    getAccountData: (type: { type: string } | string, options?: { roomId?: string }) =>
      Promise.resolve(void asked.push([typeof type === "string" ? type : type.type, options?.roomId])),
    getKeyBackupVersion: () => Promise.resolve(void asked.push("version")),
  } as unknown as AllAPI;
  const reads = new EarlyReads(api);
  reads.begin({ types: ["m.direct"], version: WITHOUT });
  assertEquals(asked.splice(0), [["m.direct", undefined]]);
  await reads.api.getAccountData("m.direct", { roomId: "!room:example.org" });
  await reads.api.getAccountData("m.direct");
  await reads.api.getAccountData("m.direct");
  assertEquals(asked, [["m.direct", "!room:example.org"], ["m.direct", undefined]]);
  const names = (hasBackup: boolean) =>
    JSON.stringify(firstReads(hasBackup)).match(/m\.megolm_backup\.v1|m\.key_backup|"version":true/g);
  assertEquals([names(WITHOUT), names(WITH_BACKUP)?.length], [null, 3]);
});

Deno.test("The doctor repeats why the server did not answer, and nothing of other errors", async () => {
  for (
    const [error, said] of [
      [new MatrixError("The server is away"), "The server is away"],
      [new OwnIdentityError("It is damaged", { problem: "mismatch" }), "It is damaged"],
      [new TypeError("hunter2"), "it failed unexpectedly"],
    ] as const
  ) {
    const fail = () => Promise.reject(error);
    const client = {
      api: { getAccountData: fail, listAccountData: fail, queryKeys: fail, uploadKeys: fail },
      session: { account: fail, http: { clock: { now: () => 0 }, [DOWNLOAD]: fail } },
      store: { commitRecords: fail },
      isDurable: true,
    } as unknown as EncryptedClient;
    const findings = await new Doctor(answeredBy(fail), { look: fail }, { info: fail }, client).examine({});
    assertEquals(findings.map(({ code }) => code), [...Array(6).fill("not-checked"), "store-lost"]);
    for (const { message } of findings) assert(message.includes(said), message);
  }
});
