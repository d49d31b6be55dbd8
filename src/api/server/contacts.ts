/**
 * What a domain says of itself beside its homeserver: whom to ask for help, and how it vets events.
 * A file of its own because no token and no homeserver is asked, but a domain that anybody can have.
 *
 * @see
 * {@link https://spec.matrix.org/v1.19/client-server-api/#getwell-knownmatrixsupport | GET /.well-known/matrix/support}
 * @see {@link https://spec.matrix.org/v1.19/client-server-api/#policy-servers | Policy servers}
 * @module
 */

import {
  CALL,
  calledAs,
  ELSEWHERE,
  type Endpoint,
  endpoint,
  type RequestOptions,
  type Session,
  shaped,
} from "../http/mod.ts";
import { ValueError } from "../../errors/matrix_error.ts";
import { MatrixRequestError } from "../../errors/request_error.ts";
import { having, list, map, matching, object, optional, type Shape } from "../../types/checks/shape.ts";
import type { PolicyServerKeys } from "../../types/content/room_state_content.ts";
import type { Open } from "../../types/enums.ts";
import type { UserID } from "../../types/ids.ts";
import { isUserId, parseServerName } from "../../types/identifiers.ts";
import { encryptedOnly, MAX_SIZE } from "./discovery.ts";

/** Whom to ask for help with a homeserver. */
export interface ServerSupport {
  /** People, each with a user ID or an email address, or both. */
  contacts: SupportContact[];
  /** A page for users, by http or https. */
  support_page?: string;
}

/** Whom to ask. */
export interface SupportContact {
  /** Whom to invite to a room. */
  matrix_id?: UserID;
  /** Where to write to. */
  email_address?: string;
  /** What for: `m.role.admin`, `m.role.security`, and what later versions have. */
  role: Open<"m.role.admin" | "m.role.security">;
}

/** How a policy server signs. */
export interface PolicyServerInfo {
  /** Its public keys by algorithm, for `m.room.policy`. */
  public_keys: PolicyServerKeys;
}

/** Options of {@link ServerContactsAPI.getSupport}. */
export interface GetSupportOptions extends RequestOptions {
  /** Whose contacts: a server name. Default: the user's. */
  serverName?: string;
}

/** So many contacts nobody asks. */
const MAX_CONTACTS = 100;

const user = matching<UserID>("a user ID", isUserId);
const email = matching<string>(
  "an email address",
  /^[^\s@\p{Cc}\p{Cf}<>]{1,64}@[^\s@\p{Cc}\p{Cf}<>]{1,190}$/u,
);
const page = matching<string>("the address of a page", /^https?:\/\/[^\s\p{Cc}\p{Cf}]{1,2000}$/u);
const role = matching<string>("a role", /^[\w.-]{1,100}$/);
const key = matching<string>("a key in unpadded base64", /^[\w+/-]{43,200}$/);

const contacts: Shape<SupportContact[]> = list(
  object<SupportContact>({ matrix_id: optional(user), email_address: optional(email), role }),
);
const support = endpoint(
  "getSupport",
  "GET",
  "/.well-known/matrix/support",
  shaped(object<Partial<ServerSupport>>({ contacts: optional(contacts), support_page: optional(page) })),
  { auth: false },
);
const policyServer = endpoint(
  "getPolicyServer",
  "GET",
  "/.well-known/matrix/policy_server",
  shaped(object<PolicyServerInfo>({ public_keys: having("ed25519", map<PolicyServerKeys>(key)) })),
  { auth: false },
);

/** Operations that ask domains. They follow no redirect to plain http, and send no token. */
export interface ServerContactsAPI {
  /**
   * Gets the contacts of a homeserver's administrators, by its domain. What can't be a user ID, an email
   * address or the address of a page is left out: anybody can write there anything.
   *
   * @param options Which server, and request options.
   * @returns The contacts; undefined if the domain says nothing (404).
   * @throws {ServiceResponseError} If it answers with something else.
   * @throws {ValueError} If the server name can't be one.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#getwell-knownmatrixsupport | GET /.well-known/matrix/support}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   *
   * export async function reportTo(client: Client, serverName: string): Promise<string | undefined> {
   *   const { contacts = [] } = await client.getSupport({ serverName }) ?? {};
   *   return contacts.find(({ role }) => role === "m.role.security")?.email_address;
   * }
   * ```
   */
  getSupport(options?: GetSupportOptions): Promise<ServerSupport | undefined>;

  /**
   * Asks a domain for the keys of its policy server, which a room needs to have it vet events.
   *
   * @param serverName The policy server.
   * @param options Request options.
   * @returns The keys; undefined if the domain has no policy server that says them (404).
   * @throws {ServiceResponseError} If it answers with something else.
   * @throws {ValueError} If the server name can't be one.
   * @see
   * {@link https://spec.matrix.org/v1.19/client-server-api/#getwell-knownmatrixpolicy_server | GET /.well-known/matrix/policy_server}
   * @example
   * ```ts
   * import type { Client } from "@greenroom/matrix";
   * import type { RoomID } from "@greenroom/matrix/types";
   *
   * export async function vet(client: Client, roomId: RoomID, via: string): Promise<boolean> {
   *   const server = await client.getPolicyServer(via);
   *   if (server === undefined) return false;
   *   await client.sendStateEvent(roomId, "m.room.policy", { via, public_keys: server.public_keys });
   *   return true; // it counts while a user of that server is in the room
   * }
   * ```
   */
  getPolicyServer(serverName: string, options?: RequestOptions): Promise<PolicyServerInfo | undefined>;
}

/** Makes the operations that ask domains. */
export function serverContactsAPI(session: Session): ServerContactsAPI {
  const ask = async <Result>(
    which: Endpoint<string, Result>,
    serverName: string,
    options: RequestOptions | undefined,
  ): Promise<Result | undefined> => {
    const host = typeof serverName === "string" ? parseServerName(serverName)?.host : undefined;
    if (host === undefined) {
      throw new ValueError(
        `Cannot ${which.operation}: the server must be a server name like example.org; it is none`,
      );
    }
    const http = session.http[ELSEWHERE](
      `https://${host}`,
      MAX_SIZE,
      (send) => encryptedOnly(send, which.operation),
    );
    try {
      // Whom the client acts as, the query and the headers are for the homeserver alone.
      const {
        asUserId: _user,
        asDeviceId: _device,
        query: _query,
        headers: _headers,
        timestamp: _time,
        ...own
      } = options ?? {};
      return await http[CALL](which, { path: {} }, own);
    } catch (error) {
      if (error instanceof MatrixRequestError && error.status === 404) return undefined;
      throw error;
    }
  };
  return {
    async getSupport({ serverName, ...options } = {}) {
      const domain = serverName ?? await session.serverName(calledAs(options, "getSupport"));
      const found = await ask(support, domain, options);
      if (found === undefined) return undefined;
      const { contacts = [], support_page } = found;
      return {
        contacts: contacts.slice(0, MAX_CONTACTS).filter(({ matrix_id, email_address }) =>
          matrix_id ?? email_address
        ),
        ...(support_page !== undefined && { support_page }),
      };
    },
    getPolicyServer: async (serverName, options) => {
      const found = await ask(policyServer, serverName, options);
      return found && { public_keys: found.public_keys };
    },
  };
}
