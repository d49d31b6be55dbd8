/** Rooms and who is in them. */

import { type Move, type Person, type Place, v1, v3, type World } from "../world.ts";

const VERSIONS = ["12", "11", "10", "9", "8", "7", "6", "5", "3", "1"];

/** Makes a room. */
export function createRoom(world: World): Move {
  const creator = world.person();
  const others = world.people.filter((person) => person !== creator);
  const invited = world.maybe(40, () => others.slice(0, 1 + world.random.below(2)));
  const version = world.maybe(35, () => world.pick(...VERSIONS));
  return world.by(creator, "POST", v3("createRoom"), {
    body: {
      preset: world.pick("public_chat", "public_chat", "private_chat", "trusted_private_chat"),
      name: world.maybe(50, () => world.pick("Room {{run}}", "Stage", "")),
      topic: world.maybe(40, () => world.pick("A topic", "")),
      visibility: world.maybe(40, () => world.pick("public", "private")),
      room_version: version,
      invite: invited?.map(({ id }) => id),
      is_direct: world.maybe(20, () => world.flag()),
      room_alias_name: world.maybe(15, () => aliasName(world)),
      creation_content: world.maybe(
        15,
        () =>
          world.pick<object>({ "m.federate": false }, { type: "m.space" }, { x: 1 }, {
            additional_creators: [others[0]?.id],
          }),
      ),
      initial_state: world.maybe(25, () => [
        world.pick<object>(
          {
            type: "m.room.history_visibility",
            content: { history_visibility: world.pick("joined", "invited", "world_readable") },
          },
          { type: "m.room.guest_access", state_key: "", content: { guest_access: "forbidden" } },
          { type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } },
          { type: "m.room.join_rules", content: { join_rule: world.pick("public", "knock", "invite") } },
          { type: "m.room.name", content: { name: "By state" } },
          { type: "org.example", state_key: "key", content: { x: 1 } },
        ),
      ]),
      power_level_content_override: world.maybe(
        25,
        () =>
          world.pick<object>(
            { events_default: 10 },
            { users_default: 20, invite: 50 },
            { events: { "m.room.message": 50, "m.room.name": 0 }, state_default: 25 },
            { users: { [creator.id]: 100, [others[0]?.id ?? ""]: 50 } },
            { users: { [others[0]?.id ?? ""]: 50 } },
            { redact: 0, ban: 10, kick: 10, notifications: { room: 0 } },
          ),
      ),
    },
    done(id) {
      const members = new Map<Person, string>([[creator, "join"]]);
      for (const person of invited ?? []) members.set(person, "invite");
      world.rooms.push({ id: `{{${id}.room_id}}`, members, events: [], pages: [] });
    },
  });
}

function aliasName(world: World): string {
  return `${world.pick("one", "two", "three")}-{{run}}`;
}

/** An alias, in most cases one that may be there. */
export function alias(world: World): string {
  return world.random.chance(92)
    ? `#${aliasName(world)}:localhost`
    : world.pick("#x:away.example", "#", "x", "#x");
}

function reason(world: World): { reason?: string } {
  return world.random.chance(30) ? { reason: world.pick("because", "") } : {};
}

function enter(world: World, verb: "join" | "knock"): Move {
  const room = world.room();
  const person = world.who(room, "invite", "leave", "knock");
  const byId = verb === "join" && world.random.chance(50);
  const idOrAlias = world.random.chance(15) ? alias(world) : room.id;
  return world.by(person, "POST", byId ? v3("rooms", room.id, "join") : v3(verb, idOrAlias), {
    body: reason(world),
    done: byId || idOrAlias === room.id ? world.becomes(room, verb, person) : undefined,
  });
}

function moderate(world: World, verb: "invite" | "kick" | "ban" | "unban"): Move {
  const room = world.room();
  const target = verb === "unban"
    ? world.who(room, "ban")
    : verb === "invite"
    ? world.who(room, "leave", "knock")
    : world.who(room, "join", "invite", "knock");
  const becomes = { invite: "invite", kick: "leave", ban: "ban", unban: "leave" }[verb];
  return world.by(world.member(room), "POST", v3("rooms", room.id, verb), {
    body: { user_id: world.random.chance(95) ? target.id : world.someone(), ...reason(world) },
    done: world.becomes(room, becomes, target),
  });
}

function memberEvent(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  const target = world.random.chance(50) ? by : world.person();
  const membership = world.pick("join", "leave", "invite", "ban", "knock", "dance");
  return world.by(by, "PUT", v3("rooms", room.id, "state", "m.room.member", target.id), {
    body: {
      membership,
      ...(world.random.chance(30) ? { displayname: "Given", avatar_url: "mxc://x/y", extra: 1 } : {}),
      ...reason(world),
    },
    done: world.becomes(room, membership, target),
  });
}

function leave(world: World): Move {
  const room = world.room();
  const person = world.who(room, "join", "invite", "knock");
  return world.by(person, "POST", v3("rooms", room.id, "leave"), {
    body: reason(world),
    done: world.becomes(room, "leave", person),
  });
}

function addAlias(world: World): Move {
  const room = world.room();
  return world.by(world.member(room), "PUT", v3("directory", "room", alias(world)), {
    body: { room_id: room.id },
  });
}

function listRooms(world: World): Move {
  return world.by(world.person(), "POST", v3("publicRooms"), {
    query: world.random.chance(10) ? { server: world.pick("localhost", "away.example") } : {},
    body: {
      filter: {
        generic_search_term: "{{run}}",
        room_types: world.maybe(20, () => world.pick<unknown>([null], ["m.space"], [])),
      },
      limit: world.maybe(50, () => world.random.below(4)),
    },
  });
}

function upgrade(world: World): Move {
  const room = world.room();
  const by = world.member(room);
  return world.by(by, "POST", v3("rooms", room.id, "upgrade"), {
    body: { new_version: world.pick(...VERSIONS, "99") },
    done(id) {
      const members = new Map<Person, string>([[by, "join"]]);
      const place: Place = { id: `{{${id}.replacement_room}}`, members, events: [], pages: [] };
      world.rooms.push(place);
    },
  });
}

/** The moves of this file, with how often each comes. */
export const roomMoves: readonly (readonly [number, (world: World) => Move])[] = [
  [5, createRoom],
  [14, (world) => enter(world, "join")],
  [3, (world) => enter(world, "knock")],
  [6, leave],
  [8, (world) => moderate(world, "invite")],
  [4, (world) => moderate(world, "kick")],
  [3, (world) => moderate(world, "ban")],
  [3, (world) => moderate(world, "unban")],
  [8, memberEvent],
  [2, (world) => {
    const room = world.room();
    return world.by(world.who(room, "leave", "ban"), "POST", v3("rooms", room.id, "forget"), { body: {} });
  }],
  [2, (world) => world.by(world.person(), "GET", v3("joined_rooms"))],
  [5, addAlias],
  [2, (world) => world.by(world.person(), "GET", v3("directory", "room", alias(world)))],
  [3, (world) => world.by(world.person(), "DELETE", v3("directory", "room", alias(world)))],
  [2, (world) => {
    const room = world.room();
    return world.by(world.member(room), "GET", v3("rooms", room.id, "aliases"));
  }],
  [2, (world) => world.by(world.person(), "GET", v3("directory", "list", "room", world.room().id))],
  [3, (world) => {
    const room = world.room();
    const body = { visibility: world.pick("public", "private") };
    return world.by(world.member(room), "PUT", v3("directory", "list", "room", room.id), { body });
  }],
  [3, listRooms],
  [2, upgrade],
  [2, (world) => {
    const room = world.room();
    const query: Record<string, string> = world.random.chance(40)
      ? { limit: String(world.random.below(4)), max_depth: String(world.random.below(3)) }
      : {};
    return world.by(world.member(room), "GET", v1("rooms", room.id, "hierarchy"), { query });
  }],
  [2, (world) => {
    const idOrAlias = world.random.chance(80) ? world.room().id : alias(world);
    return world.by(world.person(), "GET", v1("room_summary", idOrAlias));
  }],
];
