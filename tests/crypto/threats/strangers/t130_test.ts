/**
 * A stranger's homeserver chooses who invited this user: into the state that comes with an invitation it puts
 * a member event of the invited user in another's name, or one that says that there is no invitation.
 *
 * What must hold: the inviter is the sender of the event that the own homeserver has checked and put behind
 * that state; handlers, the store and `autoJoin` see no other, whatever stands in front of it, and the state
 * that is attached has no member event of the own user.
 *
 * The class of mistake: of what others order, the first is taken for what is proven.
 */

import { assertEquals } from "@std/assert";
import { Client } from "@greenroom/matrix";
import type { Bot, BotOptions } from "@greenroom/matrix/bot";
import type { BotTester } from "@greenroom/matrix/testing";
import type { JsonObject, RoomID } from "@greenroom/matrix/types";
import { trying } from "../../../bot/support.ts";
import { clientStage } from "../../../client/support/stage.ts";

const OWNER = "@owner:good.example";
const ELSEWHERE = "evil.example";
/** A member event, as a server may make it up. */
function made(sender: string, user: string, membership: string): JsonObject {
  return { type: "m.room.member", sender, state_key: user, content: { membership } };
}

const MEMBERSHIPS = ["invite", "leave", "join", "ban", "knock", "org.example.other"];

/** A bot that an attacker invites, whose server has put something in front. */
function attacked(membership: string, options: Partial<BotOptions>) {
  let bot: Bot | undefined;
  const heard: string[] = [];
  const attached: unknown[] = [];
  const sent = () => [made(OWNER, tester.mxid, membership), { type: "m.room.name" }];
  const tester: BotTester = trying((made) => {
    bot = made;
    made.client.addEventHandler("INVITE", (event) => {
      heard.push(event.sender);
      attached.push(
        ...event.unsigned?.invite_room_state?.map(({ type, sender }) => `${type} ${sender}`) ?? [],
      );
    });
  }, options);
  return { tester, sent, heard, attached, inviter: (room: RoomID) => bot?.inviter(room) };
}

/** Has a user of another homeserver invite, which sends something along. */
async function invite(tester: BotTester, by: string, sent: readonly JsonObject[]): Promise<RoomID> {
  const { homeserver } = tester;
  const { accessToken: token } = homeserver.createUser(by, { serverName: ELSEWHERE });
  await using stranger = new Client({
    baseUrl: homeserver.baseUrl,
    fetch: homeserver.fetch,
    accessToken: token,
  });
  const room = await stranger.createRoom({ preset: "private_chat" });
  homeserver.sendAlong(room, sent);
  await stranger.inviteUser(room, tester.mxid);
  for (let n = 0; n < 20; n++) await tester.settle();
  return room;
}

for (const membership of MEMBERSHIPS) {
  Deno.test(`T130: no server says in another's name who invites, with ${membership} in front of the invitation`, async () => {
    const asked: string[] = [];
    const { tester, sent, heard, attached, inviter } = attacked(membership, {
      autoJoin: ({ sender }) => asked.push(sender) > 0 && sender === OWNER,
    });
    await using _ = tester;
    await tester.start();
    const room = await invite(tester, "mallory", sent());
    const mallory = `@mallory:${ELSEWHERE}`;
    assertEquals([heard, asked], [[mallory], [mallory]]);
    assertEquals(attached.filter((each) => String(each).includes(OWNER)), []);
    assertEquals(tester.homeserver.room(room).membership(tester.mxid), "invite");
    assertEquals(await inviter(room), undefined);
  });

  Deno.test(`T130: a bot that hears its owner alone does not join at a stranger's invitation, with ${membership} in front`, async () => {
    const { tester, sent, inviter } = attacked(membership, { allow: [OWNER] });
    await using _ = tester;
    await tester.start();
    const room = await invite(tester, "mallory", sent());
    assertEquals(tester.homeserver.room(room).membership(tester.mxid), "invite");
    assertEquals(await inviter(room), undefined);
  });

  Deno.test(`T130: a true invitation is accepted, and its inviter remembered, with ${membership} in front`, async () => {
    const { tester, sent, inviter } = attacked(membership, { allow: ["@alice:*"] });
    await using _ = tester;
    await tester.start();
    const room = await invite(tester, "alice", sent());
    assertEquals(tester.homeserver.room(room).membership(tester.mxid), "join");
    assertEquals((await inviter(room))?.by, `@alice:${ELSEWHERE}`);
  });

  Deno.test(`T130: the membership that is stored is that of the own server, with ${membership} in front`, async () => {
    await using stage = clientStage();
    const [alice, bob] = [stage.client("alice"), stage.client("bob")];
    const invited = await alice.createRoom();
    const open = await alice.createRoom({
      roomVersion: "10",
      initialState: [{ type: "m.room.join_rules", state_key: "", content: { join_rule: "knock" } }],
    });
    for (const room of [invited, open]) {
      stage.homeserver.sendAlong(room, [made("@alice:localhost", "@bob:localhost", membership)]);
    }
    await alice.inviteUser(invited, "@bob:localhost");
    await bob.knockRoom(open);
    const seen: unknown[] = [];
    bob.addEventHandler((event) => {
      if (event.type === "m.room.member") seen.push((event.content as { membership?: unknown }).membership);
    });
    await bob.syncOnce();
    assertEquals(seen.sort(), ["invite", "knock"]);
    for (const [room, membership] of [[invited, "invite"], [open, "knock"]] as const) {
      assertEquals((await bob.stateStore.getMember(room, "@bob:localhost"))?.membership, membership);
    }
  });
}
