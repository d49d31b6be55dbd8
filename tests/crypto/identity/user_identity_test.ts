/** What becomes of a user's identity with what the server shows, and with what the application says. */

import { Vodozemac } from "@greenroom/vodozemac-wasm";
import { assert, assertEquals, assertFalse, assertStrictEquals } from "@std/assert";
import type { DeviceAlarm } from "@greenroom/matrix/types";
import {
  nextIdentity,
  type ShownIdentity,
  userIdentity,
  verifierOf,
} from "../../../src/crypto/devices/user_identity.ts";
import { acceptedIdentity, type StoredIdentity } from "../../../src/crypto/devices/mod.ts";
import { FakeUser, type SigningKey, signingKey } from "../support/fake_user.ts";

const vodozemac = await Vodozemac.create();
const [MASTER, BEFORE] = ["A".repeat(43), "B".repeat(42) + "A"];
const OWN = { userId: "@me:a.example", deviceId: "MINE", curve25519: "", ed25519: "" } as const;

/** The identity after the server has shown a user's keys, with some in place of the user's. */
function after(
  before: StoredIdentity | undefined,
  user: FakeUser,
  { verifier, shown }: { readonly verifier?: string; readonly shown?: Partial<ShownIdentity> } = {},
) {
  const key = (of: SigningKey | undefined, usage: string) => of && user.crossSigningKey(of, usage);
  const alarms: DeviceAlarm[] = [];
  const all = {
    userId: user.userId,
    master: key(user.master, "master"),
    selfSigning: key(user.selfSigning, "self_signing"),
    userSigning: key(user.userSigning, "user_signing"),
    ...shown,
  };
  const identity = nextIdentity({ vodozemac, own: OWN, verifier }, before, { shown: all, alarms });
  return { identity, alarms };
}

const alice = () => new FakeUser("@alice:a.example").crossSign();
const me = () => new FakeUser(OWN.userId).crossSign();
const publicKey = (key: SigningKey | undefined) => key?.publicKey ?? "";

Deno.test("a self-signing key that another has replaced is refused when it is shown again, and reported", () => {
  const user = alice();
  const { selfSigning: old } = user;
  const first = after(undefined, user).identity;
  assertEquals(first?.selfSigningKeys, [publicKey(old)]);
  user.selfSigning = signingKey();
  const newer = publicKey(user.selfSigning);
  const second = after(first, user);
  assertEquals(second.identity?.selfSigningKeys, [publicKey(old), newer]);
  const same = after(second.identity, user);
  assertEquals([same.identity?.selfSigningKeys, same.alarms], [[publicKey(old), newer], []]);
  user.selfSigning = old;
  const { identity, alarms } = after(same.identity, user);
  assertEquals([identity?.selfSigning, identity?.selfSigningKeys], [newer, [publicKey(old), newer]]);
  assertEquals(alarms, [{ kind: "replaced-key", userId: user.userId, key: publicKey(old) }]);
});

Deno.test("of the self-signing keys of a user, who can make any number, the last 32 are remembered", () => {
  const user = alice();
  let identity: StoredIdentity | undefined;
  for (let count = 0; count < 34; count++) {
    user.selfSigning = signingKey();
    ({ identity } = after(identity, user));
  }
  assertEquals(identity?.selfSigningKeys?.length, 32);
  assertEquals(identity?.selfSigningKeys?.at(-1), publicKey(user.selfSigning));
});

Deno.test("of the own identities that were replaced, the last 32 are remembered", () => {
  let [identity, last] = [after(undefined, me()).identity, ""];
  for (let count = 0; count < 34; count++) {
    const { master = "" } = identity ?? {};
    last = master;
    const accepted = acceptedIdentity(identity, { userId: OWN.userId, master });
    ({ identity } = after(accepted, me()));
  }
  assertEquals([identity?.replaced?.length, identity?.replaced?.at(-1)], [32, last]);
});

Deno.test("an identity without a self-signing key has none to remember, and forgets none", () => {
  const user = alice();
  const [seen, none] = [after(undefined, user).identity, { selfSigning: undefined }];
  assertEquals(after(undefined, user, { shown: none }).identity?.selfSigningKeys, []);
  const kept = { ...seen, master: "", pinned: publicKey(user.master), wasVerified: true } as const;
  const back = after(kept, user, { shown: none }).identity; // another one in between
  assertEquals([back?.selfSigning, back?.selfSigningKeys], [undefined, [publicKey(user.selfSigning)]]);
});

Deno.test("the own user-signing key verifies others only of a proven identity that is shown, and was not replaced", () => {
  const own = { pinned: MASTER, master: MASTER, userSigning: "key", proven: true } as const;
  assertEquals(verifierOf(own), "key");
  assertEquals(verifierOf(undefined), undefined);
  assertEquals(verifierOf({ ...own, proven: undefined }), undefined);
  assertEquals(verifierOf({ ...own, pinned: BEFORE }), undefined);
  assertEquals(verifierOf({ ...own, replaced: [MASTER] }), undefined);
});

Deno.test("only an own identity that nothing has accepted is forgotten when the server shows none", () => {
  const none = { master: undefined, selfSigning: undefined, userSigning: undefined };
  const own = after(undefined, me()).identity;
  assertEquals([own?.pinned, own !== undefined], [undefined, true]);
  assertEquals(after(own, me(), { shown: none }).identity, undefined);
  assertEquals(
    after(own, me(), { shown: { ...none, master: {} } }).identity?.master,
    own?.master,
    "a bad one",
  );
  const accepted: StoredIdentity = { pinned: MASTER, master: MASTER };
  assertEquals(after(accepted, me(), { shown: none }).identity?.master, MASTER);
  const user = alice();
  const hers = after(undefined, user).identity;
  assertEquals(after(hers, user, { shown: none }).identity?.master, publicKey(user.master));
  assertEquals(after({ master: MASTER }, user, { shown: none }).identity?.master, MASTER);
  assertEquals(after(undefined, user, { shown: none }).identity, undefined);
});

Deno.test("another user has no user-signing key, and nobody's key verifies the own identity", () => {
  const [user, own, bot] = [alice(), me(), me()];
  [user.verifiedBy, own.verifiedBy] = [bot, bot];
  const verifier = publicKey(bot.userSigning);
  const hers = after(undefined, user, { verifier }).identity;
  assertEquals([hers?.userSigning, hers?.userSignedBy], [undefined, verifier]);
  const mine = after(undefined, own, { verifier }).identity;
  assertEquals([mine?.userSigning, mine?.userSignedBy], [publicKey(own.userSigning), undefined]);
});

Deno.test("a user who was verified stays so while the server shows the master key without the signature, or none", () => {
  const [user, bot] = [alice(), me()];
  user.verifiedBy = bot;
  const verifier = publicKey(bot.userSigning);
  const verified = after(undefined, user, { verifier }).identity;
  user.verifiedBy = undefined;
  for (const shown of [{}, { master: undefined }, { master: null }, { master: "key" }]) {
    const { identity } = after(verified, user, { verifier, shown });
    assertEquals([identity?.userSignedBy, identity?.wasVerified], [verifier, true]);
  }
});

Deno.test("the own identity keeps its keys while the server shows bad ones in their place, or none", () => {
  const own = me();
  const seen = after(undefined, own).identity;
  const keys = [publicKey(own.selfSigning), publicKey(own.userSigning)];
  for (const key of [undefined, null, me().crossSigningKey(signingKey(), "user_signing")]) {
    const { identity } = after(seen, own, { shown: { selfSigning: key, userSigning: key } });
    assertEquals([identity?.selfSigning, identity?.userSigning], keys);
  }
});

Deno.test("another identity of a user takes the place of the one before, which is not taken back; of one who was verified it does not", () => {
  const user = alice();
  const seen = after(undefined, user).identity;
  const other = after(seen, alice()).identity;
  assertFalse(userIdentity(other, user.userId)?.hasChanged);
  const back = after(other, user).identity;
  assertEquals([back?.replaced, userIdentity(back, user.userId)?.hasChanged], [
    [publicKey(user.master)],
    true,
  ]);
  assertFalse(userIdentity(after(back, alice()).identity, user.userId)?.hasChanged);

  const verified = seen && { ...seen, wasVerified: true as const };
  const changed = after(verified, alice()).identity;
  assert(userIdentity(changed, user.userId)?.hasChanged);
  assertFalse(userIdentity(after(changed, user).identity, user.userId)?.hasChanged, "nothing took its place");
});

Deno.test("another identity of a user who was verified counts once the own user has signed it, and never one that was replaced", () => {
  const own = me();
  const verifier = publicKey(own.userSigning);
  const user = alice();
  user.verifiedBy = own;
  const first = after(undefined, user, { verifier }).identity;
  const other = alice();
  const unsigned = after(first, other, { verifier }).identity;
  assert(userIdentity(unsigned, user.userId, verifier)?.hasChanged);
  other.verifiedBy = own;
  const signed = after(unsigned, other, { verifier }).identity;
  assert(userIdentity(signed, user.userId, verifier)?.isVerified);
  const old = after(signed, user, { verifier }).identity; // still signed
  assertFalse(userIdentity(old, user.userId, verifier)?.isVerified);
});

Deno.test("of the identities of a user that were replaced, the last 32 are remembered", () => {
  let [identity, last] = [after(undefined, alice()).identity, ""];
  for (let count = 0; count < 34; count++) {
    last = identity?.master ?? "";
    ({ identity } = after(identity, alice()));
  }
  assertEquals([identity?.replaced?.length, identity?.replaced?.at(-1)], [32, last]);
});

Deno.test("an own identity counts as replaced only if it was accepted", () => {
  const [first, second] = [me(), me()];
  const unknown = after(undefined, first).identity;
  assertEquals(after(unknown, second).identity?.replaced, undefined);
  const accepted = unknown && acceptedIdentity(unknown, { userId: OWN.userId, master: unknown.master });
  const replaced = after(accepted, second).identity;
  assertEquals(replaced?.replaced, [publicKey(first.master)]);
  assert(
    userIdentity(after(replaced, first).identity, OWN.userId)?.hasChanged,
    "though it was accepted once",
  );
});

Deno.test("an identity has changed if it is another than the one accepted; one that is verified was verified", () => {
  const shown = (identity: StoredIdentity) => {
    const { hasChanged, isVerified, wasVerified } = userIdentity(identity, OWN.userId) ?? {};
    return { hasChanged, isVerified, wasVerified };
  };
  const no = { hasChanged: false, isVerified: false, wasVerified: false };
  assertEquals(shown({ master: MASTER }), no);
  assertEquals(shown({ master: MASTER, pinned: MASTER }), no);
  assertEquals(shown({ master: MASTER, pinned: BEFORE }), { ...no, hasChanged: true });
  assertEquals(shown({ master: MASTER, pinned: MASTER, proven: true }), {
    ...no,
    isVerified: true,
    wasVerified: true,
  });
});

Deno.test("an identity that is accepted vouches by the key that it has now, if it has one", () => {
  for (const selfSigning of [undefined, "C".repeat(42) + "A"]) {
    const identity = { pinned: BEFORE, master: MASTER, selfSigning, selfSigningKeys: [BEFORE] };
    const accepted = acceptedIdentity(identity, { userId: "@alice:a.example", master: MASTER });
    assertEquals(accepted.pinned, MASTER);
    assertEquals(accepted.selfSigningKeys, selfSigning === undefined ? [] : [selfSigning]);
  }
});

Deno.test("to accept an identity again forgets none of the keys that were replaced", () => {
  const identity = { pinned: MASTER, master: MASTER, selfSigning: "new", selfSigningKeys: ["old", "new"] };
  assertStrictEquals(
    acceptedIdentity(identity, { userId: "@alice:a.example", master: MASTER }),
    identity,
  );
  assertFalse(userIdentity(identity, "@alice:a.example")?.hasChanged);
});
