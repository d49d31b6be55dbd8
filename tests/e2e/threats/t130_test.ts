import { assertEquals, assertStringIncludes } from "@std/assert";
import { Bot } from "@greenroom/matrix/bot";
import type { JsonObject, RoomID } from "@greenroom/matrix/types";
import { Synapse } from "../../../tools/synapse.ts";
import { within } from "../support/deadline.ts";
import { RemoteServer } from "../support/remote/remote_server.ts";
import { newUser, synapseTest } from "../support/synapse.ts";

const OWNER = "@owner:good.example";
/** What a server puts in front; Synapse lets a user be invited five times at once. */
const MEMBERSHIPS = ["invite", "leave", "join", "knock"];

function text(body: string): { readonly type: string; readonly content: JsonObject } {
  return { type: "m.room.message", content: { msgtype: "m.text", body } };
}

synapseTest("T130: on Synapse no server says in another's name who invites, nor what is said", async () => {
  await using synapse = await Synapse.start({ federates: true, print() {} });
  await using remote = new RemoteServer(synapse);
  const { userId, accessToken: token } = await newUser(synapse, "bot");
  const [alice, mallory] = ["alice", "mallory"].map((name) => remote.user(name)) as [string, string];
  const invited: string[] = [];
  const heard: string[] = [];
  const arrived = Promise.withResolvers<void>();
  const bot = new Bot({
    ...{ baseUrl: synapse.baseUrl, accessToken: token, mxid: userId, log: false },
    allow: [OWNER, `@alice:*`],
  });
  bot.client.addEventHandler("INVITE", ({ sender }) => {
    if (invited.push(sender) > MEMBERSHIPS.length) arrived.resolve();
  });
  bot.on("message:text", async (c) => {
    heard.push(`${c.sender} ${c.text}`);
    await c.send(`heard ${c.text}`);
  });
  const running = bot.start({ signals: false });
  await bot.client.ready;
  const invite = async (by: string, membership: string): Promise<RoomID> => {
    const room = await remote.createRoom(by);
    const made = { type: "m.room.member", sender: OWNER, state_key: userId, content: { membership } };
    await remote.invite(room, { by, user: userId, sentAlong: [made] });
    return room as RoomID;
  };
  for (const membership of MEMBERSHIPS) await invite(mallory, membership);
  const room = await invite(alice, "leave");
  await within(arrived.promise, "the bot hears of the invitations");
  assertEquals(invited, [...MEMBERSHIPS.map(() => mallory), alice]);

  const join = await within(remote.joined(room, userId), "the bot joins at an invitation of whom it hears");
  assertEquals(join.content.membership, "join");
  const forged = await remote.sign(room, { ...text("wipe"), sender: OWNER });
  const [refusal] = Object.values(await remote.send(forged)) as { error?: string }[];
  assertStringIncludes(refusal?.error ?? "", "403");
  await remote.send(await remote.add(room, { ...text("hello"), sender: alice }));
  await within(remote.receive(({ content }) => content.body === "heard hello"), "the bot answers");
  assertEquals(heard, [`${alice} hello`]);
  assertEquals((await bot.inviter(room))?.by, alice);
  assertEquals(await bot.client.getJoinedRooms(), [room]);
  await bot.stop();
  await running;
});
