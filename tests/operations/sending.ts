import { assert, assertEquals, assertRejects } from "@std/assert";
import { type Client, ForbiddenError, ValueError } from "@greenroom/matrix";
import { DuplicateAnnotationError, TooLargeError } from "@greenroom/matrix/errors";
import type { ContentURI, EventID, RoomID } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { roomOf } from "./support/scene.ts";
import { refused } from "./support/wait.ts";

const IMAGE = "mxc://localhost/abcdef";

/** The content of an event as another user reads it. */
async function contentOf(reader: Client, roomId: RoomID, eventId: EventID): Promise<Record<string, unknown>> {
  return (await reader.getEvent(roomId, eventId)).content;
}

/** Messages, reactions, redactions. */
export const sending: readonly Operation[] = [
  {
    name: "sendMessageEvent() sends any type of event, once per transaction ID",
    covers: ["sendMessageEvent", "getEvent"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const content = {
        open: true,
        speed: 3,
        parts: ["left", "right"],
        nested: { null: null, text: "ü 🎭" },
      };
      const txnId = scene.unique("txn");
      const eventId = await alice.sendMessageEvent(roomId, "com.example.curtain", content, { txnId });
      assertEquals(await alice.sendMessageEvent(roomId, "com.example.curtain", content, { txnId }), eventId);
      const event = await bob.getEvent(roomId, eventId);
      assertEquals(event.content, content);
      assertEquals([event.type, event.sender, event.room_id, event.event_id], [
        "com.example.curtain",
        alice.userId,
        roomId,
        eventId,
      ]);
      assertEquals(event.state_key, undefined);
      assertEquals(
        (await alice.getEvent(roomId, eventId)).unsigned?.transaction_id,
        txnId,
        "for the sender's device",
      );
      assertEquals(event.unsigned?.transaction_id, undefined, "and for no other device");
      const other = await alice.sendMessageEvent(roomId, "com.example.curtain", content);
      assert(other !== eventId, "each call has a transaction ID of its own");
    },
  },
  {
    name: "sendMessageEvent() reports missing membership, missing power, and events that are too large",
    covers: ["sendMessageEvent"],
    async run(scene) {
      const [alice, bob, carol] = await scene.players("alice", "bob", "carol");
      const roomId = await roomOf(alice, bob);
      await refused(() => carol.sendMessageEvent(roomId, "com.example.x", {}), ForbiddenError, 403);
      await refused(
        () => alice.sendText(roomId, "x".repeat(70_000)),
        TooLargeError,
        413,
      );
      const levels = await alice.getStateEvent(roomId, "m.room.power_levels");
      await alice.sendStateEvent(roomId, "m.room.power_levels", {
        ...levels,
        events: { ...levels.events, "com.example.loud": 50 },
      });
      await refused(() => bob.sendMessageEvent(roomId, "com.example.loud", {}), ForbiddenError, 403);
      await alice.sendMessageEvent(roomId, "com.example.loud", {});
      await assertRejects(() => alice.sendMessageEvent(roomId, "", {}), ValueError);
      await assertRejects(() => alice.sendMessageEvent("nowhere" as RoomID, "com.example.x", {}), ValueError);
      await assertRejects(() => alice.sendMessageEvent(roomId, "..", {}), ValueError);
    },
  },
  {
    name: "sendStateEvent() replaces the state of its type and key, and nothing else",
    covers: ["sendStateEvent", "getStateEvent"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const first = await alice.sendStateEvent(roomId, "com.example.prop", { at: "left" }, {
        stateKey: "lamp",
      });
      await alice.sendStateEvent(roomId, "com.example.prop", { at: "right" }, { stateKey: "chair" });
      const second = await alice.sendStateEvent(roomId, "com.example.prop", { at: "centre" }, {
        stateKey: "lamp",
      });
      assertEquals(await bob.getStateEvent(roomId, "com.example.prop", { stateKey: "lamp" }), {
        at: "centre",
      });
      assertEquals(await bob.getStateEvent(roomId, "com.example.prop", { stateKey: "chair" }), {
        at: "right",
      });
      const event = await bob.getStateEvent(roomId, "com.example.prop", {
        stateKey: "lamp",
        format: "event",
      });
      assertEquals([event.event_id, event.state_key, event.sender], [second, "lamp", alice.userId]);
      assert(first !== second);
      await refused(
        () => bob.sendStateEvent(roomId, "m.room.topic", { topic: "Mine" }),
        ForbiddenError,
        403,
      );
      await refused(
        () => alice.sendStateEvent(roomId, "com.example.prop", {}, { stateKey: bob.userId }),
        ForbiddenError,
        403,
      );
      await alice.sendStateEvent(roomId, "com.example.prop", {}, { stateKey: "a/b?c#d%e f" });
      assertEquals(await alice.getStateEvent(roomId, "com.example.prop", { stateKey: "a/b?c#d%e f" }), {});
      await assertRejects(
        () => alice.sendStateEvent(roomId, "com.example.prop", {}, { stateKey: ".." }),
        ValueError,
      );
    },
  },
  {
    name:
      "sendText(), sendNotice() and sendEmote() send their kind, with formatting, as reply and in a thread; edit() edits",
    covers: ["sendText", "sendNotice", "sendEmote", "edit"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const text = await alice.sendText(roomId, "Places!");
      assertEquals(await contentOf(bob, roomId, text), { msgtype: "m.text", body: "Places!" });
      const notice = await alice.sendNotice(roomId, "<b>Two</b>", { html: "<b>Two</b>" });
      assertEquals(await contentOf(bob, roomId, notice), {
        msgtype: "m.notice",
        body: "<b>Two</b>",
        format: "org.matrix.custom.html",
        formatted_body: "<b>Two</b>",
      });
      const emote = await alice.sendEmote(roomId, null, { html: "<i>bows</i>" });
      const { msgtype, body } = await contentOf(bob, roomId, emote);
      assertEquals([msgtype, body], ["m.emote", "bows"]);
      const replyTo = { "m.in_reply_to": { event_id: text } };
      const reply = await bob.sendText(roomId, "Coming", { relatesTo: replyTo });
      assertEquals((await contentOf(alice, roomId, reply))["m.relates_to"], replyTo);
      const inThread = { rel_type: "m.thread", event_id: text, is_falling_back: true, ...replyTo } as const;
      const threaded = await bob.sendText(roomId, "Now", { msgtype: "m.notice", relatesTo: inThread });
      assertEquals((await contentOf(alice, roomId, threaded))["m.relates_to"], inThread);
      assertEquals((await alice.getEvent(roomId, text)).unsigned?.["m.relations"]?.["m.thread"]?.count, 1);
      await alice.edit(roomId, text, "Places, please!");
      const edited = await alice.getEvent(roomId, text);
      assert(edited.unsigned?.["m.relations"]?.["m.replace"]);
      await assertRejects(() => alice.sendText(roomId, null), ValueError);
    },
  },
  {
    name: "sendText() edits: what is sent has a fallback, what is read later is the new text",
    covers: ["sendText"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const original = await alice.sendText(roomId, "Tonite");
      const edit = await alice.sendText(roomId, "Tonight", {
        relatesTo: { rel_type: "m.replace", event_id: original },
      });
      const content = await contentOf(bob, roomId, edit);
      assertEquals([content.body, content["m.new_content"]], ["* Tonight", {
        msgtype: "m.text",
        body: "Tonight",
      }]);
      const { unsigned } = await bob.getEvent(roomId, original);
      assertEquals(unsigned?.["m.relations"]?.["m.replace"]?.event_id, edit);
    },
  },
  {
    name: "sendMessage() sends any message content",
    covers: ["sendMessage"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const content = { msgtype: "m.location", body: "Stage door", geo_uri: "geo:51.5,-0.12" } as const;
      const eventId = await alice.sendMessage(roomId, content);
      const event = await bob.getEvent(roomId, eventId);
      assertEquals([event.type, event.content], ["m.room.message", content]);
    },
  },
  {
    name: "sendFile(), sendImage() and sendSticker() send what was uploaded",
    covers: ["sendFile", "sendImage", "sendSticker"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const info = { mimetype: "image/png", w: 2, h: 1, size: 67 };
      const file = await alice.sendFile(roomId, IMAGE, {
        fileName: "score.pdf",
        info: { mimetype: "application/pdf" },
      });
      assertEquals(await contentOf(bob, roomId, file), {
        msgtype: "m.file",
        body: "score.pdf",
        filename: "score.pdf",
        url: IMAGE,
        info: { mimetype: "application/pdf" },
      });
      const video = await alice.sendFile(roomId, IMAGE, { fileType: "m.video" });
      assertEquals((await contentOf(bob, roomId, video)).msgtype, "m.video");
      const image = await contentOf(
        bob,
        roomId,
        await alice.sendImage(roomId, IMAGE, { info, fileName: "a.png" }),
      );
      assertEquals([image.msgtype, image.body, image.info], ["m.image", "a.png", info]);
      const sticker = await bob.getEvent(
        roomId,
        await alice.sendSticker(roomId, IMAGE, info, { text: "Applause" }),
      );
      assertEquals([sticker.type, sticker.content], ["m.sticker", { body: "Applause", url: IMAGE, info }]);
      await assertRejects(() => alice.sendFile(roomId, "https://example.org/a" as ContentURI), ValueError);
    },
  },
  {
    name: "react() reacts once with each key, and a redaction takes it back",
    covers: ["react", "redact"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const question = await alice.sendText(roomId, "Ready?");
      const reaction = await bob.react(roomId, question, "👍️");
      const event = await alice.getEvent(roomId, reaction);
      assertEquals([event.type, event.content["m.relates_to"]], [
        "m.reaction",
        { rel_type: "m.annotation", event_id: question, key: "👍️" },
      ]);
      await refused(() => bob.react(roomId, question, "👍️"), DuplicateAnnotationError, 400);
      await bob.react(roomId, question, "🎭");
      await bob.redact(roomId, reaction);
      await bob.react(roomId, question, "👍️");
      await assertRejects(() => bob.react(roomId, question, ""), ValueError);
    },
  },
  {
    name: "sendMessageEvent() of a redaction redacts, whatever the room's version",
    covers: ["sendMessageEvent"],
    async run(scene) {
      const alice = await scene.player("alice", { unlimited: "people" });
      for (const roomVersion of ["6", "10", "11", "12"]) {
        const roomId = await alice.createRoom({ roomVersion });
        const redacts = await alice.sendText(roomId, "Oops");
        const redaction = { redacts, reason: "Slip" };
        const txnId = scene.unique("txn");
        const sent = await alice.sendMessageEvent(roomId, "m.room.redaction", redaction, { txnId });
        assertEquals(await alice.sendMessageEvent(roomId, "m.room.redaction", redaction, { txnId }), sent);
        const { content, unsigned } = await alice.getEvent(roomId, redacts);
        assertEquals([content, unsigned?.redacted_because?.content.reason], [{}, "Slip"]);
        await assertRejects(
          () => alice.sendMessageEvent(roomId, "m.room.redaction", { reason: "Slip" }),
          ValueError,
          "eventId",
        );
      }
    },
  },
  {
    name: "redact() takes the content away: one's own, or others' with the power to",
    covers: ["redact"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const own = await bob.sendText(roomId, "Oops");
      const txnId = scene.unique("txn");
      const redaction = await bob.redact(roomId, own, { reason: "Slip", txnId });
      assertEquals(await bob.redact(roomId, own, { reason: "Slip", txnId }), redaction);
      const event = await alice.getEvent(roomId, own);
      assertEquals(event.content, {});
      assertEquals(event.unsigned?.redacted_because?.event_id, redaction);
      const { type, content } = await alice.getEvent(roomId, redaction);
      assertEquals([type, content.reason, content.redacts], ["m.room.redaction", "Slip", own]);
      const alices = await alice.sendText(roomId, "Mine");
      await refused(() => bob.redact(roomId, alices), ForbiddenError, 403);
      const bobs = await bob.sendText(roomId, "Heckle");
      await alice.redact(roomId, bobs, { extraContent: { "com.example.rule": 4 } });
      assertEquals((await bob.getEvent(roomId, bobs)).content, {});
      const topic = await alice.sendStateEvent(roomId, "m.room.topic", { topic: "Secret" });
      await alice.redact(roomId, topic);
      assertEquals<object>(
        await bob.getStateEvent(roomId, "m.room.topic"),
        {},
        "state is redacted, not removed",
      );
    },
  },
];
