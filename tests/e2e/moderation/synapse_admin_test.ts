/** What administrators do to a real Synapse, by each call of the entry. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { Client, ForbiddenError, MatrixRequestError, NotFoundError } from "@greenroom/matrix";
import { UserLockedError, UserSuspendedError } from "@greenroom/matrix/errors";
import { SynapseAdmin } from "@greenroom/matrix/synapse-admin";
import { eventually, syncUntil } from "../../operations/support/wait.ts";
import { newUser, type SynapseServer, synapseTest } from "../support/synapse.ts";

/** An administrator and a user, who close themselves. */
async function cast(server: SynapseServer) {
  const { baseUrl } = server;
  const boss = await newUser(server, "boss", { admin: true, unlimited: "people" });
  const user = await newUser(server, "spammer", { unlimited: "people" });
  const client = new Client({ baseUrl, accessToken: boss.accessToken, log: false });
  const spammer = new Client({ baseUrl, accessToken: user.accessToken, retry: false, log: false });
  const admin = new SynapseAdmin(client);
  return {
    ...{ boss, user, client, spammer, admin },
    async [Symbol.asyncDispose]() {
      await Promise.all([client.close(), spammer.close()]);
    },
  };
}

synapseTest("An administrator finds users, holds them back, and ends their accounts", async (server) => {
  await using here = await cast(server);
  const { admin, spammer, user: { userId, localpart, password }, boss } = here;
  const { users, total } = await admin.listUsers({ name: localpart });
  assertEquals([users.map(({ name }) => name), total], [[userId], 1]);
  const page = await admin.listUsers({ limit: 1 });
  assert(page.users.length === 1 && page.next_token !== undefined);
  assertEquals((await admin.listUsers({ limit: 1, from: page.next_token })).users.length, 1);
  const found = await admin.getUser(userId);
  assertEquals([found.name, found.admin, found.locked, found.shadow_banned], [userId, false, false, false]);
  assert((await admin.getUser(boss.userId)).admin);
  const nobody = `@nobody-${localpart}:${server.serverName}` as const;
  await assertRejects(() => admin.getUser(nobody), NotFoundError);
  await assertRejects(() => admin.updateUser(nobody, { locked: true }), NotFoundError);
  await assertRejects(() => admin.getUser(nobody), NotFoundError);
  await assertRejects(() => new SynapseAdmin(spammer).getUser(boss.userId), ForbiddenError);

  const room = await spammer.createRoom();
  assertEquals(await admin.listUserRooms(userId), [room]);
  const [connection] = await admin.listUserConnections(userId);
  assertEquals(connection?.ip, "127.0.0.1");
  assert((connection?.last_seen ?? 0) > 0 && (connection?.user_agent ?? "") !== "");
  await admin.updateUser(userId, { suspended: true });
  const held = await admin.getUser(userId);
  assertEquals([held.suspended, held.shadow_banned, held.locked], [true, false, false]);
  await assertRejects(() => spammer.sendText(room, "spam"), UserSuspendedError);
  await admin.updateUser(userId, { suspended: false, locked: true, shadowBanned: true });
  await assertRejects(() => spammer.getJoinedRooms(), UserLockedError);
  const locked = await admin.getUser(userId);
  assertEquals([locked.suspended, locked.shadow_banned, locked.locked], [false, true, true]);
  await admin.updateUser(userId, { locked: false, shadowBanned: false });
  assertEquals(await spammer.getJoinedRooms(), [room]);

  await admin.resetPassword(userId, `${password}2`, { logoutDevices: false });
  await using other = new Client({ baseUrl: server.baseUrl, log: false });
  await other.login({ identifier: userId, password: `${password}2` });
  await admin.deactivateUser(userId, { erase: true });
  assert((await admin.getUser(userId)).deactivated);
});

synapseTest("An administrator takes back what a user has sent and uploaded", async (server) => {
  await using here = await cast(server);
  const { admin, spammer, user: { userId } } = here;
  const room = await spammer.createRoom({ preset: "public_chat" });
  const event = await spammer.sendText(room, "spam");
  const id = await admin.redactUserEvents(userId, { rooms: [room], reason: "Spam", limit: 100 });
  const { status, failed_redactions } = await eventually(
    () => admin.getUserRedaction(id),
    ({ status }) => status === "complete" || status === "failed",
  );
  assertEquals([status, failed_redactions], ["complete", {}]);
  assertEquals((await spammer.getEvent(room, event)).content, {});

  const [first, second] = [
    await spammer.uploadMedia(new Blob(["a"])),
    await spammer.uploadMedia(new Blob(["b"])),
  ];
  await admin.quarantineMedia(first);
  await assertRejects(() => spammer.downloadMedia(first), NotFoundError);
  assertEquals(await admin.quarantineUserMedia(userId), 1);
  await assertRejects(() => spammer.downloadMedia(second), NotFoundError);
});

synapseTest("An administrator finds rooms, blocks them, and deletes them", async (server) => {
  await using here = await cast(server);
  const { admin, spammer, boss, client } = here;
  const name = `Spam ${crypto.randomUUID()}`;
  const room = await spammer.createRoom({ name, topic: "Buy", preset: "public_chat" });
  const { rooms, total_rooms } = await admin.listRooms({
    searchTerm: name,
    orderBy: "joined_members",
    limit: 5,
  });
  assertEquals([rooms.map(({ room_id }) => room_id), total_rooms], [[room], 1]);
  const found = await admin.getRoom(room);
  assertEquals([found.name, found.topic, found.joined_members, found.encryption], [name, "Buy", 1, null]);
  await admin.blockRoom(room);
  const { status: blocked } = await assertRejects(() => client.joinRoom(room), MatrixRequestError);
  assertEquals(blocked, 403);
  await admin.unblockRoom(room);
  await client.joinRoom(room);
  const id = await admin.deleteRoom(room, {
    block: true,
    message: "Closed",
    newRoomUserId: boss.userId,
    newRoomName: "Closed rooms",
  });
  const { status } = await eventually(
    () => admin.getRoomDeletion(id),
    ({ status }) => status === "complete" || status === "failed",
  );
  assertEquals(status, "complete");
  await assertRejects(() => admin.getRoom(room), NotFoundError);
});

synapseTest("An administrator makes tokens for registration, and speaks as the server", async (server) => {
  await using here = await cast(server);
  const { admin, spammer, user: { userId } } = here;
  const expiresAt = Date.now() + 3_600_000;
  const made = await admin.createRegistrationToken({ usesAllowed: 2, length: 8, expiresAt });
  assertEquals([made.token.length, made.uses_allowed, made.expiry_time, made.completed], [
    8,
    2,
    expiresAt,
    0,
  ]);
  assert((await admin.listRegistrationTokens({ valid: true })).some(({ token }) => token === made.token));
  await admin.deleteRegistrationToken(made.token);
  assert(!(await admin.listRegistrationTokens()).some(({ token }) => token === made.token));
  await assertRejects(() => admin.deleteRegistrationToken(made.token), NotFoundError);

  const txnId = crypto.randomUUID();
  const event = await admin.sendServerNotice(userId, "You were reported.", { txnId });
  assertEquals(await admin.sendServerNotice(userId, "You were reported.", { txnId }), event);
  await syncUntil(spammer, ({ rooms }) => Object.keys(rooms?.invite ?? {})[0]);
});
