/**
 * The bot's folder, and the account that its settings name.
 *
 * @module
 */

export {
  addressOf,
  existingStore,
  followed,
  isLoggedIn,
  keyIn,
  keyOrNew,
  openEncrypted,
  openPlain,
  openStore,
  removeStore,
  serverOf,
  tokensOf,
} from "./account.ts";
export { isMovedAway, moveAll } from "./moving.ts";
export {
  atEnding,
  checkNamesOf,
  checkNew,
  denoJsonIn,
  ENV_FILE,
  jsonIn,
  needed,
  readFile,
  readSettings,
  recoveryKeyOf,
  refuseFromEnvironment,
  type Settings,
  textOf,
  valueAt,
  writePrivate,
  writePrivateStream,
  writeSettings,
} from "./settings.ts";
export { filesOf, type Project, VERSION } from "./templates.ts";
