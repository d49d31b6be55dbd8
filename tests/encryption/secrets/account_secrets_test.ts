/** What a server says of account data that was deleted: it is there, and empty. */

import { assertEquals, assertRejects } from "@std/assert";
import { SecretStorageError } from "@greenroom/matrix/errors";
import { AccountSecrets, type SecretsAPI } from "../../../src/encryption/secrets/account_secrets.ts";
import { ciphertextsOf } from "../../../src/crypto/secrets/secrets.ts";
import type { JsonObject } from "@greenroom/matrix/types";

/** The account data of a server that has this under every type. */
function having(content: JsonObject): AccountSecrets {
  const api = { getAccountData: () => Promise.resolve(content) };
  return new AccountSecrets(api as unknown as SecretsAPI); // nothing else is read
}

Deno.test("A default key that was deleted is none, and one without a name is an error", async () => {
  assertEquals(await having({}).defaultKeyId(), undefined);
  assertEquals(await having({ key: "one" }).defaultKeyId(), "one");
  for (const content of [{ key: "" }, { key: 7 }, { other: "one" }, { key: "x".repeat(256) }]) {
    const error = await assertRejects(() => having(content).defaultKeyId(), SecretStorageError);
    assertEquals(error.problem, "unusable");
  }
});

Deno.test("A secret that was deleted is none", () => {
  assertEquals(ciphertextsOf("org.example.secret", {}), undefined);
  assertEquals(ciphertextsOf("org.example.secret", undefined), undefined);
});
