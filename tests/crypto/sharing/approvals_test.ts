import { assert, assertEquals } from "@std/assert";
import type { UserID } from "@greenroom/matrix/types";
import { device } from "./fakes.ts";
import { ALICE, BOB, ME, ROOM } from "./room.ts";
import { Stage, unknown } from "./stage.ts";

const bob = device(BOB, "BOB1");

Deno.test("users who never got a key need approval, if the policy says so, and then keep it", async () => {
  const stage = await Stage.open({ policy: { approveRecipients: true } });
  stage.devices.put(device(ME, "OTHER"));
  await stage.describe();
  assertEquals(await stage.prepare(), { needs: "approval", users: unknown(ALICE, BOB) });
  assertEquals(await stage.prepare({ approved: unknown(ALICE) }), { needs: "approval", users: unknown(BOB) });
  assertEquals(stage.received.size, 0);
  await stage.prepare({ approved: unknown(BOB) });
  await stage.send();
  await stage.restart();
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  await stage.send();
  const carol: UserID = "@carol:example.org";
  stage.devices.put(device(carol, "CAROL1"));
  await stage.member(carol, "join");
  assertEquals(await stage.prepare(), { needs: "approval", users: unknown(carol) });
});

Deno.test("users who get no key need no approval", async () => {
  const stage = await Stage.open({ policy: { approveRecipients: true } });
  stage.devices.put({ ...bob, trust: "blacklisted" });
  await stage.describe();
  assertEquals(await stage.prepare(), { needs: "approval", users: unknown(ALICE) });
});

Deno.test("users who got keys before the policy required approval need none", async () => {
  const stage = await Stage.open();
  await stage.send();
  stage.policy = { approveRecipients: true };
  await stage.restart();
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  await stage.send();
});

Deno.test("a user who needed no approval because of a key needs none when all those sessions are gone", async () => {
  const stage = await Stage.open();
  await stage.send();
  stage.policy = { approveRecipients: true };
  await stage.restart();
  const rotate = () => stage.step((tx) => stage.outbound.discard(tx, ROOM));
  await rotate();
  await stage.send();
  await stage.member(BOB, "leave");
  for (let count = 0; count < 12; count++) {
    await rotate();
    await stage.send();
  }
  await stage.member(BOB, "join");
  await stage.send();
});

Deno.test("a user who has the key of the session in use needs no approval for another device", async () => {
  const stage = await Stage.open();
  await stage.send();
  stage.policy = { approveRecipients: true };
  await stage.restart();
  stage.devices.put(device(BOB, "BOB2"));
  await stage.send();
});

Deno.test("a user who only got a notice needs approval before the first key", async () => {
  const stage = await Stage.open();
  stage.devices.put({ ...bob, trust: "blacklisted" });
  await stage.send();
  assertEquals(stage.noticesOf(bob).map(({ code }) => code), ["m.blacklisted"]);
  stage.policy = { approveRecipients: true };
  await stage.restart();
  stage.devices.put(bob);
  await stage.describe();
  assertEquals(await stage.prepare(), { needs: "approval", users: unknown(BOB) });
  await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  assertEquals(await stage.prepare(), { needs: "approval", users: unknown(BOB) });
});

Deno.test("recipients are kept of the last sessions, and removed of older ones", async () => {
  const stage = await Stage.open();
  const sessions: string[] = [];
  for (let count = 0; count < 12; count++) {
    sessions.push(String((await stage.send()).session_id));
    await stage.step((tx) => stage.outbound.discard(tx, ROOM));
  }
  const sharedAt = await stage.step((tx) =>
    Promise.all(sessions.map((sessionId) => stage.outbound.sharedAt(tx, ROOM, sessionId, bob)))
  );
  assertEquals(sharedAt.slice(-6), [0, 0, 0, 0, 0, 0]);
  assertEquals(sharedAt.slice(0, 4), [undefined, undefined, undefined, undefined]);
  const records = await stage.vault.list(["crypto", "outbound_share"]);
  assert(records.length <= 2 * 8, `${records.length} records are kept`);
});
