/** Events and state. */

import { type Move, v3, type World } from "../world.ts";
import { alias } from "./rooms.ts";

/** What a message may say. */
function message(world: World): object {
  const body = world.words();
  return world.pick<object>(
    { msgtype: "m.text", body },
    { msgtype: "m.text", body },
    { msgtype: "m.notice", body, format: "org.matrix.custom.html", formatted_body: `<b>${body}</b>` },
    { msgtype: "m.image", body: "image.png", url: "mxc://localhost/none", info: { w: 1, h: 1 } },
    { msgtype: "m.text", body, "m.mentions": { user_ids: [world.someone()] } },
    { msgtype: "m.text", body, "m.mentions": { room: true } },
    { msgtype: "m.text", body: `Hello ${world.person().name}-{{run}}` },
    { msgtype: "m.text", body: "@room look" },
  );
}

function say(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  const type = world.pick(
    "m.room.message",
    "m.room.message",
    "m.room.message",
    "org.example.x",
    "m.room.encrypted",
    "m.sticker",
  );
  return world.by(by, "PUT", v3("rooms", room.id, "send", type, world.transaction()), {
    body: type === "m.room.message"
      ? message(world)
      : { body: world.words(), algorithm: "m.megolm.v1.aes-sha2" },
    done: world.posted(room, by, type),
  });
}

function relate(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  const event_id = world.event(room, ({ type }) => type === "m.room.message");
  const relation = world.pick<object>(
    { rel_type: "m.annotation", event_id, key: world.pick("👍", "+", "") },
    { rel_type: "m.annotation", event_id, key: "👍" },
    { rel_type: "m.replace", event_id },
    { rel_type: "m.thread", event_id, is_falling_back: true, "m.in_reply_to": { event_id } },
    { rel_type: "m.thread", event_id },
    { rel_type: "m.reference", event_id },
    { rel_type: "org.example.rel", event_id },
    { "m.in_reply_to": { event_id } },
    { event_id },
    { rel_type: "m.reference" },
  );
  const isReaction = "rel_type" in relation && relation.rel_type === "m.annotation";
  const type = isReaction ? world.pick("m.reaction", "m.reaction", "m.room.message") : "m.room.message";
  const content = type === "m.reaction"
    ? {}
    : { msgtype: "m.text", body: "* edited", "m.new_content": { msgtype: "m.text", body: "edited" } };
  return world.by(by, "PUT", v3("rooms", room.id, "send", type, world.transaction()), {
    body: { ...content, "m.relates_to": relation },
    done: world.posted(room, by, type),
  });
}

function redact(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  const path = v3("rooms", room.id, "redact", world.event(room), world.transaction());
  return world.by(by, "PUT", path, {
    body: world.random.chance(40) ? { reason: "spoiler" } : {},
    done: world.posted(room, by, "m.room.redaction"),
  });
}

function sendRedaction(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  return world.by(by, "PUT", v3("rooms", room.id, "send", "m.room.redaction", world.transaction()), {
    body: { redacts: world.event(room), reason: "as an event" },
    done: world.posted(room, by, "m.room.redaction"),
  });
}

/** State events: type, key and content. */
function stateEvent(world: World): readonly [type: string, key: string, content: object] {
  const room = world.room();
  return world.pick<readonly [string, string, object]>(
    ["m.room.name", "", { name: world.pick("Name {{run}}", "", "Other") }],
    ["m.room.topic", "", { topic: world.pick("Topic", "") }],
    ["m.room.avatar", "", { url: "mxc://localhost/x" }],
    ["m.room.join_rules", "", { join_rule: world.pick("public", "invite", "knock", "private", "dance") }],
    ["m.room.join_rules", "", {
      join_rule: world.pick("restricted", "knock_restricted"),
      allow: [{ type: "m.room_membership", room_id: room.id }],
    }],
    ["m.room.history_visibility", "", {
      history_visibility: world.pick("shared", "joined", "invited", "world_readable", "none"),
    }],
    ["m.room.guest_access", "", { guest_access: world.pick("can_join", "forbidden") }],
    ["m.room.canonical_alias", "", {
      alias: alias(world),
      alt_aliases: world.maybe(30, () => [alias(world)]),
    }],
    ["m.room.server_acl", "", {
      allow: world.pick(["*"], ["localhost"], ["away.example"], []),
      deny: [],
      allow_ip_literals: false,
    }],
    ["m.room.encryption", "", { algorithm: "m.megolm.v1.aes-sha2" }],
    ["m.room.pinned_events", "", { pinned: [world.event(room)] }],
    ["m.room.tombstone", "", { body: "moved", replacement_room: room.id }],
    ["m.space.child", room.id, {
      via: world.pick<unknown>(["localhost"], [], "localhost"),
      suggested: true,
      order: world.pick("a", "b", "é"),
    }],
    ["m.space.parent", room.id, { via: ["localhost"], canonical: true }],
    ["m.room.create", "", { x: 1 }],
    ["m.room.third_party_invite", "token", {
      display_name: "x",
      key_validity_url: "https://x",
      public_key: "x",
    }],
    ["m.room.aliases", "localhost", { aliases: [alias(world)] }],
    ["org.example.state", world.pick("", "key", world.someone(), "_x"), { x: world.random.below(3) }],
    ["m.room.message", "", { msgtype: "m.text", body: "as state" }],
    ["m.room.redaction", "", { redacts: world.event(room) }],
  );
}

function putState(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  const [type, key, body] = stateEvent(world);
  const path = v3("rooms", room.id, "state", type, ...(key === "" && world.random.chance(40) ? [] : [key]));
  return world.by(by, "PUT", path, { body, done: world.posted(room, by, type) });
}

function powerLevels(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  const users = Object.fromEntries(
    world.people.filter(() => world.random.chance(60)).map((
      { id },
    ) => [id, world.pick(0, 10, 50, 99, 100, 100, 101)]),
  );
  return world.by(by, "PUT", v3("rooms", room.id, "state", "m.room.power_levels", ""), {
    body: {
      users,
      users_default: world.maybe(40, () => world.pick(0, 10, 50)),
      events_default: world.maybe(40, () => world.pick(0, 10, 50)),
      state_default: world.maybe(40, () => world.pick(0, 50, 100)),
      events: world.maybe(
        40,
        () => ({ "m.room.name": world.pick(0, 50, 100), "m.room.message": world.pick(0, 10) }),
      ),
      redact: world.maybe(30, () => world.pick(0, 50)),
      invite: world.maybe(30, () => world.pick(0, 50)),
      kick: world.maybe(30, () => world.pick(0, 50)),
      ban: world.maybe(30, () => world.pick(0, 50)),
      notifications: world.maybe(20, () => ({ room: world.pick(0, 50) })),
    },
    done: world.posted(room, by, "m.room.power_levels"),
  });
}

function getState(world: World): Move {
  const room = world.room();
  const by = world.who(room, "join", "leave", "ban");
  const [type, key] = world.random.chance(30)
    ? ["m.room.member", world.someone()]
    : world.pick(["m.room.name", ""], ["m.room.power_levels", ""], ["m.room.create", ""], [
      "m.room.topic",
      "",
    ], ["org.example.state", "key"]);
  const query: Record<string, string> = world.random.chance(40)
    ? { format: world.pick("event", "content") }
    : {};
  const path = v3("rooms", room.id, "state", type ?? "", ...(key === "" ? [] : [key ?? ""]));
  return world.by(by, "GET", path, { query });
}

function reader(world: World, ...end: string[]): Move {
  const room = world.room();
  return world.by(world.who(room, "join", "leave", "ban", "invite"), "GET", v3("rooms", room.id, ...end));
}

function members(world: World): Move {
  const query: Record<string, string> = {};
  if (world.random.chance(30)) query.membership = world.pick("join", "invite", "leave", "ban");
  if (world.random.chance(30)) query.not_membership = world.pick("join", "leave");
  return { ...reader(world, "members"), query };
}

function getEvent(world: World): Move {
  const room = world.room();
  return world.by(world.who(room, "join", "leave"), "GET", v3("rooms", room.id, "event", world.event(room)));
}

function report(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  const path = world.pick(
    v3("rooms", room.id, "report", world.event(room)),
    v3("rooms", room.id, "report"),
    v3("users", world.someone(), "report"),
  );
  return world.by(by, "POST", path, { body: { reason: "rude", score: world.maybe(50, () => -50) } });
}

/** The moves of this file, with how often each comes. */
export const eventMoves: readonly (readonly [number, (world: World) => Move])[] = [
  [24, say],
  [14, relate],
  [7, redact],
  [2, sendRedaction],
  [16, putState],
  [8, powerLevels],
  [6, getState],
  [3, (world) => reader(world, "state")],
  [3, members],
  [2, (world) => reader(world, "joined_members")],
  [5, getEvent],
  [2, report],
];
