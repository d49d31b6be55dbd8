import { assert, assertEquals } from "@std/assert";
import { MatrixRequestError } from "@greenroom/matrix";
import type { DeviceID, SyncResponse, UserID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import type { Player } from "./support/scene.ts";
import { crossSigningKey, deviceKeys, SigningKey } from "./support/signing_key.ts";
import { refused, syncToken, syncUntil } from "./support/wait.ts";

/** The device of a player's client. */
function deviceOf(player: Player): DeviceID {
  if (player.deviceId === undefined) throw new Error("Cannot go on: the player has no device");
  return player.deviceId;
}

/** Uploads the keys of a player's device, and tells what signs for it. */
async function withDeviceKeys(player: Player): Promise<SigningKey> {
  const key = await SigningKey.generate();
  await player.uploadKeys({ deviceKeys: await deviceKeys(key, player.userId, deviceOf(player)) });
  return key;
}

/** A sync response that tells of a user's changed devices. */
function changedDevices(userId: UserID) {
  return ({ device_lists }: SyncResponse) => device_lists?.changed?.includes(userId) || undefined;
}

/** Keys of devices, cross-signing, messages to devices. */
export const keys: readonly Operation[] = [
  {
    name: "uploadKeys() publishes the keys of the device, which queryKeys() finds",
    covers: ["uploadKeys", "queryKeys"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const device = deviceOf(alice);
      const key = await withDeviceKeys(alice);
      const found = await bob.queryKeys([alice.userId]);
      const { unsigned: _, ...keys } = found.device_keys?.[alice.userId]?.[device] ?? {};
      assertEquals<object>(keys, await deviceKeys(key, alice.userId, device));
      assertEquals(found.failures, {});
      const one = await bob.queryKeys({ [alice.userId]: [device] }, {
        timeout: 1000,
        token: await syncToken(bob),
      });
      assertEquals(Object.keys(one.device_keys?.[alice.userId] ?? {}), [device]);
      const other = await bob.queryKeys({ [alice.userId]: ["NOSUCH"] });
      assertEquals(other.device_keys?.[alice.userId]?.["NOSUCH"], undefined);
    },
  },
  {
    name: "uploadKeys() counts one-time keys, claimKeys() hands each out once and then the fallback key",
    covers: ["uploadKeys", "claimKeys"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const device = deviceOf(alice);
      const key = await withDeviceKeys(alice);
      assertEquals((await alice.uploadKeys())["signed_curve25519"] ?? 0, 0);
      const signed = async (name: string, more: { fallback?: true } = {}) =>
        await key.sign(
          { key: `${name}${key.public.slice(name.length)}`, ...more },
          alice.userId,
          device,
        );
      const oneTimeKeys = {
        "signed_curve25519:AAAA": await signed("a"),
        "signed_curve25519:BBBB": await signed("b"),
      };
      const fallbackKeys = { "signed_curve25519:FFFF": await signed("f", { fallback: true }) };
      const counts = await alice.uploadKeys({ oneTimeKeys, fallbackKeys });
      assertEquals(counts["signed_curve25519"], 2);
      assertEquals(await alice.uploadKeys({ oneTimeKeys }), counts, "the same keys may come again");
      await refused(
        async () => await alice.uploadKeys({ oneTimeKeys: { "signed_curve25519:AAAA": await signed("z") } }),
        MatrixRequestError,
        400,
      );
      const response = await alice.sync({ timeout: 0 });
      assertEquals(response.device_one_time_keys_count?.["signed_curve25519"], 2);
      assertEquals(response.device_unused_fallback_key_types, ["signed_curve25519"]);
      const claim = async () => {
        const answer = await bob.claimKeys({ [alice.userId]: { [device]: "signed_curve25519" } });
        assertEquals(answer.failures, {});
        return answer.one_time_keys[alice.userId]?.[device] ?? {};
      };
      const claimed = { ...await claim(), ...await claim() };
      assertEquals<object>(claimed, oneTimeKeys);
      assertEquals<object>(await claim(), fallbackKeys);
      assertEquals<object>(await claim(), fallbackKeys, "the fallback key is not used up");
      const after = await alice.sync({ timeout: 1 }); // Synapse keeps what it answered before
      assertEquals(after.device_one_time_keys_count?.["signed_curve25519"], 0);
      assertEquals(after.device_unused_fallback_key_types, []);
      const nothing = await bob.claimKeys({ [alice.userId]: { NOSUCH: "signed_curve25519" } });
      assertEquals(nothing.one_time_keys[alice.userId]?.["NOSUCH"] ?? {}, {});
    },
  },
  {
    name:
      "uploadKeys() takes device keys even if it refuses what comes with them, of which it then takes nothing",
    covers: ["uploadKeys", "queryKeys", "claimKeys"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const device = deviceOf(alice);
      const [one, two] = [await SigningKey.generate(), await SigningKey.generate()];
      const keysOf = (key: SigningKey) => deviceKeys(key, alice.userId, device);
      const signed = (key: SigningKey) => key.sign({ key: key.public }, alice.userId, device);
      const oneTimeKeys = { "signed_curve25519:AAAA": await signed(one) };
      await alice.uploadKeys({ deviceKeys: await keysOf(one), oneTimeKeys });
      const refusal = () =>
        Promise.all([keysOf(two), signed(two)]).then(([deviceKeys, key]) =>
          alice.uploadKeys({
            deviceKeys,
            oneTimeKeys: { "signed_curve25519:BBBB": key, "signed_curve25519:AAAA": key },
            fallbackKeys: { "signed_curve25519:FFFF": { ...key, fallback: true } },
          })
        );
      await refused(refusal, MatrixRequestError, 400);
      const { device_keys } = await bob.queryKeys([alice.userId]);
      assertEquals(device_keys?.[alice.userId]?.[device]?.keys, (await keysOf(two)).keys);
      const claim = async () => {
        const { one_time_keys } = await bob.claimKeys({ [alice.userId]: { [device]: "signed_curve25519" } });
        return one_time_keys[alice.userId]?.[device] ?? {};
      };
      assertEquals<object>([await claim(), await claim()], [oneTimeKeys, {}]);
    },
  },
  {
    name: "uploadKeys() refuses more one-time keys than a device may have, and takes none of them",
    covers: ["uploadKeys"],
    async run(scene) {
      const alice = await scene.player("alice");
      const key = await SigningKey.generate();
      const signed = await key.sign({ key: key.public }, alice.userId, deviceOf(alice));
      const many = (from: number, to: number) =>
        Object.fromEntries(
          Array.from({ length: to - from }, (_, n) => [`signed_curve25519:${from + n}`, signed] as const),
        );
      assertEquals(await alice.uploadKeys({ oneTimeKeys: many(0, 500) }), { signed_curve25519: 500 });
      await refused(() => alice.uploadKeys({ oneTimeKeys: many(499, 501) }), MatrixRequestError, 400);
      assertEquals(await alice.uploadKeys(), { signed_curve25519: 500 });
    },
  },
  {
    name: "getKeyChanges() and sync list changed devices of users who share a room",
    covers: ["getKeyChanges", "sync"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await alice.createRoom({
        preset: "public_chat",
        initialState: [{ type: "m.room.encryption", content: { algorithm: "m.megolm.v1.aes-sha2" } }],
      });
      await bob.joinRoom(roomId);
      const from = await syncToken(bob);
      await withDeviceKeys(alice);
      await withDeviceKeys(carol);
      const { next } = await syncUntil(bob, changedDevices(alice.userId), from);
      const { changed = [] } = await bob.raw.getKeyChanges(from, next);
      assertEquals([changed.includes(alice.userId), changed.includes(carol.userId)], [true, false]);
      await carol.joinRoom(roomId);
      const { next: joined } = await syncUntil(bob, changedDevices(carol.userId), next);
      await alice.leaveRoom(roomId);
      await syncUntil(
        bob,
        ({ device_lists }) => device_lists?.left?.includes(alice.userId) || undefined,
        joined,
      );
    },
  },
  {
    name: "uploadCrossSigningKeys() publishes keys without authentication, and replaces them with it",
    covers: ["uploadCrossSigningKeys", "queryKeys"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const { userId, password } = alice;
      const [master, selfSigning, userSigning] = await Promise.all(
        [1, 2, 3].map(() => SigningKey.generate()),
      );
      assert(master && selfSigning && userSigning);
      const masterKey = crossSigningKey(master, userId, "master");
      const selfSigningKey = await master.sign(
        crossSigningKey(selfSigning, userId, "self_signing"),
        userId,
        master.public,
      );
      const userSigningKey = await master.sign(
        crossSigningKey(userSigning, userId, "user_signing"),
        userId,
        master.public,
      );
      await alice.raw.uploadCrossSigningKeys({ masterKey, selfSigningKey, userSigningKey });
      const seen = await bob.queryKeys([userId]);
      assertEquals(seen.master_keys?.[userId]?.keys, masterKey.keys);
      assertEquals(seen.self_signing_keys?.[userId], selfSigningKey);
      assertEquals(seen.user_signing_keys?.[userId], undefined, "one's own alone");
      assertEquals((await alice.queryKeys([userId])).user_signing_keys?.[userId], userSigningKey);
      const next = crossSigningKey(await SigningKey.generate(), userId, "master");
      await refused(() => alice.raw.uploadCrossSigningKeys({ masterKey: next }), MatrixRequestError, 401);
      await alice.raw.uploadCrossSigningKeys({ masterKey: next, authentication: { password } });
      assertEquals((await bob.queryKeys([userId])).master_keys?.[userId]?.keys, next.keys);
    },
  },
  {
    name: "uploadSignatures() adds signatures to keys, and says which it could not add",
    covers: ["uploadSignatures"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const { userId } = alice;
      const device = deviceOf(alice);
      const deviceKey = await withDeviceKeys(alice);
      const [master, selfSigning] = [await SigningKey.generate(), await SigningKey.generate()];
      const masterKey = crossSigningKey(master, userId, "master");
      const selfSigningKey = await master.sign(
        crossSigningKey(selfSigning, userId, "self_signing"),
        userId,
        master.public,
      );
      await alice.raw.uploadCrossSigningKeys({ masterKey, selfSigningKey });
      const signed = await selfSigning.sign(
        await deviceKeys(deviceKey, userId, device),
        userId,
        selfSigning.public,
      );
      const { failures = {} } = await alice.raw.uploadSignatures({
        [userId]: { [device]: signed },
      });
      assertEquals(failures, {});
      const seen = await bob.queryKeys([userId]);
      const names = Object.keys(seen.device_keys?.[userId]?.[device]?.signatures[userId] ?? {});
      assertEquals(names.sort(), [`ed25519:${device}`, `ed25519:${selfSigning.public}`].sort());
      const forged = await deviceKey.sign(
        await deviceKeys(deviceKey, userId, "NOSUCH"),
        userId,
        selfSigning.public,
      );
      const answer = await alice.raw.uploadSignatures({ [userId]: { NOSUCH: forged } });
      assertEquals(Object.keys(answer.failures?.[userId] ?? {}), ["NOSUCH"]);
    },
  },
  {
    name: "sendToDevice() reaches the devices named, or all of a user, once per transaction ID",
    covers: ["sendToDevice", "sendToOneDevice"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const second = scene.client();
      await second.login({ identifier: bob.userId, password: bob.password, deviceId: "SECOND" });
      const [since, secondSince] = [await syncToken(bob), await syncToken(second)];
      const txnId = scene.unique("txn");
      const toFirst = { [bob.userId]: { [deviceOf(bob)]: { cue: 1 } } };
      await alice.sendToDevice("com.example.cue", toFirst, { txnId });
      await alice.sendToDevice("com.example.cue", toFirst, { txnId });
      await alice.sendToDevice("com.example.cue", { [bob.userId]: { "*": { cue: 2 } } });
      await alice.sendToOneDevice("com.example.cue", bob.userId, "SECOND", { cue: 3 });
      const cues = async (client: typeof second, token: string, count: number) => {
        const all: unknown[] = [];
        const { next } = await syncUntil(client, ({ to_device }) => {
          for (const event of to_device?.events ?? []) {
            all.push([event.type, event.sender, event.content.cue]);
          }
          return all.length >= count || undefined;
        }, token);
        return { all, next };
      };
      const mine = (cue: number) => ["com.example.cue", alice.userId, cue];
      const atFirst = await cues(bob, since, 2);
      assertEquals(atFirst.all, [mine(1), mine(2)]);
      assertEquals((await cues(second, secondSince, 2)).all, [mine(2), mine(3)]);
      const later = await bob.sync({ since: atFirst.next, timeout: 0 });
      assertEquals(later.to_device?.events ?? [], [], "what was acknowledged does not come again");
      await alice.sendToOneDevice("com.example.cue", bob.userId, "NOSUCH", { cue: 4 });
    },
  },
];
