/** Users, their devices, and what they set. */

import { type Move, type Person, v1, v3, type World } from "../world.ts";
import { syncFilter } from "./reading.ts";

/** What a user of this name has for a password. */
export const passwordOf = (name: string): string => `password of ${name}`;

/** The proof of the password, for what wants one. */
function auth({ name, id }: Person): object {
  return {
    type: "m.login.password",
    identifier: { type: "m.id.user", user: id },
    password: passwordOf(name),
  };
}

/** Registers a user. */
export function register(world: World, name: string): Move {
  return {
    method: "POST",
    path: v3("register"),
    body: {
      username: `${name}-{{run}}`,
      password: passwordOf(name),
      device_id: `${name.toUpperCase()}1`,
      auth: { type: "m.login.dummy" },
    },
    done: (id) =>
      void world.people.push({
        name,
        id: `@${name}-{{run}}:localhost`,
        logins: [{
          token: `{{${id}.access_token}}`,
          device: `${name.toUpperCase()}1`,
          batches: [],
          positions: [],
        }],
        filters: [],
        backups: [],
      }),
  };
}

function login(world: World): Move {
  const person = world.person();
  const device = `${person.name.toUpperCase()}${1 + world.random.below(3)}`;
  return {
    method: "POST",
    path: v3("login"),
    body: {
      type: "m.login.password",
      identifier: { type: "m.id.user", user: world.random.chance(50) ? person.id : `${person.name}-{{run}}` },
      password: world.random.chance(92) ? passwordOf(person.name) : "wrong",
      device_id: device,
      initial_device_display_name: world.maybe(50, () => "A device"),
    },
    done(id) {
      person.logins.push({ token: `{{${id}.access_token}}`, device, batches: [], positions: [] });
    },
  };
}

function account(world: World): Move {
  const person = world.person();
  return world.pick(
    world.by(person, "GET", v3("account", "whoami")),
    world.by(person, "GET", v3("account", "3pid")),
    { method: "GET", path: v3("login") },
    {
      method: "GET",
      path: v3("register", "available"),
      query: { username: world.pick(`${person.name}-{{run}}`, "free-{{run}}", "Ä", "") },
    },
    { method: "POST", path: v3("register"), body: { username: `${person.name}-{{run}}`, password: "x" } },
    {
      method: "POST",
      path: v3("register"),
      body: {
        username: world.pick("Ä{{run}}", "_x{{run}}"),
        password: "x",
        auth: { type: "m.login.dummy" },
      },
    },
    world.by(person, "POST", v3("account", "password"), {
      body: {
        new_password: passwordOf(person.name),
        logout_devices: false,
        auth: world.maybe(80, () => auth(person)),
      },
    }),
    world.by(person, "GET", v3("voip", "turnServer", "x")),
    world.by(
      person,
      "POST",
      v3("user", world.random.chance(90) ? person.id : world.someone(), "openid", "request_token"),
      { body: {} },
    ),
    world.by(person, "GET", v3("thirdparty", world.pick("protocols", "user", "location"))),
    world.by(person, "GET", v3("thirdparty", world.pick("protocol", "user", "location"), "irc")),
  );
}

function endLogin(world: World): Move {
  const person = world.person();
  const login = world.login(person);
  if (person.logins.length === 1 && world.random.chance(80)) return account(world);
  return {
    token: login.token,
    method: "POST",
    path: world.random.chance(85) ? v3("logout") : v3("logout", "all"),
    body: {},
  };
}

function deactivate(world: World): Move {
  const person = world.person();
  if (world.random.chance(80)) return account(world);
  return world.by(person, "POST", v3("account", "deactivate"), {
    body: { auth: world.maybe(80, () => auth(person)) },
  });
}

function devices(world: World): Move {
  const person = world.person();
  const device = world.random.chance(90) ? world.login(person).device : world.pick("GONE", "");
  return world.pick(
    world.by(person, "GET", v3("devices")),
    world.by(person, "GET", v3("devices", device)),
    world.by(person, "PUT", v3("devices", device), {
      body: { display_name: world.pick("Renamed", "", "x".repeat(101)) },
    }),
    world.by(person, "DELETE", v3("devices", device), {
      body: { auth: world.maybe(70, () => auth(person)) },
    }),
    world.by(person, "POST", v3("delete_devices"), {
      body: { devices: [device], auth: world.maybe(70, () => auth(person)) },
    }),
  );
}

function profile(world: World): Move {
  const person = world.person();
  const field = world.pick("displayname", "displayname", "avatar_url", "m.tz", "org.example.x", "Bad Field");
  const whose = world.random.chance(92) ? person.id : world.someone();
  return world.pick(
    world.by(person, "GET", v3("profile", world.someone())),
    world.by(person, "GET", v3("profile", world.someone(), field)),
    world.by(person, "PUT", v3("profile", whose, field), {
      body: { [field]: world.pick("Alice", "mxc://localhost/x", "", "x".repeat(260)) },
    }),
    world.by(person, "PUT", v3("profile", whose, field), {
      body: { [field]: world.pick("Al", "mxc://localhost/x") },
    }),
    world.by(person, "DELETE", v3("profile", whose, field), { body: {} }),
  );
}

function presence(world: World): Move {
  const person = world.person();
  const whose = world.random.chance(92) ? person.id : world.someone();
  return world.random.chance(60)
    ? world.by(person, "PUT", v3("presence", whose, "status"), {
      body: {
        presence: world.pick("online", "offline", "unavailable", "busy"),
        status_msg: world.maybe(50, () => world.pick("here", "")),
      },
    })
    : world.by(person, "GET", v3("presence", world.someone(), "status"));
}

function accountData(world: World): Move {
  const person = world.person();
  const whose = world.random.chance(94) ? person.id : world.someone();
  const room = world.room();
  const type = world.pick(
    "org.example.a",
    "org.example.b",
    "m.direct",
    "m.push_rules",
    "m.fully_read",
    "m.tag",
  );
  const path = world.random.chance(50)
    ? v3("user", whose, "account_data", type)
    : v3("user", whose, "rooms", room.id, "account_data", type);
  return world.pick(
    world.by(person, "PUT", path, {
      body: world.pick<object>({ x: world.random.below(3) }, {}, { [room.id]: [person.id] }),
    }),
    world.by(person, "PUT", path, { body: { x: world.random.below(3) } }),
    world.by(person, "GET", path),
    world.by(person, "PUT", v3("user", whose, "account_data", "m.ignored_user_list"), {
      body: { ignored_users: world.pick<object>({}, { [world.someone()]: {} }) },
    }),
  );
}

function tags(world: World): Move {
  const person = world.person();
  const path = v3(
    "user",
    world.random.chance(95) ? person.id : world.someone(),
    "rooms",
    world.room().id,
    "tags",
  );
  const tag = world.pick("m.favourite", "u.mine", "", "x".repeat(256));
  return world.pick(
    world.by(person, "GET", path),
    world.by(person, "PUT", [...path, tag], { body: world.pick<object>({ order: 0.5 }, {}, { order: 1 }) }),
    world.by(person, "PUT", [...path, "u.mine"], { body: {} }),
    world.by(person, "DELETE", [...path, tag], { body: {} }),
  );
}

function filters(world: World): Move {
  const person = world.person();
  return world.random.chance(70)
    ? world.by(person, "POST", v3("user", person.id, "filter"), {
      body: syncFilter(world),
      done: (id) => void person.filters.push(`{{${id}.filter_id}}`),
    })
    : world.by(person, "GET", v3("user", person.id, "filter", world.pick(...person.filters, "0", "7", "x")));
}

function directory(world: World): Move {
  return world.by(world.person(), "POST", v3("user_directory", "search"), {
    body: {
      search_term: `${world.pick("alice", "bob", "Alice", "Al")}-{{run}}`,
      limit: world.maybe(40, () => world.random.below(3)),
    },
  });
}

function loginToken(world: World): Move {
  return world.by(world.person(), "POST", v1("login", "get_token"), { body: {} });
}

/** The moves of this file, with how often each comes. */
export const accountMoves: readonly (readonly [number, (world: World) => Move])[] = [
  [6, login],
  [8, account],
  [2, endLogin],
  [2, deactivate],
  [8, devices],
  [12, profile],
  [5, presence],
  [14, accountData],
  [8, tags],
  [6, filters],
  [2, directory],
  [1, loginToken],
];
