/** What the engine's parts share, for tests. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import type { Clock, Logger } from "@greenroom/matrix";
import {
  type CryptoContext,
  type CryptoPolicy,
  DEFAULT_POLICY,
  type OwnDevice,
} from "../../../src/crypto/context/context.ts";
import { TestClock } from "@greenroom/matrix/testing";
import { EVERYBODY } from "../../support/everybody.ts";

/** What may be chosen; the rest is made up. */
export interface TestContextOptions extends Partial<OwnDevice> {
  /** A clock that stands still by default. */
  readonly clock?: Clock;
  /** What differs from the defaults. */
  readonly policy?: Partial<CryptoPolicy>;
  /** An instance of its own, for tests that kill it. */
  readonly vodozemac?: Vodozemac;
  /** By default nothing is logged. */
  readonly log?: Logger;
}

const shared = await Vodozemac.create();

const silent: Logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A context of a device of its own, whose keys are new unless they are given. */
export function testContext(options: TestContextOptions = {}): CryptoContext {
  const { clock = new TestClock(), policy = {}, vodozemac = shared, log = silent } = options;
  let names = 0;
  using account = vodozemac.olm.createAccount();
  return {
    vodozemac,
    own: {
      userId: options.userId ?? "@me:example.org",
      deviceId: options.deviceId ?? "OWNDEVICE",
      curve25519: options.curve25519 ?? account.curve25519Key,
      ed25519: options.ed25519 ?? account.ed25519Key,
    },
    clock,
    log,
    policy: { ...DEFAULT_POLICY, ...EVERYBODY, ...policy },
    server: { answers: 0 },
    uniqueId: () => `unique-${++names}`,
  };
}
