import { HostSignatures } from "../../src/host_signatures.ts";

/** More verifications than are needed before node:crypto is loaded. */
const ENOUGH = 1_000;

/** Has node:crypto loaded, as many verifications do. */
export function loadHostSignatures(): void {
  const signatures = new HostSignatures(new Uint8Array(32));
  for (let count = 0; count < ENOUGH; count++) {
    signatures.certainlyGood(new Uint8Array(), new Uint8Array(64));
  }
}
