/**
 * A Worker with the Crypto actor in it. The first message brings the port that the Store is behind.
 *
 * @module
 */

import { spawnCrypto } from "../../../src/actors/crypto/crypto_actor.ts";
import { cryptoErrorCodec } from "../../../src/actors/crypto/crypto_error_codec.ts";
import type { Endpoint } from "../../../src/actors/kernel/port.ts";
import { portRef } from "../../../src/actors/kernel/port_ref.ts";
import { serve } from "../../../src/actors/kernel/serve.ts";
import type { StoreProtocol } from "../../../src/actors/store/store_protocol.ts";
import { DEFAULT_POLICY } from "../../../src/crypto/engine/policy.ts";

/** Time stands still, as it does in the test. */
const clock = { now: () => 1_700_000_000_000, delay: () => new Promise<void>(() => {}) };
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

self.addEventListener("message", (event) => {
  const [port] = event instanceof MessageEvent ? event.ports : [];
  if (port === undefined) return;
  const store = portRef<StoreProtocol>(port, { name: "store", codec: cryptoErrorCodec() });
  const crypto = spawnCrypto({ store, clock, log, policy: DEFAULT_POLICY });
  // In a Worker the global scope is the endpoint, which the types of a window do not know.
  serve(crypto, self as unknown as Endpoint, { codec: cryptoErrorCodec(), onClose: () => port.close() });
}, { once: true });
