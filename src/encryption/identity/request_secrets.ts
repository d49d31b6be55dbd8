/**
 * Asks the user's other devices for the secrets that this one does not have:
 * `client.crypto.requestSecrets()`.
 *
 * @module
 */

import type { IdentityPort } from "./identity_port.ts";
import type { ClientAPI } from "../../api/api.ts";
import type { AskedSecrets } from "../../crypto/secret_requests/secret_requests.ts";
import { MatrixError } from "../../errors/matrix_error.ts";
import { latestVersion } from "../backup/key_backup_parts.ts";

/** What it works with. */
export interface RequestSecretsParts {
  /** The own identity. */
  readonly identity: Pick<IdentityPort, "look" | "requestSecrets">;
  /** The operations. */
  readonly api: Pick<ClientAPI, "getKeyBackupVersion">;
}

/** Asks, if there are own devices that are verified. The key of the backup is that of the version of now. */
export async function requestSecrets({ identity, api }: RequestSecretsParts): Promise<AskedSecrets> {
  await identity.look();
  const backup = await latestVersion(api, {}).catch((error) => {
    if (error instanceof MatrixError) return undefined; // the private keys can be asked for without it
    throw error;
  });
  return await identity.requestSecrets({ backup });
}
