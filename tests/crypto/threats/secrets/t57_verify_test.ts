/**
 * The recovery key, the password and the private keys of a bot that is verified, in logs, errors and objects.
 */

import { assert, assertEquals } from "@std/assert";
import { MemoryStore } from "@greenroom/matrix";
import { clientStage } from "../../../client/support/stage.ts";
import { plant } from "../../../encryption/secrets/scene.ts";
import { device, KEY, OTHER_KEY, PASSWORD, patiently } from "../../../encryption/identity/scene.ts";
import { decodeRecoveryKey } from "../../../../src/crypto/secrets/secrets.ts";
import { plantKeys } from "../conversation.ts";
import { Planted, seen } from "../planted.ts";

Deno.test("T57: nothing that a bot is verified with is in any log, error or object that can be looked at", async () => {
  await using here = clientStage();
  const planted = new Planted();
  for (const [name, key] of Object.entries({ KEY, OTHER_KEY })) {
    planted.add(name, key);
    planted.add(`${name}, unspaced`, key.replaceAll(" ", ""));
    planted.add(`${name}, as bytes`, decodeRecoveryKey(key));
  }
  planted.add("password", PASSWORD);
  const told: unknown[] = [];
  const store = new MemoryStore();
  const attempt = async (name: string, recoveryKey: string) => {
    const encryption = { recoveryKey, password: PASSWORD, onRecoveryKey: () => {} };
    const client = await device(here, name, { encryption, ...(name === "FIRST" && { store }) });
    const refused = (error: unknown) => error;
    told.push(client, client.crypto, await patiently(here, client.crypto?.start()).catch(refused));
    told.push(await patiently(here, client.crypto?.ensureVerified()).catch(refused));
    return client;
  };
  const first = await attempt("FIRST", KEY);
  using storage = await first.secretStorage.open({ recoveryKey: KEY });
  for (const name of ["master", "self_signing", "user_signing"]) {
    planted.add(name, await storage.get(`m.cross_signing.${name}`) ?? "");
  }
  const records = new Planted();
  await plantKeys(records, store);
  assert(records.names.some((name) => name.includes("own_identity")));
  await attempt("SECOND", OTHER_KEY);
  await storage.set("m.cross_signing.master", await storage.get("m.cross_signing.self_signing") ?? "");
  await attempt("THIRD", KEY);
  await storage.set("m.cross_signing.master", "no key");
  await attempt("FOURTH", KEY);
  await plant(first, "m.cross_signing.master", { encrypted: { [storage.keyId]: { ciphertext: "" } } });
  await attempt("FIFTH", KEY);
  const lost = here.client("bob", { retry: false, encryption: {} });
  const onRecoveryKey = (key: string) => {
    planted.add("recovery key that nobody has", key);
    throw new Error("The disk is full");
  };
  told.push(await lost.crypto?.ensureVerified({ onRecoveryKey }).catch((error) => error));
  for (const status of [400, 403]) {
    using _fault = here.homeserver.faults.add({ kind: "status", status, match: { path: "/account_data/" } });
    await attempt(`STATUS${status}`, KEY);
  }
  const errors = told.filter((value) => value instanceof Error);
  assert(errors.length >= 12, `only ${errors.length} errors`);
  assertEquals(planted.leaksIn([...told, ...here.log.lines].map(seen).join("\n")), []);
});
