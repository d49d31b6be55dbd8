/**
 * A hostile server that answers wrongly when it is asked for keys. Each action names the threats of
 * `SECURITY.md` that it stands for.
 *
 * @module
 */

import type { Account } from "../world/account.ts";
import { hurtDehydrated } from "../world/inheritance.ts";
import { type ActionKind, chosen, type Scene } from "./action.ts";

// deno-lint-ignore no-explicit-any -- the JSON of a response, which is changed in any way
type Json = any;

/** How many devices a server makes up at once. */
const CROWD = 300;
const KEY = "A".repeat(43);

/** Changes the next answer of a kind that a device gets. */
function tamper({ world, device }: Scene, threat: string, path: string, change: (body: Json) => void): void {
  world.note(`${threat}: the server changes the next answer to ${path} for ${device.name}`);
  world.network.tamper(device, path, (body) => {
    world.reach(`threat: ${threat}`);
    change(body);
  });
}

/** The user whom an action names beside its device. */
function victimOf({ world, action }: Scene): Account | undefined {
  return chosen(world.accounts, action.what);
}

/** A cross-signing key that nobody has signed. */
function masterKey(userId: string, key: string): Json {
  return { user_id: userId, usage: ["master"], keys: { [`ed25519:${key}`]: key } };
}

/**
 * The identity of a user is not shown as it is: nothing has the device ask again. Who takes devices only
 * that their user vouches for has none of that user then.
 */
function misshow(scene: Scene): void {
  const victim = victimOf(scene);
  if (victim === undefined) return;
  victim.isMisshown = true;
  if (scene.world.isVouched) { for (const each of victim.devices) each.isHidden = true; }
}

/** What cross-signing keys can be that they must not be. */
const MALFORMED: readonly ((userId: string) => Json)[] = [
  () => null,
  () => ({ keys: [] }),
  (userId) => ({ ...masterKey(userId, KEY), usage: ["self_signing"] }),
  (userId) => ({ ...masterKey(userId, KEY), keys: { [`ed25519:${KEY}`]: KEY, "ed25519:other": "B" } }),
  () => masterKey("@somebody.else:localhost", KEY),
];

/** The kinds. */
export const keyLists: readonly ActionKind[] = [
  {
    name: "adds devices to a user",
    weight: 2,
    async perform(scene) {
      const { world, action: { where } } = scene;
      const userId = victimOf(scene)?.userId ?? "";
      const intruder = await world.intruder();
      const deviceId = `SERVERS${where}`;
      tamper(scene, "T17, T65, T83", "/keys/query", (body) => {
        const devices = body.device_keys?.[userId];
        if (devices === undefined) return;
        devices[deviceId] = intruder.keysOf({ userId: userId as never, deviceId });
        for (let count = where % 4 === 0 ? CROWD : 0; count > 0; count--) devices[`D${count}`] = { count };
      });
    },
  },
  {
    name: "shows another identity of a user",
    weight: 2,
    perform(scene) {
      misshow(scene);
      const userId = victimOf(scene)?.userId ?? "";
      const { world, action: { where } } = scene;
      const key = world.chance.branch(`identity ${where}`).fill(new Uint8Array(32)).toBase64()
        .replace(/=+$/, "");
      tamper(scene, "T18, T19, T25, T75", "/keys/query", (body) => {
        (body.master_keys ??= {})[userId] = masterKey(userId, key);
        (body.self_signing_keys ??= {})[userId] = { ...masterKey(userId, KEY), usage: ["self_signing"] };
      });
    },
  },
  {
    name: "shows a malformed identity of a user",
    weight: 1,
    perform(scene) {
      misshow(scene);
      const userId = victimOf(scene)?.userId ?? "";
      const malformed = chosen(MALFORMED, scene.action.where)?.(userId);
      tamper(scene, "T21", "/keys/query", (body) => {
        for (const keys of ["master_keys", "self_signing_keys", "user_signing_keys"]) {
          (body[keys] ??= {})[userId] = malformed;
        }
      });
    },
  },
  {
    name: "names an identity as a device",
    weight: 1,
    perform(scene) {
      misshow(scene);
      const account = victimOf(scene);
      const [device] = account?.devices ?? [];
      if (account === undefined || device === undefined) return;
      for (const each of account.devices) each.isHidden = true;
      tamper(scene, "T20", "/keys/query", (body) => {
        (body.master_keys ??= {})[account.userId] = masterKey(account.userId, device.deviceId);
      });
    },
  },
  {
    name: "answers about users who were not asked for",
    weight: 2,
    perform(scene) {
      const userId = victimOf(scene)?.userId ?? "";
      tamper(scene, "T24, T26", "/keys/query", (body) => {
        const users = body.device_keys ??= {};
        users[userId] ??= {};
        users["@nobody:localhost"] = { "": {}, constructor: { keys: 5 } };
        for (const name of ["__proto__", "hasOwnProperty"]) {
          Object.defineProperty(users, name, { value: { __proto__: null }, enumerable: true });
        }
      });
    },
  },
  {
    name: "makes one-time keys up",
    weight: 2,
    perform(scene) {
      const { world, action: { where } } = scene;
      const key = where % 2 === 0 ? KEY : "B".repeat(43);
      tamper(scene, where % 2 === 0 ? "T08" : "T09", "/keys/claim", (body) => {
        for (const [userId, devices] of Object.entries<Json>(body.one_time_keys ?? {})) {
          for (const [deviceId, keys] of Object.entries<Json>(devices)) {
            for (const each of Object.values<Json>(keys)) each.key = key;
            for (const device of world.devices) {
              if (device.userId === userId && device.deviceId === deviceId) device.isHidden = true;
            }
            hurtDehydrated(world.accounts, (each) => each === deviceId);
          }
        }
      });
    },
  },
  {
    name: "hands one-time keys out twice",
    weight: 2,
    perform({ world }) {
      world.note("T07: the server gives the next who claims keys what it gave before");
      world.network.repeatClaim(([userId, deviceId], at) => {
        world.reach("threat: T07");
        for (const device of world.devices) {
          if (device.userId === userId && device.deviceId === deviceId) device.loss.hurt(at);
        }
        hurtDehydrated(world.accounts, (each) => each === deviceId);
      });
    },
  },
  {
    name: "fails over a device",
    weight: 1,
    perform({ world, device }) {
      world.reach("threat: T79, T80");
      world.note(`T79, T80: the server fails over ${device.name} from now on`);
      device.isHidden = true;
      world.network.resent(device);
    },
  },
];
