import { DOWNLOAD } from "../../../src/api/http/mod.ts";
import { assert, assertEquals, assertFalse, assertRejects } from "@std/assert";
import { MatrixError } from "@greenroom/matrix";
import { OwnIdentityError, SecretStorageError } from "@greenroom/matrix/errors";
import { Doctor } from "../../../src/encryption/identity/doctor.ts";
import { EarlyReads, IdentityRequests } from "../../../src/encryption/identity/identity_requests.ts";
import { ensureVerified } from "../../../src/encryption/identity/ensure_verified.ts";
import { firstReads, hasSeeds, isWhole } from "../../../src/encryption/identity/identity_secrets.ts";
import { IdentityCall, type IdentityTools } from "../../../src/encryption/identity/identity_call.ts";
import type { EncryptedClient, EngineRunner } from "../../../src/actors/crypto/engine_runner.ts";
import type { ClientAPI } from "../../../src/api/api.ts";
import type { OpenSecretStorage } from "../../../src/encryption/secrets/secret_storage.ts";
import { ALICE } from "./scene.ts";
import { answeredBy } from "../../support/answered_by.ts";
import { newSeeds, SEED_SECRETS } from "../../../src/crypto/identity/identity_seeds.ts";

const WITH_BACKUP = true, WITHOUT = false;
const done = () => Promise.resolve();

Deno.test("Private keys that prove nothing, or can't sign a device, verify none", async () => {
  const known = { master: "M", selfSigning: "S", userSigning: "U", phase: "published" };
  for (const [verified, missing] of [[false, "master"], [true, "selfSigning"]] as const) {
    const shown = { userId: ALICE, master: "M", changed: false, verified, wasVerified: verified };
    const state = () => Promise.resolve({ shown, keys: { ...known, missing: [missing] } });
    const asked = () => Promise.resolve({ names: ["a"], devices: ["PHONE"] });
    const isConfirmed = true;
    const identity = {
      ...{ state, look: state, publishDevice: done, publishSignature: () => Promise.resolve(isConfirmed) },
      requestSecrets: asked,
    };
    const warned: string[] = [];
    const log = { warn: (message: string) => void warned.push(message) };
    const engine = { log } as unknown as EngineRunner; // it comes to nothing else
    using call = new IdentityCall(engine, { identity } as unknown as IdentityTools);
    assertEquals(await ensureVerified(call, {}), { state: "needs-secret", master: "M", backup: undefined });
    assertEquals(warned.map((text) => text.includes("1 other devices were asked")), [verified]);
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
  } as unknown as ClientAPI;
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
