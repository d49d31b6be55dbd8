/**
 * `greenroom appservice register`: the file by which a homeserver knows a bridge.
 *
 * @module
 */

import { createRegistration, registrationToYaml } from "../../appservice/mod.ts";
import { CliError, type Input } from "../io/mod.ts";
import { textOf, writePrivate } from "../project/mod.ts";

/** Makes the registration, with new tokens. */
export async function register({ args, values, flags, terminal }: Input): Promise<void> {
  const [id = "", url = "", serverName = ""] = args;
  const path = values.file ?? "registration.yaml";
  if (await textOf(path) !== undefined) {
    throw new CliError(
      `Cannot write ${path}: it is there, and may be in use; name another by --file, or remove it`,
    );
  }
  const registration = createRegistration({
    ...{ id, url, serverName, encryption: flags.has("encryption") },
    senderLocalpart: values.bot,
    userPrefix: values["user-prefix"],
    aliasPrefix: values["alias-prefix"],
  });
  await writePrivate(path, registrationToYaml(registration));
  terminal.note(`The registration is in ${path}, with two tokens: only you can read it.`);
  terminal.note("Give a copy to the homeserver (app_service_config_files of Synapse), and restart it.");
}
