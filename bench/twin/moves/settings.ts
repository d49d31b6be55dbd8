/** Push rules, pushers, notifications and media. */

import { type Move, v1, v3, type World } from "../world.ts";

const OWN_RULES: readonly (readonly [kind: string, id: string])[] = [
  ["override", ".m.rule.master"],
  ["override", ".m.rule.is_user_mention"],
  ["override", ".m.rule.suppress_notices"],
  ["content", ".m.rule.contains_user_name"],
  ["underride", ".m.rule.message"],
];

function rule(world: World): readonly [kind: string, id: string] {
  return world.random.chance(50) ? world.pick(...OWN_RULES) : [
    world.pick("override", "underride", "content", "room", "sender", "dance"),
    world.pick("mine", "other", world.room().id, world.someone()),
  ];
}

function actions(world: World): unknown[] {
  return world.pick<unknown[]>(
    ["notify"],
    [],
    ["dont_notify"],
    ["notify", { set_tweak: "highlight" }],
    ["notify", { set_tweak: "sound", value: "ping" }],
    ["dance"],
  );
}

function pushRules(world: World): Move {
  const person = world.person();
  const [kind, id] = rule(world);
  const path = v3("pushrules", "global", kind, id);
  const body = {
    actions: actions(world),
    conditions: ["override", "underride"].includes(kind)
      ? [world.pick<object>(
        { kind: "event_match", key: "content.body", pattern: "*play*" },
        { kind: "room_member_count", is: ">1" },
        { kind: "contains_display_name" },
        { kind: "sender_notification_permission", key: "room" },
        { kind: "event_property_is", key: "type", value: "m.reaction" },
      )]
      : undefined,
    pattern: kind === "content" ? "dag*" : undefined,
  };
  const query: Record<string, string> = world.random.chance(20)
    ? { [world.pick("before", "after")]: world.pick("mine", "other", ".m.rule.message") }
    : {};
  return world.pick(
    world.by(person, "PUT", path, { body, query }),
    world.by(person, "PUT", path, { body, query }),
    world.by(person, "PUT", [...path, "enabled"], { body: { enabled: world.flag() } }),
    world.by(person, "PUT", [...path, "actions"], { body: { actions: actions(world) } }),
    world.by(person, "GET", [...path, ...world.pick<string[]>([], ["enabled"], ["actions"])]),
    world.by(person, "DELETE", path),
    world.by(person, "GET", v3("pushrules", "")),
    world.by(
      person,
      "GET",
      v3(
        "pushrules",
        ...world.pick<string[]>(["global", ""], ["global", kind, ""], ["device"], ["device", kind, id]),
      ),
    ),
  );
}

function pushers(world: World): Move {
  const person = world.person();
  return world.random.chance(60)
    ? world.by(person, "POST", v3("pushers", "set"), {
      body: {
        app_id: world.pick("app", "other"),
        pushkey: "key-{{run}}",
        kind: world.pick("http", "http", null),
        app_display_name: "App",
        device_display_name: "Phone",
        lang: "en",
        data: { url: "http://127.0.0.1:9/_matrix/push/v1/notify", format: "event_id_only" },
        append: world.maybe(30, () => true),
      },
    })
    : world.by(person, "GET", v3("pushers"));
}

function notifications(world: World): Move {
  const query: Record<string, string> = {};
  if (world.random.chance(40)) query.limit = String(world.random.below(4));
  if (world.random.chance(25)) query.only = "highlight";
  return world.by(world.person(), "GET", v3("notifications"), { query });
}

function media(world: World): Move {
  const person = world.person();
  const uri = world.media.length > 0 && world.random.chance(90) ? world.pick(...world.media) : "none";
  const upload = () => ({
    type: world.pick("text/plain", "application/json", "image/svg+xml", "application/x-y"),
    text: "bytes",
  });
  const keep: Move["done"] = (id) => void world.media.push(`{{${id}.content_uri.id}}`);
  return world.pick(
    world.by(person, "POST", ["_matrix", "media", "v3", "upload"], {
      ...upload(),
      query: world.pick<Record<string, string>>({}, { filename: "a.txt" }, { filename: "ä b" }),
      done: keep,
    }),
    world.by(person, "POST", ["_matrix", "media", "v1", "create"], { done: keep }),
    world.by(person, "PUT", ["_matrix", "media", "v3", "upload", "localhost", uri], upload()),
    world.by(
      person,
      "GET",
      v1("media", "download", world.pick("localhost", "localhost", "localhost", "a b"), uri),
      {
        query: { timeout_ms: "1" },
      },
    ),
    world.by(person, "GET", v1("media", "download", "localhost", uri, "name.txt"), {
      query: { timeout_ms: "1" },
    }),
    world.by(person, "GET", v1("media", "config")),
    world.by(person, "GET", ["_matrix", "media", "v3", "config"]),
    world.by(person, "GET", ["_matrix", "media", "v3", "download", "localhost", uri]),
  );
}

/** The moves of this file, with how often each comes. */
export const settingMoves: readonly (readonly [number, (world: World) => Move])[] = [
  [16, pushRules],
  [3, pushers],
  [5, notifications],
  [8, media],
];
