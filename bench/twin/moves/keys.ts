/** Keys of devices, messages between devices, and the backup of room keys. */

import { type Move, type Person, v3, type World } from "../world.ts";

function deviceKeys(person: Person, device: string): object {
  return {
    user_id: person.id,
    device_id: device,
    algorithms: ["m.olm.v1.curve25519-aes-sha2", "m.megolm.v1.aes-sha2"],
    keys: { [`curve25519:${device}`]: `curve of ${device}`, [`ed25519:${device}`]: `ed of ${device}` },
    signatures: { [person.id]: { [`ed25519:${device}`]: "signature" } },
  };
}

function signedKey(person: Person, device: string, value: string): object {
  return { key: value, signatures: { [person.id]: { [`ed25519:${device}`]: "signature" } } };
}

function upload(world: World): Move {
  const person = world.person();
  const { token, device } = world.login(person);
  const named = () => `signed_curve25519:${world.pick("AAAAAQ", "AAAAAg", "AAAAAw", "AAAABA")}`;
  const value = () => `key ${world.pick("one", "one", "one", "two")}`;
  return {
    token,
    method: "POST",
    path: v3("keys", "upload"),
    body: {
      device_keys: world.maybe(50, () => deviceKeys(person, device)),
      one_time_keys: world.maybe(
        60,
        () => ({
          [named()]: signedKey(person, device, value()),
          [named()]: signedKey(person, device, value()),
        }),
      ),
      fallback_keys: world.maybe(
        30,
        () => ({ [named()]: { ...signedKey(person, device, value()), fallback: true } }),
      ),
    },
  };
}

function query(world: World): Move {
  const device_keys = Object.fromEntries(
    [world.someone(), world.someone()].map((id) => [id, world.pick([], [], ["ALICE1"], ["GONE"])]),
  );
  return world.by(world.person(), "POST", v3("keys", "query"), { body: { device_keys } });
}

function claim(world: World): Move {
  const target = world.person();
  return world.by(world.person(), "POST", v3("keys", "claim"), {
    body: {
      one_time_keys: {
        [target.id]: {
          [world.login(target).device]: world.pick("signed_curve25519", "signed_curve25519", "curve25519"),
        },
      },
    },
  });
}

function changes(world: World): Move {
  const { token, batches } = world.login(world.person());
  return {
    token,
    method: "GET",
    path: v3("keys", "changes"),
    query: { from: world.pick(...batches, "x"), to: batches.at(-1) ?? "x" },
  };
}

function crossSigning(world: World): Move {
  const person = world.person();
  const master = world.pick("a", "a", "b").repeat(43);
  const key = (usage: string, value: string) => ({
    user_id: person.id,
    usage: [usage],
    keys: { [`ed25519:${value}`]: value },
    signatures: { [person.id]: { [`ed25519:${master}`]: "c".repeat(86) } },
  });
  return world.by(person, "POST", v3("keys", "device_signing", "upload"), {
    body: {
      master_key: world.maybe(85, () => key("master", master)),
      self_signing_key: world.maybe(15, () => key("self_signing", "s".repeat(43))),
      user_signing_key: world.maybe(10, () => key("user_signing", "u".repeat(43))),
    },
  });
}

function signatures(world: World): Move {
  const person = world.person();
  const { device } = world.login(person);
  return world.by(person, "POST", v3("keys", "signatures", "upload"), {
    body: {
      [world.random.chance(80) ? person.id : world.someone()]: { [device]: deviceKeys(person, device) },
    },
  });
}

function toDevice(world: World): Move {
  const devices = Object.fromEntries(
    [world.person(), world.person()].map((target) => [
      target.id,
      { [world.pick(world.login(target).device, "*", "GONE")]: { x: world.random.below(9) } },
    ]),
  );
  const path = v3(
    "sendToDevice",
    world.pick("org.example.x", "m.room_key_request", "m.room.encrypted"),
    world.transaction(),
  );
  return world.by(world.person(), "PUT", path, { body: { messages: devices } });
}

function backupVersion(world: World): Move {
  const person = world.person();
  const version = world.pick(...person.backups, "1", "7", "x");
  const body = {
    algorithm: "m.megolm_backup.v1.curve25519-aes-sha2",
    auth_data: { public_key: "key", signatures: {} },
  };
  return world.pick(
    world.by(person, "POST", v3("room_keys", "version"), {
      body,
      done: (id) => void person.backups.push(`{{${id}.version}}`),
    }),
    world.by(person, "POST", v3("room_keys", "version"), {
      body,
      done: (id) => void person.backups.push(`{{${id}.version}}`),
    }),
    world.by(person, "GET", v3("room_keys", "version")),
    world.by(person, "GET", v3("room_keys", "version", version)),
    world.by(person, "PUT", v3("room_keys", "version", version), {
      body: { ...body, version: world.maybe(50, () => version) },
    }),
    world.by(person, "DELETE", v3("room_keys", "version", version)),
  );
}

function backedUp(world: World): Move {
  const having = world.people.filter(({ backups }) => backups.length > 0);
  const person = having.length === 0 ? world.person() : world.pick(...having);
  const version = world.random.chance(85)
    ? person.backups.at(-1) ?? "1"
    : world.pick(...person.backups, "1", "9", "x");
  const key = () => ({
    first_message_index: world.random.below(4),
    forwarded_count: world.random.below(3),
    is_verified: world.flag(),
    session_data: { ciphertext: `text ${world.random.below(5)}`, ephemeral: "key", mac: "mac" },
  });
  const [room, session] = [world.pick("!a:localhost", world.room().id), world.pick("session1", "session2")];
  const [suffix, body] = world.pick<readonly [string[], object]>(
    [[], { rooms: { [room]: { sessions: { [session]: key() } } } }],
    [[room], { sessions: { [session]: key() } }],
    [[room, session], key()],
  );
  const path = v3("room_keys", "keys", ...suffix);
  const parts = { query: { version } };
  return world.pick(
    world.by(person, "PUT", path, { ...parts, body }),
    world.by(person, "PUT", path, { ...parts, body }),
    world.by(person, "GET", path, parts),
    world.random.chance(50) ? world.by(person, "DELETE", path, parts) : world.by(person, "GET", path, parts),
  );
}

/** The moves of this file, with how often each comes. */
export const keyMoves: readonly (readonly [number, (world: World) => Move])[] = [
  [14, upload],
  [8, query],
  [8, claim],
  [4, changes],
  [5, crossSigning],
  [3, signatures],
  [10, toDevice],
  [8, backupVersion],
  [14, backedUp],
];
