/**
 * The application services of the in-process homeserver: whose users they are, and what they are
 * sent.
 *
 * @see {@link https://spec.matrix.org/v1.19/application-service-api/ | Application service API}
 * @module
 */

import type { RoomAlias, UserID } from "../../types/ids.ts";
import { isJsonObject, type JsonObject } from "../../types/json.ts";
import type {
  AppserviceFetch,
  TestNamespace,
  TestNamespaces,
  TestRegistration,
} from "../homeserver_options.ts";
import { badRequest, Failure, forbidden, invalidParam, refused } from "../json/json.ts";
import type { Room, RoomEvent } from "../rooms/mod.ts";
import { Device, type Session, type User } from "../users/mod.ts";
import { AppserviceSender, type SendingServer } from "./appservice_sender.ts";

/** What of a homeserver its application services need. */
interface AppserviceServer extends SendingServer {
  /** Knows access tokens. */
  readonly sessions: { /** Refuses what is none. */ find(token: string | undefined): unknown };
  addUser(localpart: string, password: string | undefined): User;
}

/** What it takes to see who acts. */
interface ActingRequest {
  /** The token that it has. */
  readonly token: string | undefined;
  /** A parameter of its query. */
  query(name: string): string | undefined;
}

type Kind = keyof TestNamespaces;

/** An application service, as the homeserver has it. */
class RegisteredAppservice {
  readonly registration: TestRegistration;
  /** Its own user. */
  readonly sender: UserID;
  /** Sends it what it is interested in. */
  readonly pushing: AppserviceSender;
  /** Remembers its transactions: they are those of all of its users, as on Synapse. */
  readonly device: Device = new Device("", undefined);
  readonly #expressions = new Map<TestNamespace, RegExp>();

  /**
   * @param server The homeserver.
   * @param registration Its registration.
   * @param fetch Reaches it.
   */
  constructor(server: AppserviceServer, registration: TestRegistration, fetch: AppserviceFetch) {
    this.registration = registration;
    this.sender = `@${registration.sender_localpart}:${server.settings.serverName}`;
    this.pushing = new AppserviceSender(server, registration, fetch, (id) => this.hasUser(id));
    for (const list of Object.values(registration.namespaces)) {
      for (const each of list ?? []) this.#expressions.set(each, new RegExp(`^(?:${each.regex})`));
    }
  }

  /** Returns whether it is interested in a user. */
  hasUser(userId: string): boolean {
    return userId === this.sender || this.match("users", userId) !== undefined;
  }

  match(kind: Kind, identifier: string): TestNamespace | undefined {
    return this.registration.namespaces[kind]?.find((each) => this.#expressions.get(each)?.test(identifier));
  }
}

/** All application services of a homeserver. */
export class Appservices {
  readonly #server: AppserviceServer;
  readonly #all: RegisteredAppservice[] = [];

  /** @param server The homeserver. */
  constructor(server: AppserviceServer) {
    this.#server = server;
  }

  add(registration: TestRegistration, fetch: AppserviceFetch): void {
    this.#all.push(new RegisteredAppservice(this.#server, registration, fetch));
  }

  /** The one that a token belongs to. */
  of(token: string | undefined): RegisteredAppservice | undefined {
    return this.#all.find(({ registration }) => registration.as_token === token);
  }

  /** Returns whether a user is the one that an application service is where it names nobody. */
  isSender(userId: UserID): boolean {
    return this.#all.some(({ sender }) => sender === userId);
  }

  /** Returns who acts in a request that has the token of an application service; undefined if it has not. */
  session(request: ActingRequest): Session | undefined {
    const service = this.of(request.token);
    if (service === undefined) return undefined;
    const { users } = this.#server;
    const userId = (request.query("user_id") ?? service.sender) as UserID;
    if (!service.hasUser(userId)) {
      throw forbidden(`Application service cannot masquerade as this user (${userId}).`);
    }
    const known = users.get(userId);
    if (known === undefined && userId !== service.sender) {
      throw forbidden(`Application service has not registered this user (${userId})`);
    }
    const user = known ?? this.#server.addUser(service.registration.sender_localpart, undefined);
    const deviceId = request.query("device_id") ?? request.query("org.matrix.msc3202.device_id");
    const device = deviceId === undefined ? service.device : user.devices.get(deviceId);
    if (device === undefined) {
      throw badRequest(
        "M_UNKNOWN_DEVICE",
        `Application service trying to use a device that doesn't exist ('${deviceId}' for ${userId})`,
      );
    }
    const token = service.registration.as_token;
    return { user, device, token, expiresAt: undefined, refreshToken: undefined };
  }

  /** Refuses a name that another application service has for itself. */
  checkUser(userId: string, allowed?: RegisteredAppservice): void {
    const isReserved = this.#all.some((service) =>
      service !== allowed && service.match("users", userId)?.exclusive === true
    );
    if (isReserved) throw badRequest("M_EXCLUSIVE", "This user ID is reserved by an application service.");
  }

  /** Refuses an alias that is another's, or none of the own. */
  checkAlias(alias: string, token: string | undefined): void {
    const own = this.of(token);
    if (own !== undefined && own.match("aliases", alias) === undefined) {
      throw badRequest("M_EXCLUSIVE", "This application service has not reserved this kind of alias.");
    }
    const isReserved = this.#all.some((service) =>
      service !== own && service.match("aliases", alias)?.exclusive === true
    );
    if (isReserved) throw badRequest("M_EXCLUSIVE", "This alias is reserved by an application service.");
  }

  /** Registers a user for the application service whose token a request has. */
  register({ json, token }: { readonly json: JsonObject; readonly token: string | undefined }): User {
    if (token === undefined) {
      throw refused("Appservice token must be provided when using a type of m.login.application_service");
    }
    const { username } = json;
    if (typeof username !== "string") {
      throw refused("Desired Username is missing or not a string");
    }
    const service = this.of(token);
    if (service === undefined) {
      throw new Failure(401, "M_UNKNOWN_TOKEN", "Invalid access token passed.", {
        extra: { soft_logout: false },
      });
    }
    const userId: UserID = `@${username}:${this.#server.settings.serverName}`;
    if (!service.hasUser(userId)) {
      throw badRequest("M_EXCLUSIVE", "Invalid user localpart for this application service.");
    }
    this.checkUser(userId, service);
    if (this.#server.users.has(userId)) throw badRequest("M_USER_IN_USE", "User ID already taken.");
    return this.#server.addUser(username, undefined);
  }

  /** Logs a user of the application service in whose token a request has. */
  login({ json, token }: { readonly json: JsonObject; readonly token: string | undefined }): User {
    const service = this.of(token);
    if (service === undefined) {
      this.#server.sessions.find(token);
      const error = "This login method is only valid for application services";
      throw new Failure(401, "M_UNKNOWN_TOKEN", error, { extra: { soft_logout: false } });
    }
    if (service.registration["io.element.msc4190"] === true) {
      const error = "This appservice has MSC4190 enabled, so appservice login cannot be used.";
      throw badRequest("M_APPSERVICE_LOGIN_UNSUPPORTED", error);
    }
    const { identifier } = json;
    if (!isJsonObject(identifier)) throw invalidParam("Invalid identifier in login submission");
    if (identifier.type !== "m.id.user") throw invalidParam("Unknown login identifier type");
    const { user: name } = identifier;
    if (typeof name !== "string") throw invalidParam("Invalid user in identifier");
    const { users, settings: { serverName } } = this.#server;
    const userId = (name.startsWith("@") ? name : `@${name}:${serverName}`) as UserID;
    if (!service.hasUser(userId)) throw forbidden("Invalid access_token");
    const user = users.get(userId) ??
      (userId === service.sender
        ? this.#server.addUser(service.registration.sender_localpart, undefined)
        : undefined);
    if (user === undefined) throw new Failure(404, "M_UNKNOWN", "No row found (users)");
    if (user.deactivated) {
      throw new Failure(403, "M_USER_DEACTIVATED", "This account has been deactivated");
    }
    return user;
  }

  /** Asks those who may have a room of an alias; undefined: it is known, or is nobody's. */
  queryAlias(alias: string): Promise<void> | undefined {
    if (this.#server.aliases.has(alias as RoomAlias)) return undefined;
    const interested = this.#all.filter((service) => service.match("aliases", alias) !== undefined);
    return interested.length === 0 ? undefined : (async () => {
      for (const { pushing } of interested) {
        if (await pushing.asks(`rooms/${encodeURIComponent(alias)}`)) return;
      }
    })();
  }

  /** An event was sent to a room: it goes to those whom it interests. */
  sent(room: Room, event: RoomEvent): void {
    for (const service of this.#all) {
      if (!this.#isInterested(service, room, event)) continue;
      const target = event.type === "m.room.member" ? event.stateKey ?? "" : "";
      const isUnknown = target !== "" && !this.#server.users.has(target as UserID) && service.hasUser(target);
      service.pushing.push(room, event, { unknown: isUnknown ? target : undefined });
    }
  }

  /** Something happened in a room that is not kept: it goes to those who want such. */
  ephemeral(room: Room, edu: JsonObject): void {
    for (const service of this.#all) {
      if (service.registration.receive_ephemeral !== true) continue;
      if (this.#hasRoom(service, room)) service.pushing.pushEphemeral({ ...edu, room_id: room.id });
    }
  }

  /** A message was sent to a device: it goes to those whose user has the device. */
  toDevice(user: User, device: Device, event: JsonObject): void {
    for (const { registration, pushing } of this.#encrypting(user.id)) {
      if (registration.receive_ephemeral !== true) continue;
      pushing.pushToDevice({ ...event, to_user_id: user.id, to_device_id: device.id });
    }
  }

  /** The devices of a user have changed: those are told who have a user that shares a room. */
  devicesChanged(userId: UserID, acquaintances: Iterable<UserID>): void {
    const told = new Set([...acquaintances].flatMap((each) => this.#encrypting(each)));
    for (const { pushing } of told) pushing.pushDeviceChange(userId);
  }

  #encrypting(userId: UserID): RegisteredAppservice[] {
    return this.#all.filter((service) =>
      service.registration["org.matrix.msc3202"] === true && service.hasUser(userId)
    );
  }

  #isInterested(service: RegisteredAppservice, room: Room, event: RoomEvent): boolean {
    if (service.hasUser(event.sender)) return true;
    if (event.type === "m.room.member" && service.hasUser(event.stateKey ?? "")) return true;
    return this.#hasRoom(service, room);
  }

  #hasRoom(service: RegisteredAppservice, room: Room): boolean {
    if (service.match("rooms", room.id) !== undefined) return true;
    for (const userId of room.membersWith("join")) if (service.hasUser(userId)) return true;
    return [...this.#server.aliases].some(([alias, { room: id }]) =>
      id === room.id && service.match("aliases", alias) !== undefined
    );
  }
}
