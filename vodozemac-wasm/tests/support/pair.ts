import type { Account, OlmSession, Vodozemac } from "@greenroom/vodozemac-wasm";

/** Two accounts with a session between them, both ends of it having received. */
export interface Pair {
  readonly alice: Account;
  readonly bob: Account;
  readonly fromAlice: OlmSession;
  readonly fromBob: OlmSession;
}

/** Decodes UTF-8, fatally. */
export function text(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/** The first of a list that has one. */
export function first<T>(list: readonly T[]): T {
  const [head] = list;
  if (head === undefined) throw new Error("empty list");
  return head;
}

/** Makes a pair. */
export function pair({ olm }: Vodozemac): Pair {
  const alice = olm.createAccount();
  const bob = olm.createAccount();
  const fromAlice = alice.createOutboundSession(bob.curve25519Key, first(bob.generateOneTimeKeys(1).created));
  const fromBob = bob.createInboundSession(alice.curve25519Key, fromAlice.encrypt("first")).session;
  fromAlice.decrypt(fromBob.encrypt("second"));
  return { alice, bob, fromAlice, fromBob };
}
