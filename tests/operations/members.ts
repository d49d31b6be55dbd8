import { assert, assertEquals } from "@std/assert";
import { type Client, ForbiddenError } from "@greenroom/matrix";
import { BadStateError } from "@greenroom/matrix/errors";
import type { Membership, UserID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { memberOf, roomOf } from "./support/scene.ts";
import { refused, syncUntil } from "./support/wait.ts";

/** The members of rooms, and their events. */
export const members: readonly Operation[] = [
  {
    name: "sendMemberEvent() takes the place of the other operations",
    covers: ["sendMemberEvent"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await alice.createRoom();
      const steps: [Client, UserID, Membership][] = [
        [alice, bob.userId, "invite"],
        [bob, bob.userId, "join"],
        [alice, bob.userId, "leave"],
        [alice, bob.userId, "ban"],
      ];
      for (const [actor, target, membership] of steps) {
        const eventId = await actor.sendMemberEvent(roomId, target, membership, {
          extraContent: { by: "hand" },
        });
        const event = await alice.getEvent(roomId, eventId);
        assertEquals([event.content.membership, event.content.by, event.state_key], [
          membership,
          "hand",
          target,
        ]);
      }
      await refused(() => alice.sendMemberEvent(roomId, bob.userId, "join"), BadStateError, 403);
    },
  },
  {
    name: "fillMemberEvent() asks the callback first, then the room, then the profile",
    covers: ["fillMemberEvent"],
    async run(scene) {
      const alice = await scene.player("alice");
      await alice.setDisplayname("Alice of the profile");
      const roomId = await alice.createRoom();
      const content = { membership: "join" } as const;
      const filled = await alice.fillMemberEvent(roomId, alice.userId, content);
      assertEquals(filled?.displayname, "Alice of the profile");
      await alice.sendMemberEvent(roomId, alice.userId, "join", {
        extraContent: { displayname: "Alice here" },
      });
      assertEquals((await alice.fillMemberEvent(roomId, alice.userId, content))?.displayname, "Alice here");
      const named = { ...content, displayname: "Named" };
      assertEquals(await alice.fillMemberEvent(roomId, alice.userId, named), undefined, "nothing to fill");
      alice.fillMemberEventCallback = (_room, _user, given) => ({
        ...given,
        displayname: "From the callback",
      });
      await alice.sendMemberEvent(roomId, alice.userId, "join");
      assertEquals((await memberOf(alice, roomId, alice.userId)).displayname, "From the callback");
    },
  },
  {
    name: "getMembers() lists by membership, and at a point in the past",
    covers: ["getMembers"],
    async run(scene) {
      const [alice, bob, carol, dave] = await scene.players("alice", "bob", "carol", "dave");
      const roomId = await roomOf(alice, bob, carol);
      await alice.inviteUser(roomId, dave.userId);
      const { value: at } = await syncUntil(
        alice,
        ({ rooms }) => rooms?.join?.[roomId]?.timeline?.prev_batch,
      );
      await carol.leaveRoom(roomId);
      const ids = async (options: Parameters<Client["getMembers"]>[1]) =>
        (await alice.getMembers(roomId, options)).map(({ state_key }) => state_key).sort();
      const all = [alice.userId, bob.userId, carol.userId, dave.userId].sort();
      assertEquals(await ids({}), all);
      assertEquals(await ids({ membership: "join" }), [alice.userId, bob.userId].sort());
      assertEquals(await ids({ notMembership: "join" }), [carol.userId, dave.userId].sort());
      // "Either suffices", says the specification; Synapse wants both. What fits both is there with
      // either.
      assert((await ids({ membership: "invite", notMembership: "join" })).includes(dave.userId));
      assert((await ids({ at, membership: "leave" })).length === 0, "carol had not left by then");
      await refused(() => dave.getMembers(roomId), ForbiddenError, 403);
    },
  },
  {
    name: "getJoinedMembers() lists names and avatars of those in the room, to them alone",
    covers: ["getJoinedMembers"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      await bob.setDisplayname("Bob the builder");
      await bob.setAvatarUrl("mxc://localhost/avatar");
      const roomId = await roomOf(alice, bob);
      await alice.inviteUser(roomId, carol.userId);
      const members = await alice.getJoinedMembers(roomId);
      assertEquals(Object.keys(members).sort(), [alice.userId, bob.userId].sort());
      const { display_name, avatar_url, membership } = members[bob.userId] ?? {};
      assertEquals([display_name, avatar_url, membership], [
        "Bob the builder",
        "mxc://localhost/avatar",
        "join",
      ]);
      await refused(() => carol.getJoinedMembers(roomId), ForbiddenError, 403);
    },
  },
  {
    name: "knockRoom() asks to be let in, and an invitation answers",
    covers: ["knockRoom"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await alice.createRoom({
        initialState: [{ type: "m.room.join_rules", content: { join_rule: "knock" } }],
      });
      const { next } = await syncUntil(alice, ({ rooms }) => rooms?.join?.[roomId]);
      assertEquals(await bob.knockRoom(roomId, { reason: "I have a ticket" }), roomId);
      const { value: knock } = await syncUntil(
        alice,
        ({ rooms }) =>
          rooms?.join?.[roomId]?.timeline?.events.find(({ state_key }) => state_key === bob.userId),
        next,
      );
      assertEquals([knock.content.membership, knock.content.reason], ["knock", "I have a ticket"]);
      const { value: waiting } = await syncUntil(bob, ({ rooms }) => rooms?.knock?.[roomId]);
      assert(waiting.knock_state?.events?.some(({ type }) => type === "m.room.join_rules"));
      await alice.inviteUser(roomId, bob.userId);
      assertEquals(await bob.joinRoom(roomId), roomId);
      const closed = await alice.createRoom();
      await refused(() => bob.knockRoom(closed), ForbiddenError, 403);
    },
  },
];
