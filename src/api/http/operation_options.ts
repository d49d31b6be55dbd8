/**
 * The options of all operations.
 *
 * @module
 */

const NAMES =
  "additionalCreators after aliasLocalpart allowRemote alone animated appId asDeviceId asUserId at " +
  "authentication before body checkCurrent clearAccessToken clock conditions creationContent criteria " +
  "customRequestFields deviceId deviceKeys deviceName direction disableEncryption erase eventType " +
  "events extraContent extraFields fallbackKeys fetch fields fileName fileType filename filter filterId " +
  "filterJson format from fromToken fullState headers height html idServer idempotent identifier " +
  "include includeAllNetworks info inhibitLogin initialState invitees isDirect key kind limit log " +
  "loginType logoutDevices masterKey maxDepth maxMemory maxRetries maxSize membership mimeType msgtype " +
  "name nextBatch notMembership onProgress onRecoveryKey oneTimeKeys override passphrase password path " +
  "pattern powerLevelContentOverride presence preset privateReadReceipt query raise404 readReceipt " +
  "reason receiptType recoveryKey recurse refreshToken relType relatesTo requestTimeout resizeMethod " +
  "retry roomId roomTypes roomVersion searchQuery selfSigningKey server servers setPresence signal " +
  "since size stateKey status storage storeAccessToken suggestedOnly text thirdPartyInstanceId " +
  "thirdPartySigned threadId thumbnail timeout timestamp to toToken token topic txnId updateHsUrl userAgent " +
  "useStateAfter userSigningKey username version visibility width";

/** Their names, to find what was meant by one that there is not. */
export const OPERATION_OPTIONS: readonly string[] = NAMES.split(" ");
