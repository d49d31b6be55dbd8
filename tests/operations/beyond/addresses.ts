import { assert, assertEquals, assertRejects } from "@std/assert";
import { ForbiddenError, MatrixRequestError } from "@greenroom/matrix";
import {
  InviteBlockedError,
  ThreepidAuthFailedError,
  ThreepidMediumNotSupportedError,
  UnsupportedFeatureError,
} from "@greenroom/matrix/errors";
import type { Operation } from "../support/operation.ts";
import { roomOf } from "../support/scene.ts";
import { refused } from "../support/wait.ts";

/** Where others find the user, who may invite the user, and whom to ask for help. */
export const addresses: readonly Operation[] = [
  {
    name: "Addresses are validated by a message, which a homeserver without such messages refuses",
    covers: [
      "requestEmailToken",
      "requestPhoneToken",
      "addThirdPartyId",
      "bindThirdPartyId",
      "unbindThirdPartyId",
      "removeThirdPartyId",
    ],
    async run(scene) {
      const alice = await scene.player("alice");
      const email = () => alice.requestEmailToken("alice@example.org");
      await refused(email, ThreepidMediumNotSupportedError, 400);
      const phone = () => alice.requestPhoneToken("7700900123", { country: "GB" });
      await refused(phone, ThreepidMediumNotSupportedError, 400);
      const validation = { sid: "1", client_secret: "secret" };
      const { password } = alice;
      const add = () => alice.addThirdPartyId(validation, { authentication: { password } });
      await refused(add, ThreepidAuthFailedError, 400);
      const at = { idServer: "id.example.org", idAccessToken: "token" };
      await assertRejects(() => alice.bindThirdPartyId(validation, at), MatrixRequestError);
      const address = { medium: "email", address: "alice@example.org" } as const;
      assertEquals(await alice.unbindThirdPartyId(address), "no-support");
      assertEquals(await alice.removeThirdPartyId(address), "no-support");
      assertEquals(await alice.getThirdPartyIds(), []);
    },
  },
  {
    name: "isRegistrationTokenValid() says that a token is none",
    covers: ["isRegistrationTokenValid"],
    async run(scene) {
      assert(!await scene.client().isRegistrationTokenValid("a/b+c"));
    },
  },
  {
    name: "setInvitePermissions() has the homeserver refuse invitations, and let them through again",
    covers: ["setInvitePermissions", "getInvitePermissions"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await bob.createRoom();
      assertEquals(await alice.getInvitePermissions(), {});
      await alice.setInvitePermissions({ default_action: "block" });
      assertEquals(await alice.getInvitePermissions(), { default_action: "block" });
      await refused(() => bob.inviteUser(roomId, alice.userId), InviteBlockedError, 403);
      const member = { membership: "invite" } as const;
      const byHand = () => bob.sendStateEvent(roomId, "m.room.member", member, { stateKey: alice.userId });
      await refused(byHand, InviteBlockedError, 403);
      await refused(() => bob.createRoom({ invitees: [alice.userId] }), InviteBlockedError, 403);
      const heard: string[] = [];
      alice.on("m.room.member", ({ room_id }) => void heard.push(room_id ?? ""));
      await alice.syncOnce();
      assertEquals(heard, []);
      await alice.joinRoom(await roomOf(bob)); // what is public stays open
      await alice.setInvitePermissions({});
      assertEquals(await alice.getInvitePermissions(), {});
      await bob.inviteUser(roomId, alice.userId);
      await alice.syncOnce();
      assert(heard.includes(roomId));
    },
  },
  {
    name: "setInvitePermissions() leaves an invitation that waits as the homeserver shows it",
    covers: ["setInvitePermissions"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await bob.createRoom({ invitees: [alice.userId] });
      await alice.setInvitePermissions({ default_action: "block" });
      const heard: string[] = [];
      alice.on("m.room.member", ({ room_id }) => void heard.push(room_id ?? ""));
      await alice.syncOnce();
      assertEquals(heard, [roomId]);
      await alice.joinRoom(roomId);
    },
  },
  {
    name: "setInvitePermissions() refuses lists where the homeserver has none, and writes nothing",
    covers: ["setInvitePermissions"],
    async run(scene) {
      const alice = await scene.player("alice");
      const lists = () => alice.setInvitePermissions({ blocked_users: ["@*:example.org"] });
      await assertRejects(lists, UnsupportedFeatureError, "org.matrix.msc4155");
      assertEquals(await alice.getInvitePermissions(), {});
    },
  },
  {
    name: "Administration by the specification is refused by a homeserver before v1.18, before it is asked",
    covers: ["isUserLocked", "setUserLocked", "isUserSuspended", "setUserSuspended"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const yes = true;
      const calls = [
        () => alice.isUserLocked(bob.userId),
        () => alice.setUserLocked(bob.userId, yes),
        () => alice.isUserSuspended(bob.userId),
        () => alice.setUserSuspended(bob.userId, yes),
      ];
      for (const call of calls) await assertRejects(call, UnsupportedFeatureError, "v1.18");
    },
  },
  {
    name: "getSupport() and getPolicyServer() ask a domain, which need not say anything",
    covers: ["getSupport", "getPolicyServer"],
    async run(scene) {
      const { fetch } = scene.host;
      const keys = { ed25519: "6yhHGKhCiXTSEN2ksjV7kX_N6rBQZ3Xb-M7LlC6NS-s" };
      const contact = { email_address: "box@theatre.example", role: "m.role.admin" };
      const alice = await scene.player("alice", {
        fetch: (input, init) => {
          const { hostname, pathname } = new URL(String(input));
          if (hostname === "theatre.example") {
            return Promise.resolve(
              Response.json(pathname.endsWith("/support") ? { contacts: [contact] } : { public_keys: keys }),
            );
          }
          if (hostname === "silent.example") return Promise.resolve(new Response("", { status: 404 }));
          return fetch(input, init);
        },
      });
      assertEquals((await alice.getSupport({ serverName: "theatre.example" }))?.contacts as unknown, [
        contact,
      ]);
      assertEquals(await alice.getSupport({ serverName: "silent.example" }), undefined);
      assertEquals(await alice.getPolicyServer("silent.example"), undefined);
      const policy = await alice.getPolicyServer("theatre.example");
      assertEquals(policy, { public_keys: keys });
      const [roomId, bob] = [await roomOf(alice), await scene.player("bob")];
      await bob.joinRoom(roomId);
      const content = { via: "theatre.example", public_keys: keys };
      await refused(() => bob.sendStateEvent(roomId, "m.room.policy", content), ForbiddenError, 403);
      await alice.sendStateEvent(roomId, "m.room.policy", content);
      assertEquals((await bob.getStateEvent(roomId, "m.room.policy")).via, "theatre.example");
    },
  },
];
