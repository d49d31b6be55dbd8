import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, MemoryStore, ValueError } from "@greenroom/matrix";
import { IdentityChangedError, OwnIdentityError } from "@greenroom/matrix/errors";
import type { UserIdentity } from "@greenroom/matrix/types";
import { type ClientStage, clientStage } from "../../client/support/stage.ts";
import { changed, device, KEY, OTHER_KEY } from "./scene.ts";

const BOB = "@bob:localhost";

/** A device of Alice that is verified, and Bob's identity as it sees it. */
async function scene(
  here: ClientStage,
  options: Parameters<typeof device>[2] = {},
): Promise<{ alice: Client; bob: Client; seen: UserIdentity }> {
  const bob = here.client("bob", { encryption: { recoveryKey: OTHER_KEY } });
  await bob.crypto?.start();
  const alice = await device(here, "PHONE", { encryption: { recoveryKey: KEY }, ...options });
  await alice.crypto?.start();
  const seen = await alice.crypto?.getIdentity(BOB);
  assert(seen !== undefined);
  return { alice, bob, seen };
}

async function isVerified(client: Client): Promise<boolean | undefined> {
  return (await client.crypto?.getIdentity(BOB))?.isVerified;
}

Deno.test("verifyUser() signs the identity that was compared, and all own devices see that", async () => {
  await using here = clientStage();
  const { alice, bob, seen } = await scene(here);
  assertEquals([seen.isVerified, seen.wasVerified], [false, false]);
  const { master = "" } = await bob.crypto?.ensureVerified() ?? {};
  await alice.crypto?.verifyUser({ userId: BOB, master }); // as Bob has read it out
  assert(await isVerified(alice));
  const [phone] = await alice.crypto?.getDevices(BOB) ?? [];
  assertEquals(phone?.trust, "verified");

  const tablet = await device(here, "TABLET", { encryption: { recoveryKey: KEY } });
  await tablet.crypto?.start();
  assert(await isVerified(tablet));
});

Deno.test("verifyUser() refuses another key than the user has, a user without an identity, and to sign without the key", async () => {
  await using here = clientStage();
  const { alice, seen } = await scene(here);
  const other = { userId: BOB, master: seen.selfSigning ?? "" } as const;
  await assertRejects(async () => await alice.crypto?.verifyUser(other), IdentityChangedError);
  here.client("carol");
  const nobody = { userId: "@carol:localhost", master: seen.master } as const;
  await assertRejects(async () => await alice.crypto?.verifyUser(nobody), ValueError);
  const bare = await device(here, "BARE");
  await bare.crypto?.start();
  const error = await assertRejects(async () => await bare.crypto?.verifyUser(seen), OwnIdentityError);
  assertEquals(error.problem, "no-key");
  assertEquals([await isVerified(alice), await isVerified(bare)], [false, false]);
});

Deno.test("verifyUser() says that the server refuses the signature, and why", async () => {
  await using here = clientStage();
  const { alice, seen } = await scene(here, {
    fetch: changed(here, "/keys/signatures/upload", (body) => {
      body.failures = { [BOB]: { [seen.master]: { errcode: "M_INVALID_SIGNATURE", error: "Invalid" } } };
    }),
  });
  const error = await assertRejects(async () => await alice.crypto?.verifyUser(seen), OwnIdentityError);
  assertEquals(error.problem, "refused");
  assert(error.message.includes("M_INVALID_SIGNATURE"), error.message);
  assert(await isVerified(alice), "on this device");
});

Deno.test("A signature that the server did not take for now is uploaded by the next process", async () => {
  await using here = clientStage();
  const store = new MemoryStore();
  const failing: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (!request.url.includes("/keys/signatures/upload")) return await here.homeserver.fetch(request);
    return Response.json({ errcode: "M_UNKNOWN", error: "Internal" }, { status: 500 });
  };
  const { alice, seen } = await scene(here, { store, fetch: failing });
  await alice.crypto?.verifyUser(seen);
  assert(await isVerified(alice));
  await alice.close();
  const again = await device(here, "PHONE", { store, encryption: { recoveryKey: KEY } });
  await again.crypto?.start();
  await again.crypto?.idle();
  await again.close();
  const tablet = await device(here, "TABLET", { encryption: { recoveryKey: KEY } });
  await tablet.crypto?.start();
  assert(await isVerified(tablet));
});
