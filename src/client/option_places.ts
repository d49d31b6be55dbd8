/**
 * Where operations take options. A file of its own because `deno task members` writes it.
 *
 * @module
 */

/** The names of operations, by the number of arguments in front of the options. */
export const OPTION_PLACES: readonly string[] = [
  "listAccountData getRoomDirectory setPresence getPushRules createRoom getJoinedRooms register getThirdPartyIds uploadKeys getDevices sync versions whoami getLoginFlows login getLoginToken createMedia getMediaRepoConfig getCapabilities getPushers getThirdPartyProtocols getOpenIdToken getTurnServer iterateRoomDirectory listDelayedEvents getInvitePermissions getNotifications getSupport",
  "getMembers getJoinedMembers getState getAccountData deleteAccountData getRoomTags removeRoomAlias getRoomAlias getRoomAliases getRoomDirectoryVisibility searchUsers joinRoom knockRoom joinRoomById leaveRoom forgetRoom getPresence getProfile getDisplayname setDisplayname getAvatarUrl setAvatarUrl deleteProfileField setTyping isUsernameAvailable isRegistrationTokenValid changePassword queryKeys claimKeys getDevice deleteDevice deleteDevices createFilter getFilter supports uploadMedia downloadMedia downloadMediaStream downloadThumbnail getUrlPreview getThreads getSpaceHierarchy getRoomSummary reportRoom reportUser searchMessages setPusher getThirdPartyProtocol getThirdPartyLocations getThirdPartyLocationsOfAlias getThirdPartyUsers getThirdPartyUsersOfId iterateThreads iterateSpaceRooms cancelDelayedEvent restartDelayedEvent sendDelayedEvent getMutualRooms setInvitePermissions requestEmailToken requestPhoneToken addThirdPartyId bindThirdPartyId unbindThirdPartyId removeThirdPartyId isUserLocked isUserSuspended getPolicyServer isRoomEncrypted queue",
  "getStateEvent setAccountData getRoomTag setRoomTag removeRoomTag addRoomAlias setRoomDirectoryVisibility inviteUser kickUser banUser unbanUser redact getEvent getProfileField setProfileField sendReceipt setFullyReadMarker updateDevice sendToDevice uploadMediaTo getRelations upgradeRoom getEventContext reportEvent removePusher iterateMessages iterateRelations withUia getThreadSubscription setThreadSubscription removeThreadSubscription setUserLocked setUserSuspended sendMessage sendText sendNotice sendEmote sendFile sendImage",
  "sendStateEvent sendMessageEvent fillMemberEvent sendMemberEvent getMessages getPushRule removePushRule isPushRuleEnabled getPushRuleActions timestampToEvent createDelayedEvent edit sendSticker react",
  "setPushRule setPushRuleEnabled setPushRuleActions sendToOneDevice",
];
