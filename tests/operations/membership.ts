import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type Client,
  ForbiddenError,
  MatrixRequestError,
  NotFoundError,
  ValueError,
} from "@greenroom/matrix";
import { BadStateError } from "@greenroom/matrix/errors";
import type { Membership, RoomID, UserID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { memberOf, nobody, roomOf } from "./support/scene.ts";
import { refused, syncUntil } from "./support/wait.ts";

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
    name: "inviteUser() works for members only, and not for banned users or members",
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
      assert(!(await bob.getJoinedRooms()).includes(roomId));
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
      assert(!(await bob.getJoinedRooms()).includes(roomId));
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
      await refused(() => bob.joinRoom(roomId), ForbiddenError, 403);
      await refused(() => bob.joinRoomById(roomId), ForbiddenError, 403);
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
];
