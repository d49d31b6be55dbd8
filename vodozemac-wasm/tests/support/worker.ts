/** Answers with the key of a new account: for `loading_test.ts`. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";

declare const self: { postMessage(message: unknown): void };

const { olm } = await Vodozemac.load();
using account = olm.createAccount();
self.postMessage(account.curve25519Key);
