import { assert, assertEquals } from "@std/assert";
import { MatrixRequestError, NotFoundError } from "@greenroom/matrix";
import type { MessageEvent, SetTweakAction } from "@greenroom/matrix/types";
import type { Operation } from "./support/operation.ts";
import { roomOf } from "./support/scene.ts";
import { refused } from "./support/wait.ts";

const ENABLED = true;

/** Push rules. */
export const pushRules: readonly Operation[] = [
  {
    name: "getPushRules() lists the rules that every user begins with",
    covers: ["getPushRules", "getPushRule"],
    async run(scene) {
      const alice = await scene.player("alice");
      const rules = await alice.getPushRules();
      const master = rules.override?.find(({ rule_id }) => rule_id === ".m.rule.master");
      assertEquals([master?.default, master?.enabled, master?.actions], [true, false, []]);
      assertEquals(await alice.getPushRule("global", "override", ".m.rule.master"), master);
      const message = await alice.getPushRule("global", "underride", ".m.rule.message");
      assertEquals([message.enabled, message.actions[0]], [true, "notify"]);
      await refused(() => alice.getPushRule("global", "content", "no.such.rule"), NotFoundError, 404);
    },
  },
  {
    name: "setPushRule() makes and changes rules of every kind, in the order asked for",
    covers: ["setPushRule", "getPushRule", "getPushRules", "removePushRule"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      await alice.setPushRule("global", "content", "curtain", ["notify"], { pattern: "curt*n" });
      const content = await alice.getPushRule("global", "content", "curtain");
      assertEquals(content, {
        rule_id: "curtain",
        default: false,
        enabled: true,
        pattern: "curt*n",
        actions: ["notify"],
      });
      const conditions = [{ kind: "event_match", key: "type", pattern: "m.room.topic" }];
      const tweak = { set_tweak: "highlight", value: true } as const;
      await alice.setPushRule("global", "override", "topics", ["notify", tweak], { conditions });
      const override = await alice.getPushRule("global", "override", "topics");
      assertEquals([override.actions, override.conditions], [["notify", tweak], conditions]);
      await alice.setPushRule("global", "underride", "low", [], { conditions });
      await alice.setPushRule("global", "room", roomId, []);
      await alice.setPushRule("global", "sender", bob.userId, []);
      assertEquals((await alice.getPushRule("global", "room", roomId)).rule_id, roomId);
      assertEquals((await alice.getPushRule("global", "sender", bob.userId)).actions, []);

      await alice.setPushRule("global", "content", "second", [], { pattern: "b", after: "curtain" });
      await alice.setPushRule("global", "content", "first", [], { pattern: "a", before: "curtain" });
      const own = async () =>
        (await alice.getPushRules()).content?.filter((rule) => !rule.default).map(({ rule_id }) => rule_id);
      assertEquals(await own(), ["first", "curtain", "second"]);
      await alice.setPushRule("global", "content", "curtain", [], { pattern: "curtain" });
      assertEquals((await alice.getPushRule("global", "content", "curtain")).pattern, "curtain");
      await alice.removePushRule("global", "content", "curtain");
      assertEquals(await own(), ["first", "second"]);
      await refused(() => alice.getPushRule("global", "content", "curtain"), NotFoundError, 404);
      await refused(() => alice.removePushRule("global", "content", "curtain"), NotFoundError, 404);
    },
  },
  {
    name: "setPushRule() reports rules that can't be",
    covers: ["setPushRule"],
    async run(scene) {
      const alice = await scene.player("alice");
      await refused(
        () => alice.setPushRule("global", "content", "x", [], { pattern: "x", before: "no.such.rule" }),
        MatrixRequestError,
        400,
      );
      await refused(
        () => alice.setPushRule("global", "content", ".m.rule.contains_user_name", [], { pattern: "x" }),
        MatrixRequestError,
        400,
      );
    },
  },
  {
    name: "setPushRuleEnabled() and setPushRuleActions() change what a rule does",
    covers: ["isPushRuleEnabled", "setPushRuleEnabled", "getPushRuleActions", "setPushRuleActions"],
    async run(scene) {
      const alice = await scene.player("alice");
      assert(await alice.isPushRuleEnabled("global", "override", ".m.rule.master") === false);
      await alice.setPushRuleEnabled("global", "override", ".m.rule.master", ENABLED);
      assert(await alice.isPushRuleEnabled("global", "override", ".m.rule.master") === true);
      await alice.setPushRuleActions("global", "underride", ".m.rule.message", []);
      assertEquals(await alice.getPushRuleActions("global", "underride", ".m.rule.message"), []);
      const rule = await alice.getPushRule("global", "underride", ".m.rule.message");
      assert(rule.default && rule.enabled);
      await refused(
        () => alice.isPushRuleEnabled("global", "override", "no.such.rule"),
        NotFoundError,
        404,
      );
    },
  },
  {
    name: "pushRules.evaluate() finds what the server finds",
    covers: ["getPushRules", "getNotifications"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      await alice.setPushRule("global", "content", "curtain", ["notify"], { pattern: "curt*n" });
      const heard: MessageEvent[] = [];
      alice.on("m.room.message", (event) => void heard.push(event));
      await alice.syncOnce();
      const texts = ["hello", "a curtain", "uncurtained", "hello @room"];
      const sent = [
        ...await inOrder(texts, (text) => bob.sendText(roomId, text)),
        await bob.sendText(roomId, "you", { mentions: { user_ids: [alice.userId] } }),
        await bob.sendText(roomId, "all", { mentions: { room: true } }),
        await bob.sendNotice(roomId, "beep"),
      ];
      await alice.syncOnce();
      assertEquals(heard.map(({ event_id }) => event_id), sent);
      const { notifications } = await alice.getNotifications();
      for (const event of heard) {
        const { isNotified, isHighlighted } = await alice.pushRules.evaluate(event);
        const found = notifications.find((each) => each.event.event_id === event.event_id);
        const tweak = found?.actions.find((each): each is SetTweakAction =>
          typeof each === "object" && each.set_tweak === "highlight"
        );
        const highlights = tweak !== undefined && tweak.value !== false;
        assertEquals(
          [isNotified, isHighlighted],
          [found !== undefined, highlights],
          String(event.content.body),
        );
      }
    },
  },
  {
    name: "getNotifications() lists what notified, the latest first, part by part, and whether it was read",
    covers: ["getNotifications"],
    async run(scene) {
      const [alice, bob] = await scene.players("alice", "bob");
      const roomId = await roomOf(alice, bob);
      const mentions = { user_ids: [alice.userId] };
      const sent = [
        await bob.sendText(roomId, "one"),
        await bob.sendText(roomId, "two", { mentions }),
        await bob.sendText(roomId, "three"),
      ];
      await alice.sendReceipt(roomId, sent[1] ?? "$");
      const first = await alice.getNotifications({ limit: 2 });
      assertEquals(first.notifications.map(({ event, room_id, read }) => [event.event_id, room_id, read]), [
        [sent[2], roomId, false],
        [sent[1], roomId, true],
      ]);
      assertEquals(first.notifications[0]?.event.room_id, roomId);
      assert(typeof first.next_token === "string");
      const next = await alice.getNotifications({ from: first.next_token });
      assertEquals(next.notifications.map(({ event }) => event.event_id), [sent[0]]);
      const mine = await alice.getNotifications({ only: "highlight" });
      assertEquals(mine.notifications.map(({ event }) => event.event_id), [sent[1]]);
    },
  },
];

async function inOrder<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}
