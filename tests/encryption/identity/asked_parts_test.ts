/** What is asked of the server about identities, with an engine that says what a test wants. */

import { assert, assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { MatrixError, ValueError } from "@greenroom/matrix";
import { NetworkError, SecretStorageError } from "@greenroom/matrix/errors";
import type { EngineRunner } from "../../../src/actors/crypto/crypto.ts";
import type { AllAPI } from "../../../src/api/api.ts";
import { ensureVerified } from "../../../src/encryption/identity/ensure_verified.ts";
import {
  firstReads,
  type IdentityCall,
  laterReads,
} from "../../../src/encryption/identity/identity_secrets.ts";
import { DeviceWarnings, EarlyReads, UserTrust } from "../../../src/encryption/identity/identity.ts";
import { IdentityRequests } from "../../../src/encryption/identity/identity_requests.ts";
import { recordingLogger } from "../../actors/kernel/support.ts";
import { answeredBy } from "../../support/answered_by.ts";
import { ALICE, KEY } from "./scene.ts";

const YES = true, NO = false;
/** Since when devices are as the server has them, by the syncs. */
const FRESH = 1_000;

/** How a round of requests has ended. */
interface Round {
  readonly ended?: number;
  readonly failure?: Error;
}

/** An engine, and what it was asked. */
class Asked {
  readonly rounds: string[] = [];
  /** How fresh devices were to be. */
  readonly sinces: number[] = [];
  /** What the actor answers, by the kind of message. */
  readonly answers: Record<string, unknown[]> = {};
  /** How the next rounds end. */
  readonly ends: Round[] = [];
  readonly requests = {
    conflict: undefined as Error | undefined,
    deadToken: undefined as Error | undefined,
    round: (kind: string) => {
      this.rounds.push(kind);
      return Promise.resolve({ ended: 0, ...this.ends.shift() });
    },
    wake: () => {},
  };

  get engine(): EngineRunner {
    const { requests } = this;
    const actor = answeredBy((kind, input) => {
      if (kind === "areDevicesStale") this.sinces.push(input.since);
      const answers = this.answers[kind] ?? [];
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    });
    const rest = { open: () => Promise.resolve(), deliver: () => {}, following: { fresh: FRESH } };
    return { actor, requests, ...rest } as unknown as EngineRunner;
  }

  get identity(): IdentityRequests {
    return new IdentityRequests(this.engine, { getKeyBackupVersion: () => Promise.reject() });
  }
}

Deno.test("A server that does not take the keys of the device says why", async () => {
  const asked = new Asked();
  const failure = new MatrixError("not now");
  asked.ends.push({ failure });
  assertStrictEquals(await asked.identity.publishDevice().catch((error) => error), failure);
  await asked.identity.publishDevice();
  assertEquals(asked.rounds, ["keysUpload", "keysUpload"]);
});

Deno.test("A signature counts as published once the server shows it", async () => {
  const asked = new Asked();
  asked.answers.health = [{ isSignatureDue: YES }, { isSignatureDue: NO }];
  assertEquals(await asked.identity.publishSignature(), NO);
  asked.ends.push({ ended: 1 });
  assertEquals(await asked.identity.publishSignature(), YES);
  assertEquals(asked.rounds, ["signaturesUpload", "signaturesUpload", "keysQuery"]);
});

Deno.test("The own identity is asked for three times, and the error says what keeps it from being known", async () => {
  const asked = new Asked();
  asked.answers.ownIdentity = [{ isBehind: YES }];
  await assertRejects(() => asked.identity.look(), NetworkError, "does not answer");
  assertEquals(asked.rounds, Array(3).fill("keysQuery"));
  const failure = new MatrixError("not now");
  asked.ends.push({ failure });
  assertStrictEquals(await asked.identity.look().catch((error) => error), failure);
  for (const why of ["deadToken", "conflict"] as const) {
    const error = asked.requests[why] = new MatrixError(why);
    assertStrictEquals(await asked.identity.look().catch((thrown) => thrown), error);
  }
});

Deno.test("What changes while a user's devices are looked up is looked up as well", async () => {
  const asked = new Asked();
  asked.answers.areDevicesStale = [YES, YES, NO];
  asked.ends.push({ ended: 1 }, { ended: 1 });
  await new UserTrust(asked.engine).getDevices(ALICE);
  assertEquals([asked.rounds, asked.sinces], [["keysQuery", "keysQuery"], [FRESH, FRESH, FRESH]]);

  const anew = new Asked();
  anew.answers.areDevicesStale = [NO];
  await new UserTrust(anew.engine).getDevices(ALICE, { isAnew: true });
  assertEquals(anew.sinces, [Infinity]);

  const failing = new Asked();
  failing.answers.areDevicesStale = [YES];
  failing.ends.push({ failure: new MatrixError("not now") });
  await assertRejects(() => new UserTrust(failing.engine).getDevices(ALICE), MatrixError, "not now");
});

Deno.test("A device or an identity that is not known is looked up, and no other error is tried again", async () => {
  const signed = { outcome: "signed", recovered: [] };
  const device = { userId: ALICE, deviceId: "PHONE", ed25519: "key" } as const;
  const calls: Record<string, (users: UserTrust) => Promise<unknown>> = {
    setDeviceTrust: (users) => users.setDeviceTrust(device, "verified"),
    signDevice: (users) => users.verifyDevice(device),
    signIdentity: (users) => users.verify({ userId: ALICE, master: "key" }),
  };
  for (const [kind, call] of Object.entries(calls)) {
    const asked = new Asked();
    asked.answers.areDevicesStale = [YES];
    asked.answers.signatureFate = [{ state: "uploaded" }];
    asked.answers[kind] = [new ValueError("not known"), kind === "setDeviceTrust" ? [] : signed];
    await call(new UserTrust(asked.engine));
    assertEquals(asked.rounds[0], "keysQuery", kind);
    asked.answers[kind] = [new MatrixError("it is another"), signed];
    asked.rounds.length = 0;
    await assertRejects(() => call(new UserTrust(asked.engine)), MatrixError, "it is another");
    assertEquals(asked.rounds, []);
  }
});

Deno.test("Each read that was begun early is taken by who reads the same", async () => {
  const read: string[] = [];
  const getAccountData = (type: { type: string } | string) => {
    read.push(typeof type === "string" ? type : type.type);
    return Promise.resolve({ of: read.at(-1) });
  };
  const reads = new EarlyReads({ getAccountData } as unknown as AllAPI);
  reads.begin({ types: ["m.direct", "m.push_rules"], version: NO });
  assertEquals(await reads.api.getAccountData("m.push_rules"), { of: "m.push_rules" } as never);
  assertEquals(await reads.api.getAccountData("m.direct"), { of: "m.direct" } as never);
  assertEquals(read, ["m.direct", "m.push_rules"]);
});

Deno.test("A start of a device that has the private keys reads the name of the storage's key if it is given one, and the backup if it uses one", () => {
  const plan = (...[options]: Parameters<typeof laterReads>) => {
    const { types, version } = laterReads(options);
    return [types.length, version];
  };
  assertEquals(plan({}), [0, YES]);
  assertEquals(plan({ recoveryKey: "key" }), [1, YES]);
  assertEquals(plan({ passphrase: "phrase", backup: NO }), [1, NO]);
  assert(firstReads(NO).types.length > 1);
});

Deno.test("What can't open a secret storage is refused before anything is asked", async () => {
  const asking = {} as IdentityCall; // it has nothing that could ask
  const both = { recoveryKey: KEY, passphrase: "a passphrase" };
  await assertRejects(() => ensureVerified(asking, both), ValueError, "give one of them");
  const typo = { recoveryKey: KEY.slice(1) };
  const { problem } = await assertRejects(() => ensureVerified(asking, typo), SecretStorageError);
  assertEquals(problem, "mistyped");
});

Deno.test("A warning of the device is logged once, whatever else is", () => {
  const log = recordingLogger();
  const warnings = new DeviceWarnings(log);
  const health = { isSigned: NO, device: { user_id: ALICE, device_id: "BOT" }, state: { shown: undefined } };
  for (let time = 0; time < 2; time++) {
    warnings.volatile();
    warnings.unsigned(health as never);
  }
  assertEquals(log.lines.length, 2);
  // There is no identity, so that no recovery key has been made.
  assert(log.lines[1]?.[1].includes("MATRIX_RECOVERY_KEY_FILE"));
});
