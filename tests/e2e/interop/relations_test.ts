import { assert, assertEquals } from "@std/assert";
import type { EventID, RoomID } from "@greenroom/matrix/types";
import type { PeerMessage } from "../support/peer/peer_event.ts";
import { read, type Scene, sceneTest } from "../support/scene.ts";

/** How an event says what it has to do with another. */
type Relation = Record<string, unknown>;

/** What stands in the clear of an event, as the server has it. */
async function onServer({ server, ours }: Scene, roomId: string, eventId: string): Promise<{
  type: string;
  content: { "m.relates_to"?: Relation; body?: string };
}> {
  const path = `rooms/${encodeURIComponent(roomId)}/event/${encodeURIComponent(eventId)}`;
  const response = await fetch(`${server.baseUrl}/_matrix/client/v3/${path}`, {
    headers: { authorization: `Bearer ${ours.user.accessToken}` },
  });
  return await response.json();
}

function relationOf({ content }: PeerMessage): unknown {
  return content["m.relates_to"];
}

sceneTest("S54 Peers read our edits, replies, threads and reactions", async (scene) => {
  const { ours, peers } = scene;
  const { client } = ours;
  const roomId = await scene.room() as RoomID;
  const root = await ours.sendText(roomId, "root") as EventID;
  await read(peers, root, "root");
  const edit = { rel_type: "m.replace", event_id: root } as const;
  const reply = { "m.in_reply_to": { event_id: root } };
  const thread = { rel_type: "m.thread", event_id: root, is_falling_back: true, ...reply } as const;
  for (const [body, relatesTo] of [["edited", edit], ["reply", reply], ["in the thread", thread]] as const) {
    const eventId = await client.sendText(roomId, body, { relatesTo });
    const told = relatesTo === edit ? `* ${body}` : body;
    for (const heard of await read(peers, eventId, told)) {
      assertEquals(relationOf(heard), relatesTo);
      if (relatesTo === edit) assertEquals(heard.content["m.new_content"], { msgtype: "m.text", body });
    }
    const { type, content } = await onServer(scene, roomId, eventId);
    assertEquals([type, content["m.relates_to"], content.body], ["m.room.encrypted", relatesTo, undefined]);
  }
  for (const key of ["👍", "👎"]) {
    const encrypted = key === "👎";
    if (encrypted) client.encryptionBlacklist.delete("m.reaction");
    const reaction = await client.react(roomId, root, key);
    const relation = { rel_type: "m.annotation", event_id: root, key };
    for (const peer of peers) {
      const heard = await peer.message(({ eventId }) => eventId === reaction);
      assertEquals([heard.type, heard.encrypted], ["m.reaction", encrypted]);
      assertEquals(relationOf(heard), relation);
    }
  }
});

// None of them encrypts its reactions.
sceneTest("S54 We read edits, replies, threads and reactions of peers", async (scene) => {
  const { ours, peers } = scene;
  const roomId = await scene.room();
  const root = await ours.sendText(roomId, "root");
  await read(peers, root, "root");
  for (const peer of peers) {
    const edited = await peer.sendText(roomId, "first");
    const edit = await peer.sendEdit(roomId, edited, "second");
    const reply = await peer.sendReply(roomId, root, "reply");
    const inThread = { rel_type: "m.thread", event_id: root };
    const content = { msgtype: "m.text", body: "in the thread", "m.relates_to": inThread };
    const thread = await peer.sendRaw(roomId, "m.room.message", content);
    const reaction = await peer.sendReaction(roomId, root, "👍");

    const heard = await ours.message(({ eventId }) => eventId === edit);
    assertEquals(relationOf(heard), { rel_type: "m.replace", event_id: edited });
    assertEquals(heard.content["m.new_content"], { msgtype: "m.text", body: "second" });
    assert(heard.encrypted);
    const [answer] = await read([ours], reply, "reply");
    assertEquals(answer && relationOf(answer), { "m.in_reply_to": { event_id: root } });
    const [threaded] = await read([ours], thread, "in the thread");
    assertEquals(threaded && relationOf(threaded), inThread);
    const liked = await ours.message(({ eventId }) => eventId === reaction);
    assertEquals([liked.type, liked.encrypted], ["m.reaction", false]);
    assertEquals(relationOf(liked), { rel_type: "m.annotation", event_id: root, key: "👍" });
  }
});
