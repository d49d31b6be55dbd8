import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  BadStateError,
  type Client,
  ForbiddenError,
  MatrixRequestError,
  type Membership,
  NotFoundError,
  type RoomID,
  type RoomMemberContent,
  type UserID,
  ValueError,
} from "@greenroom/matrix";
import type { Operation } from "./operation.ts";
import { nobody, roomOf } from "./scene.ts";
import { refused, syncUntil } from "./wait.ts";

/** The content of a member event, with whatever else stands in it. */
type Member = RoomMemberContent & { readonly [key: string]: unknown };

/** What a user is to a room, as another one sees it. */
async function memberOf(observer: Client, roomId: RoomID, stateKey: UserID): Promise<Member> {
  return await observer.getStateEvent(roomId, "m.room.member", { stateKey });
}

async function membershipOf(observer: Client, roomId: RoomID, userId: UserID): Promise<Membership> {
  return (await memberOf(observer, roomId, userId)).membership;
}

/** What users are to rooms. */
export const membership: readonly Operation[] = [
  {
    name: "inviteUser() invites, with a reason, and the invited user learns of it with sync",
    covers: ["inviteUser"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await alice.createRoom({ name: "Invitation only" });
      await alice.inviteUser(roomId, bob.userId, { reason: "Do come" });
      const { value: invite } = await syncUntil(bob, ({ rooms }) => rooms?.invite?.[roomId]);
      const events = invite.invite_state?.events ?? [];
      const own = events.find(({ type, state_key }) => type === "m.room.member" && state_key === bob.userId);
      assertEquals([own?.content.membership, own?.content.reason, own?.sender], [
        "invite",
        "Do come",
        alice.userId,
      ]);
      const name = events.find(({ type }) => type === "m.room.name");
      assertEquals(name?.content.name, "Invitation only");
      assertEquals(await membershipOf(alice, roomId, bob.userId), "invite");
      await refused(() => bob.getMessages(roomId, "b", undefined), ForbiddenError, 403);
    },
  },
  {
    name: "inviteUser() is for members only, and neither for the banned nor for those who are in already",
    covers: ["inviteUser"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await roomOf(alice, bob);
      await refused(() => carol.inviteUser(roomId, carol.userId), ForbiddenError, 403);
      await refused(() => alice.inviteUser(roomId, bob.userId), ForbiddenError, 403);
      await alice.banUser(roomId, carol.userId);
      await refused(() => alice.inviteUser(roomId, carol.userId), MatrixRequestError, 403);
      await assertRejects(() => alice.inviteUser(roomId, "carol" as UserID), ValueError);
    },
  },
  {
    name: "inviteUser() with extra content sends a member event that has it",
    covers: ["inviteUser"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await alice.createRoom();
      await alice.inviteUser(roomId, bob.userId, { reason: "Why", extraContent: { "com.example.seat": 12 } });
      const member = await memberOf(alice, roomId, bob.userId);
      assertEquals([member.membership, member.reason, member["com.example.seat"]], ["invite", "Why", 12]);
    },
  },
  {
    name: "joinRoom() joins by ID and by alias, and takes an invitation",
    covers: ["joinRoom"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const aliasLocalpart = scene.unique("door");
      const open = await alice.createRoom({ preset: "public_chat", aliasLocalpart });
      const alias = `#${aliasLocalpart}:${scene.host.serverName}` as const;
      assertEquals(await bob.joinRoom(alias, { reason: "Curious" }), open);
      assertEquals((await memberOf(alice, open, bob.userId)).reason, "Curious");
      assertEquals(await bob.joinRoom(open), open, "who is in may join again");
      const closed = await alice.createRoom({ invitees: [bob.userId] });
      assertEquals(await bob.joinRoom(closed, { servers: [scene.host.serverName] }), closed);
      assertEquals(await membershipOf(alice, closed, bob.userId), "join");
    },
  },
  {
    name: "joinRoom() and joinRoomById() report what can't be joined",
    covers: ["joinRoom", "joinRoomById"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const closed = await alice.createRoom();
      await refused(() => bob.joinRoom(closed), ForbiddenError, 403);
      await refused(() => bob.joinRoomById(closed), ForbiddenError, 403);
      const alias = `#${scene.unique("nowhere")}:${scene.host.serverName}` as const;
      await refused(() => bob.joinRoom(alias, { maxRetries: 0 }), NotFoundError, 404);
      await refused(() => bob.joinRoomById("!nowhere:localhost"), MatrixRequestError, 404);
      await assertRejects(() => bob.joinRoom("nowhere" as RoomID), ValueError);
      await assertRejects(() => bob.joinRoom(closed, { maxRetries: -1 }), ValueError);
    },
  },
  {
    name: "joinRoomById() joins, and with extra content sends the member event by itself",
    covers: ["joinRoomById"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await alice.createRoom({ preset: "public_chat" });
      assertEquals(await bob.joinRoomById(roomId), roomId);
      assertEquals(
        await carol.joinRoomById(roomId, { extraContent: { "com.example.role": "prompter" } }),
        roomId,
      );
      const member = await memberOf(alice, roomId, carol.userId);
      assertEquals([member.membership, member["com.example.role"]], ["join", "prompter"]);
      assertEquals(
        member.displayname,
        await carol.getDisplayname(carol.userId),
        "completed from the profile",
      );
    },
  },
  {
    name:
      "leaveRoom() leaves: nothing new is seen, what was seen stays, and it takes an invitation to come back",
    covers: ["leaveRoom"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await alice.createRoom({ invitees: [bob.userId] });
      await bob.joinRoom(roomId);
      const before = await alice.sendText(roomId, "Before");
      await bob.leaveRoom(roomId, { reason: "Bus" });
      const after = await alice.sendText(roomId, "After");
      const member = await memberOf(alice, roomId, bob.userId);
      assertEquals([member.membership, member.reason], ["leave", "Bus"]);
      assertEquals((await bob.getEvent(roomId, before)).content.body, "Before");
      await refused(() => bob.getEvent(roomId, after), NotFoundError, 404);
      await refused(() => bob.sendText(roomId, "Hello?"), ForbiddenError, 403);
      await refused(() => bob.joinRoom(roomId), ForbiddenError, 403);
      await alice.inviteUser(roomId, bob.userId);
      assertEquals(await bob.joinRoom(roomId), roomId);
    },
  },
  {
    name: "leaveRoom() rejects an invitation, takes extra content, and is refused outside of the room",
    covers: ["leaveRoom"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await alice.createRoom({ invitees: [bob.userId] });
      await bob.leaveRoom(roomId);
      assertEquals(await membershipOf(alice, roomId, bob.userId), "leave");
      await refused(() => carol.leaveRoom(roomId), ForbiddenError, 403);
      await refused(() => carol.leaveRoom("!nowhere:localhost"), MatrixRequestError, 404);
      await alice.leaveRoom(roomId, { extraContent: { "com.example.exit": "stage left" } });
      assertEquals((await memberOf(alice, roomId, alice.userId))["com.example.exit"], "stage left");
    },
  },
  {
    name: "forgetRoom() takes the history away, and only from rooms that one is not in",
    covers: ["forgetRoom"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      await alice.sendText(roomId, "Forget it");
      await refused(() => bob.forgetRoom(roomId), MatrixRequestError, 400);
      await bob.leaveRoom(roomId);
      assert((await bob.getMessages(roomId, "b", undefined)).chunk.length > 0);
      await bob.forgetRoom(roomId);
      await refused(() => bob.getMessages(roomId, "b", undefined), ForbiddenError, 403);
      assertEquals((await bob.getJoinedRooms()).includes(roomId), false);
    },
  },
  {
    name: "kickUser() removes a member and writes the reason down, given the power",
    covers: ["kickUser"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await roomOf(alice, bob, carol);
      await refused(() => bob.kickUser(roomId, carol.userId), ForbiddenError, 403);
      await alice.kickUser(roomId, bob.userId, { reason: "Off key" });
      const { membership, reason } = await memberOf(alice, roomId, bob.userId);
      assertEquals([membership, reason], ["leave", "Off key"]);
      assertEquals((await bob.getJoinedRooms()).includes(roomId), false);
      await alice.kickUser(roomId, carol.userId, { extraContent: { "com.example.cue": 7 } });
      const kicked = await memberOf(alice, roomId, carol.userId);
      assertEquals([kicked.membership, kicked["com.example.cue"]], ["leave", 7]);
      await refused(() => alice.kickUser(roomId, nobody(scene)), MatrixRequestError, 403);
    },
  },
  {
    name: "banUser() removes and keeps out, unbanUser() lets in again",
    covers: ["banUser", "unbanUser"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await roomOf(alice, bob);
      await refused(() => bob.banUser(roomId, alice.userId), ForbiddenError, 403);
      await alice.banUser(roomId, bob.userId, { reason: "Heckling" });
      const { membership, reason } = await memberOf(alice, roomId, bob.userId);
      assertEquals([membership, reason], ["ban", "Heckling"]);
      await refused(() => bob.joinRoom(roomId), BadStateError, 403);
      await refused(() => alice.inviteUser(roomId, bob.userId), BadStateError, 403);
      await refused(() => carol.unbanUser(roomId, bob.userId), ForbiddenError, 403);
      await alice.unbanUser(roomId, bob.userId, { reason: "Promised to behave" });
      const unbanned = await memberOf(alice, roomId, bob.userId);
      assertEquals([unbanned.membership, unbanned.reason], ["leave", "Promised to behave"]);
      assertEquals(await bob.joinRoom(roomId), roomId);
      await alice.banUser(roomId, carol.userId, { extraContent: { "com.example.until": "interval" } });
      assertEquals((await memberOf(alice, roomId, carol.userId))["com.example.until"], "interval");
      await alice.unbanUser(roomId, carol.userId, { extraContent: { "com.example.by": "stage manager" } });
      assertEquals((await memberOf(alice, roomId, carol.userId))["com.example.by"], "stage manager");
    },
  },
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
      // "Either suffices", says the specification; Synapse wants both. What fits both is there with either.
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
