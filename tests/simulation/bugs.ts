/**
 * Mistakes to put into a copy of the sources, to see that the simulator finds them: those that were
 * found in Greenroom so far, and others of their kind.
 *
 * Over 300 lines because it is one list, whose entries are looked up by eye.
 *
 * @module
 */

/** A mistake: a text that stands once in a file, and what stands there instead. */
export interface Bug {
  /** What goes wrong, in a sentence. */
  readonly name: string;
  /** The file, from the root of the repository. */
  readonly path: string;
  /** The text as it is. */
  readonly find: string;
  /** The text with the mistake. */
  readonly replace: string;
  /** Options of `simulate.ts` with which it is hunted, unless others are given. Default: none. */
  readonly worlds?: readonly string[];
}

/** All of them. */
export const BUGS: readonly Bug[] = [
  {
    name: "A crash loses the encrypted messages that it cut off",
    path: "src/actors/syncer/sync_position.ts",
    find: "handledBefore: since !== undefined && !isBack && ahead !== true && !catchesUp,",
    replace: "handledBefore: since !== undefined && ahead !== true,",
  },
  {
    name: "A crash between the keys of a response and its position loses the events",
    path: "src/actors/syncer/sync_position.ts",
    find: "const again = isBack || ahead === true\n",
    replace: "const again = isBack\n",
  },
  {
    name: "What came after the very first response is lost by a crash",
    path: "src/actors/syncer/sync_position.ts",
    find: "const again = isBack || ahead === true\n",
    replace: "const again = (isBack && since !== undefined) || ahead === true\n",
  },
  {
    name: "A response counts as handled before its handlers have settled",
    path: "src/actors/dispatcher/checkpoint.ts",
    find: "    await this.#settled(latest.batch);\n",
    replace: "",
  },
  {
    name: "A restart goes on from what was committed",
    path: "src/actors/syncer/sync_position.ts",
    find: "const since = goesOn ? nextBatch : handled;",
    replace: "const since = nextBatch;",
  },
  {
    name: "The very first response is not delivered again",
    path: "src/actors/syncer/sync_position.ts",
    find: 'const goesOn = nextBatch === dispatched || resume === "committed";',
    replace: 'const goesOn = handled === undefined || nextBatch === dispatched || resume === "committed";',
  },
  {
    name: "Gaps are not filled",
    path: "src/actors/syncer/sync_round.ts",
    find: "const limit = wanted === true ? DEFAULT_GAP_LIMIT : wanted;",
    replace: "const limit = wanted === true ? 1 : wanted;",
    worlds: ["--favour=say much"],
  },
  {
    name: "The next response is requested before the keys in this one are stored",
    path: "src/actors/syncer/sync_round.ts",
    find: "const mayAsk = ahead && toDevice.length === 0 && nextBatch !== since && !syncer.waits();",
    replace: "const mayAsk = ahead && nextBatch !== since && !syncer.waits();",
    worlds: ["--favour=another program sends a memo"],
  },
  {
    name: "A handler that has settled gets its event again after a crash",
    path: "src/actors/dispatcher/deliver.ts",
    find: "this.#settledBefore.has(scope.name)",
    replace: "this.#settledBefore.has(`${scope.name} `)",
  },
  {
    name: "A session is committed without the delivery that changed it",
    path: "src/actors/dispatcher/handler_sessions.ts",
    find: "    if (deliveryId !== undefined) group.settled.push(deliveryId);\n",
    replace: "",
  },
  {
    name: "A handler does not see what the one before has made of their session",
    path: "src/actors/dispatcher/handler_sessions.ts",
    find: '    kept.bytes = outcome.kind === "changed" ? outcome.bytes : undefined;\n',
    replace: '    kept.bytes ??= outcome.kind === "changed" ? outcome.bytes : undefined;\n',
  },
  {
    name: "Handlers of one session run side by side",
    path: "src/actors/dispatcher/handler_sessions.ts",
    find: "    try {\n      await before;\n",
    replace: "    try {\n",
  },
  {
    name: "A repeated handler sends under another transaction ID",
    path: "src/actors/dispatcher/delivery_scope.ts",
    find: 'return `gr-${(await this.#ids.hash(inClear))(JSON.stringify([...place, "key", key]))}`;',
    replace: "return `gr-${crypto.randomUUID()}`;",
  },
  {
    name: "A process that has lost its lease goes on writing",
    path: "src/store/device/lease.ts",
    find: "this.checks = [{ key: this.#keys.owner(), versionstamp }];",
    replace: "this.checks = [];",
  },
  {
    name: "A device is taken while its owner renews the lease",
    path: "src/store/device/lease.ts",
    find: "if (holder.until <= takenAt || lock.isEndOf(holder.id)) {",
    replace: "if (holder.until <= takenAt + duration || lock.isEndOf(holder.id)) {",
  },
  {
    name: "A commit that failed is taken for one that succeeded",
    path: "src/actors/store/writer.ts",
    find: "await this.#apply(changes, parting).catch((error) => this.#applyOthers(changes, error));",
    replace: "await this.#apply(changes, parting).catch(() => {});",
  },
  {
    name: "The ratchet is not stored with the message that it encrypted",
    path: "src/crypto/sharing/group_sessions.ts",
    find: "tx.set(key, { ...record, state: session.state(), messages: record.messages + 1 });",
    replace: "tx.onCommit(() => {});\n    tx.set(key, { ...record, messages: record.messages + 1 });",
  },
  {
    name: "The count of a session's messages is not stored",
    path: "src/crypto/sharing/group_sessions.ts",
    find: "state: session.state(), messages: record.messages + 1 }",
    replace: "state: session.state() }",
  },
  {
    name: "Who was banned counts as a member",
    path: "src/crypto/sharing/encrypted_rooms.ts",
    find: 'membership === "join" || membership === "invite" ? membership : undefined;',
    replace:
      'membership === "join" || membership === "invite" ? membership : membership === "ban" ? "join" : undefined;',
  },
  {
    name: "A session goes on when the plan finds that a member has left",
    path: "src/crypto/sharing/share_plan.ts",
    find:
      'return [...theirs.values()].some((share) => share.devices.some(mayHaveKey)) ? "member-left" : undefined;',
    replace: "return undefined;",
  },
  {
    name: "A session goes on when a device with its key, or its user, is gone",
    path: "src/crypto/sharing/share_records.ts",
    find: 'return share.kind !== "withheld";',
    replace: "return false;",
  },
  {
    name: "A session that must not be used any more is used",
    path: "src/crypto/sharing/outbound_record.ts",
    find: "if (record.invalid !== undefined) return record.invalid;",
    replace: "",
    worlds: ["--history", "--favour=kick"],
  },
  {
    name: "A member who joins later gets the key from the beginning",
    path: "src/crypto/sharing/share_batch.ts",
    find: 'return before === undefined || before.kind === "withheld" ? record.messages : before.index;',
    replace: "return 0;",
  },
  {
    name: "A device whose message the server refused counts as having the key",
    path: "src/crypto/sharing/outbound_sessions.ts",
    find: '? { ...share, kind: "failed", at }',
    replace: "? share",
  },
  {
    name: "Devices that changed are not asked for before a message",
    path: "src/crypto/sharing/key_sharing.ts",
    find: 'if (!tolerate.keysQuery && devices.isDirty(users)) return { needs: "keysQuery" };',
    replace: "",
  },
  {
    name: "A user who joined is not among the recipients",
    path: "src/crypto/sharing/encrypted_rooms.ts",
    find: "else if (changes.size > 0) this.#members.change(roomId, changes);",
    replace: "",
  },
  {
    name: "Where members are left out of a response, they are not asked for again",
    path: "src/crypto/sharing/encrypted_rooms.ts",
    find: "const forget = lossy || left.has(this.#own) || hasEntered;",
    replace: "const forget = left.has(this.#own) || hasEntered;",
  },
  {
    name: "An encrypted event is encrypted again for each try",
    path: "src/crypto/sharing/outbound_sessions.ts",
    find: "if (kept !== undefined) return { content: kept.content };",
    replace: "",
  },
  {
    name: "A room that becomes encrypted is noticed only by a sync",
    path: "src/client/encrypting_api.ts",
    find: "if (known === true || crypto === undefined) return known ?? false;",
    replace: "if (known !== undefined || crypto === undefined) return known ?? false;",
  },
  {
    name: "A change of devices that comes during a query is lost",
    path: "src/crypto/devices/tracked_users.ts",
    find: "const next = { ...tracking, checked: sequence };",
    replace: "const next = { ...tracking, checked: Math.max(sequence, tracking.changed) };",
  },
  {
    name: "One-time keys that are used up are not replaced",
    path: "src/crypto/account/own_keys.ts",
    find: "if (oneTimeKeys > 0) this.account.generateOneTimeKeys(tx, oneTimeKeys);",
    replace: "",
  },
  {
    name: "Messages to devices are given up when the server can't be reached",
    path: "src/crypto/requests/outbox.ts",
    find: 'if (status < 500) return "later";',
    replace: 'if (status < 500) return "never";',
    worlds: ["--favour=a device has no network"],
  },
  {
    name: "A session that is lost is never made anew",
    path: "src/crypto/olm/olm_channels.ts",
    find: "await this.claims.want(tx, [device], { wedged: true });",
    replace: "",
    worlds: ["--favour=hands one-time keys out twice"],
  },
  {
    name: "A device that lost messages gets no key again",
    path: "src/crypto/sharing/share_plan.ts",
    find: "if (await olm.wedgingIndex(tx, device) > before.wedging) return undefined;",
    replace: "",
  },
  {
    name: "Messages to devices are forgotten by a restart",
    path: "src/crypto/requests/outbox.ts",
    find: 'for (const [, entry] of await tx.list<OutboxEntry>("outbox")) this.#put(entry);',
    replace: "",
  },
  {
    name: "Devices that need a session are forgotten by a restart",
    path: "src/crypto/olm/olm_claims.ts",
    find: "this.#wanted.set(wantedKey(wanted).id, wanted);\n    }\n  }",
    replace: "}\n  }",
  },
  {
    name: "An event without its key is not kept",
    path: "src/crypto/megolm/undecryptable_events.ts",
    find: "tx.set(undecryptableKey(kept), record);",
    replace: "",
  },
  {
    name: "An event without its key is not tried when the key comes",
    path: "src/crypto/engine/receive_sync.ts",
    find: 'const tried = undecryptable.isUntried ? "all" : newKeys;',
    replace: 'const tried = undecryptable.isUntried ? "all" as const : [];',
  },
  {
    name: "What an earlier process has left is not tried",
    path: "src/crypto/megolm/undecryptable_events.ts",
    find: "    this.#untried = true;\n    const records",
    replace: "    this.#untried = false;\n    const records",
  },
  {
    name: "A ciphertext under another event is read",
    path: "src/crypto/megolm/replay_log.ts",
    find: 'if (owner !== "") return owner === event_id && block.times[place] === origin_server_ts;',
    replace: 'if (owner !== "") return true;',
  },
  {
    name: "An event that the server shows again is handled again",
    path: "src/actors/syncer/shown_events.ts",
    find: "return hasName(shown, name) || names.size",
    replace: "return names.size",
    worlds: ["--favour=shows an event again"],
  },
  {
    name: "A message counts that came in clear into an encrypted room",
    path: "src/actors/syncer/sync_batch.ts",
    find: "else if (encrypted && isClear(event) && !acceptClear(event)) ignored.add(index);",
    replace: "",
  },
  {
    name: "Keys are told to any device that asks",
    path: "src/crypto/requests/key_answers.ts",
    find: "const from = trusted ? 0 : await outbound.sharedAt(tx, roomId, sessionId, device);",
    replace: "const from = trusted ? 0 : await outbound.sharedAt(tx, roomId, sessionId, device) ?? 0;",
  },
  {
    name: "A key that came in clear is taken",
    path: "src/crypto/engine/receive_to_device.ts",
    find: 'return ENCRYPTED_ONLY.has(type) ? "refused" : "clear";',
    replace: 'return "clear";',
  },
  {
    name: "A client that is closed waits for a request that is never answered",
    path: "src/actors/crypto/engine_crypto.ts",
    find: "await this.#requests.stop();",
    replace: "await this.#requests.idle();",
  },
  {
    name: "A handler that fails because the token died has settled",
    path: "src/actors/dispatcher/deliver.ts",
    find: "if (!this.#options.isOver()) return",
    replace: "if (!this.#options.isOver() || data !== undefined) return",
    worlds: ["--favour=token expires"],
  },
  {
    name: "A wake is answered before what it tells of is recorded",
    path: "src/client/passes.ts",
    find: "handled.push(...round.ids);",
    replace: "this.#note(round.ids);",
    worlds: ["--favour=passes"],
  },
  {
    name: "A pass that handles the first response once more does not ask for what came later",
    path: "src/client/passes.ts",
    find: "round.isCut || ",
    replace: "",
    worlds: ["--favour=a new bot of which no process stays"],
  },
  {
    name: "Events of sessions that are made up hold up the keys that are to be backed up",
    path: "src/crypto/backup/backup_requests.ts",
    find: "      return { settled: true };\n",
    replace: "      return {};\n",
  },
  {
    name: "A key counts as backed up before the upload was acknowledged",
    path: "src/crypto/backup/backup_requests.ts",
    find: "await due.done(tx, useless);",
    replace: "await due.done(tx, marked);",
  },
  {
    name: "A new version of the backup gets only the keys that come later",
    path: "src/crypto/backup/key_backup.ts",
    find: "const scanned = isSame ? used.scanned : undefined;",
    replace: "const scanned = used?.scanned;",
  },
  {
    name: "The signature of a device whose keys were published before is not uploaded",
    path: "src/crypto/requests/own_signature.ts",
    find: "return this.#shown !== undefined && !ownIdentity.isShown(this.#shown);",
    replace: "return false;",
    worlds: ["--trust"],
  },
  {
    name: "Two devices that begin at once publish different identities",
    path: "src/client/trust/new_identity.ts",
    find: "isStored ? made : await storedSince(identity, storage)",
    replace: "made",
    worlds: ["--trust", "--favour=two devices of a new user begin at once, and one is lost"],
  },
  {
    name: "A step's result is not stored",
    path: "src/bot/run.ts",
    find: "      step.value = value;\n",
    replace: "      step.value = undefined;\n",
  },
  {
    name: "A reminder is removed before it is sent",
    path: "src/bot/timers/timers.ts",
    find: "    try {\n      await this.#client.runTask(`timer ",
    replace: "    try {\n      await sessions.end(TIMERS, key);\n      await this.#client.runTask(`timer ",
  },
  {
    name: "What is said at a time is said again after a crash",
    path: "src/bot/timers/timers.ts",
    find: "runTask(`timer ${nameOf(key)}`,",
    replace: "runTask(`timer ${nameOf(key)} ${clock.now()}`,",
    worlds: ["--kit"],
  },
  {
    name: "What is due is done before it is due",
    path: "src/bot/timers/timers.ts",
    find: "if (due > clock.now()) return Math.min(next, due);",
    replace: "if (due > clock.now() + 5_000) return Math.min(next, due);",
  },
  {
    name: "An answer is given to all questions",
    path: "src/bot/conversations/conversations.ts",
    find: "by: run }) !== undefined) {\n          return true;",
    replace: "by: run }) !== undefined) {\n          continue;",
  },
  {
    name: "A question waits for ever",
    path: "src/bot/conversations/conversations.ts",
    find: "timers.add(context, wait.until, late)",
    replace: "timers.add(context, wait.until + 86_400_000, late)",
  },
  {
    name: "What functions made of sessions is not committed",
    path: "src/bot/conversations/conversations.ts",
    find: "      this.#options.sessions.commit(run);\n",
    replace: "",
  },
  {
    name: "Two that end a conversation say so twice",
    path: "src/bot/conversations/conversations.ts",
    find: "timer, `${id} ${wait.at}`);",
    replace: "timer);",
    worlds: [
      "--kit",
      "--favour=a bot is thrown out and invited again while it is away, and ends when it says what has ended",
    ],
  },
  {
    name: "The edits of a text that is streamed again are taken for those of before",
    path: "src/bot/context/stream.ts",
    find: ", { key: `${name} ${crypto.randomUUID()}` });",
    replace: ");",
    worlds: ["--kit", "--favour=a bot ends in the middle of a text that grows"],
  },
  {
    name: "What is due does not wait for what was said in time",
    path: "src/bot/bot.ts",
    find: "    await asks.promise;\n",
    replace: "",
    worlds: ["--kit", "--favour=a bot ends when it has asked, and its second process waits for the device"],
  },
  {
    name: "A pass takes as long as what is due",
    path: "src/bot/bot.ts",
    find: "    if (deadline === undefined) {\n",
    replace: "    if (deadline !== 0) {\n",
  },
  {
    name: "Who speaks in a room that was encrypted later is not followed",
    path: "src/crypto/engine/receive_sync.ts",
    find: "  devices.track(tx, new Set(speakers.map(({ sender }) => sender)));\n",
    replace: "",
    worlds: ["--favour=a room is encrypted in which somebody only reads"],
  },
  {
    name: "A key out of the backup counts as sent by the device that it names",
    path: "src/crypto/backup/session_data.ts",
    find: 'source: "backup" };',
    replace: 'source: "direct" };',
  },
  {
    name: "A device whose keys the server has lost publishes them again only when it starts",
    path: "src/crypto/engine/receive_sync.ts",
    find: '  if (found === "lost") devices.changed(tx, [parts.context.own.userId]);\n',
    replace: '  if (found === "lost") tx.onCommit(() => {});\n',
    worlds: ["--favour=the server is set back"],
  },
  {
    name: "A filter that the server has forgotten is not uploaded again",
    path: "src/actors/syncer/sync_reader.ts",
    find:
      "      if (!isRefused(error)) throw error;\n      return await request(await this.#upload(filter));\n",
    replace: "      throw error;\n",
    worlds: ["--favour=the server is set back"],
  },
  {
    name: "A dehydrated device is replaced before what it has received was read",
    path: "src/client/dehydration/ensure_dehydrated.ts",
    find: "    if (await rehydrate(parts, shown)) break;\n",
    replace: "    break;\n",
  },
  {
    name: "A transaction is answered before it is durable",
    path: "src/appservice/homeserver_door.ts",
    find: "const arrival = await inbox.add(id, transaction).catch((error) => {",
    replace:
      'const arrival = await Promise.race([inbox.add(id, transaction), Promise.resolve("new" as const)]).catch((error) => {',
  },
  {
    name: "A transaction that the homeserver repeats is kept again",
    path: "src/appservice/inbox.ts",
    find: '      if (head.ids.includes(name)) return "known";\n',
    replace: "",
  },
  {
    name: "The inbox forgets the number up to which it was handled",
    path: "src/appservice/inbox.ts",
    find: "return { head: { ...head, removed: end }, mutations };",
    replace: "return { head: { ...head, last: 0, removed: 0 }, mutations };",
  },
  {
    name: "Who of an application service was thrown out counts as a member",
    path: "src/appservice/ghosts.ts",
    find: "      else this.#joined.remove(place);\n",
    replace: "",
    worlds: ["--service", "--favour=a ghost of a service is thrown out"],
  },
  {
    name: "What another process of an application service has taken is not asked for",
    path: "src/appservice/transaction_feed.ts",
    find: "    if (since !== this.#returned) this.#options.onOthers();\n",
    replace: "",
    worlds: ["--service", "--favour=a ghost is thrown out while another instance takes what comes"],
  },
  {
    name: "The device of a ghost that the homeserver has deleted is not made anew",
    path: "src/appservice/acting_clients.ts",
    find: "    this.#options.onDeviceLost(userId);\n",
    replace: "",
  },
  {
    name: "The queue of an application service's device is not read when a process begins",
    path: "src/appservice/queue_watch.ts",
    find: "return this.#looked === undefined || elapsed",
    replace: "return this.#looked !== undefined && elapsed",
  },
  {
    name: "Two copies of a device use the same indices and notice nothing",
    path: "src/crypto/engine/rollback.ts",
    find: 'new Set(["MISSING_KEY", "REPLAYED"])',
    replace: "new Set<string>()",
    worlds: ["--favour=a copy of a disk is in use, too"],
  },
  {
    name: "A client acts as its user with the token of another",
    path: "src/api/session.ts",
    find: 'if (this.mxid !== "" && this.mxid !== user_id) throw',
    replace: 'if (this.mxid === "" && user_id === "@nobody:localhost") throw',
  },
  {
    name: "Sessions are shared with who is invited that their senders have not allowed to be",
    path: "src/crypto/history/key_bundle.ts",
    find: "const room_keys = usable.filter(({ sharedHistory }) => sharedHistory).map(",
    replace: "const room_keys = usable.map(",
    worlds: [
      "--history",
      "--favour=a room hides its history while people talk, and somebody is invited later",
    ],
  },
  {
    name: "History of an inviter is forgotten before it was taken in",
    path: "src/crypto/history/history_intake.ts",
    find: "      const id = uniqueId();\n",
    replace: "      const id = uniqueId();\n      this.#drop(tx, pair);\n",
    worlds: ["--history", "--favour=a member invites somebody, and shares the history"],
  },
  {
    name: "History is taken of a member who has not invited",
    path: "src/crypto/history/history_intake.ts",
    find: "this.#announced.values.filter((announced) => accepted.includes(nameOf(announced)));",
    replace:
      "this.#announced.values.filter(({ roomId }) => accepted.some((name) => name.endsWith(` ${roomId}`)));",
  },
  {
    name: "A one-time key for who is to be told of history is claimed once",
    path: "src/client/history/share_history.ts",
    find: "    if (failure !== undefined && await hasWaited(parts, failure, restarts)) continue;\n",
    replace: "",
    worlds: ["--history", "--favour=a member invites somebody, and shares the history"],
  },
  {
    name: "A session goes on when a device is gone that may have its key by an invitation",
    path: "src/crypto/sharing/outbound_sessions.ts",
    find: "      await this.#endShared(tx, userId);\n",
    replace: "",
    worlds: ["--history", "--favour=who was invited deletes a device before anybody speaks"],
  },
  {
    name: "Messages that share keys are given up when the device of their ghost is gone",
    path: "src/actors/crypto/request_failure.ts",
    find: "const status = error instanceof UnknownDeviceError ? 401 : error.status;",
    replace: "const { status } = error;",
    worlds: ["--service", "--favour=the homeserver deletes the device of a ghost"],
  },
  {
    name: "Who is followed is not asked about when a device that nothing has announced sends a key",
    path: "src/crypto/olm/olm_channels.ts",
    find: "    if (device === undefined) this.#lookUps.lookUpFollowed(tx, peer.userId);\n",
    replace: "",
    worlds: [
      "--vouched",
      "--favour=a device begins on a server that was set back, of which somebody is not told",
    ],
  },
  {
    name: "What a device shows of itself that is gone is not looked at",
    path: "src/crypto/megolm/session_owner.ts",
    find: "(tx, userId, senderKey, credentials)",
    replace: "(tx, userId, senderKey)",
    worlds: ["--vouched", "--favour=a user loses all devices, and has the dehydrated one"],
  },
  {
    name: "Who says what is not trusted is not looked up",
    path: "src/crypto/engine/receive_sync.ts",
    find: "  devices.track(tx, distrusted);\n",
    replace: "",
    worlds: ["--service", "--vouched"],
  },
  {
    name: "A conversation that begins while the bot is thrown out waits on",
    path: "src/bot/conversations/conversations.ts",
    find:
      'if (run.left?.has(wait.room) === true) this.#endSoon(context, entry, "left");\n    else if (old === undefined)',
    replace: "if (old === undefined)",
    worlds: ["--kit", "--favour=a bot ends while it puts a question, and is thrown out and invited again"],
  },
  {
    name: "What was in hand before a question is taken for its answer after a crash",
    path: "src/bot/conversations/waits.ts",
    find: " && before?.includes(deliveryId) !== true",
    replace: "",
    worlds: ["--kit", "--favour=somebody speaks while a bot puts a question to all, and it ends"],
  },
  {
    name: "A yes or a no to a confirmation is taken for something else",
    path: "src/bot/conversations/waits.ts",
    find: "wait.reactionTo === place.reactionTo",
    replace: "wait.reactionTo !== place.reactionTo",
    worlds: ["--kit"],
  },
  {
    name: "Handlers begin, one after the other, when the store has failed",
    path: "src/actors/dispatcher/deliver.ts",
    find: "return scope !== undefined &&",
    replace: "return false &&",
    worlds: ["--service", "--favour=the store fails while a service answers several"],
  },
  {
    name: "Another answer is taken after a crash than before",
    path: "src/bot/conversations/conversation_records.ts",
    find: "if (deliveryId === undefined ||",
    replace: "if (deliveryId !== undefined ||",
    worlds: ["--kit", "--favour=all answer a question at once, and the bot ends when it has taken an answer"],
  },
  {
    name: "What a ghost was to answer is lost when its store fails",
    path: "src/appservice/acting_clients.ts",
    find: "if (isHandling && cause !== undefined) this.#options.onStoreLost(cause);",
    replace: "",
    worlds: ["--service", "--favour=the store fails while a service answers several"],
  },
  {
    name: "A handler has settled when what a ghost acts with has ended, and nobody was told why",
    path: "src/appservice/acting_clients.ts",
    find: "acting.storeError ?? stopped(userId, error)",
    replace: "acting.storeError",
    worlds: ["--service", "--favour=the store fails while a service answers several"],
  },
  {
    name: "What a ghost was to answer is lost when the token is dead",
    path: "src/appservice/appservice.ts",
    find: "if (error instanceof UnknownTokenError) this.#feed.fails?.(error);",
    replace: "",
    worlds: ["--service", "--favour=the homeserver does not know the token of a service for a while"],
  },
  {
    name: "An application service goes on, and handles nothing, when its own user was refused",
    path: "src/appservice/transaction_feed.ts",
    find: "    await checkToken();\n",
    replace: "",
    worlds: ["--service", "--favour=the homeserver does not know the token of a service for a while"],
  },
  {
    name: "After a restart only the first response counts as repeated",
    path: "src/actors/syncer/sync_pipeline.ts",
    find: "again.until !== nextBatch && { again }",
    replace: "again.moved === true && { again }",
    worlds: ["--quirk=cached answers,late syncs", "--favour=a device is started again and again"],
  },
  {
    name: "What stands before the oldest remembered event counts as shown",
    path: "src/actors/syncer/shown_events.ts",
    find: "  return found.length === 0 ? NOTHING : new Set(found);\n",
    replace:
      "  const last = events.findLastIndex((event) => shown.startsWith(` ${nameOf(event)} `));\n  return found.length === 0 ? NOTHING : new Set([...events.slice(0, last + 1), ...found]);\n",
    worlds: ["--quirk=shown again"],
  },
  {
    name: "A gap ends at the first event that was shown",
    path: "src/actors/syncer/gap_start.ts",
    find: "    if (this.#doubtful === undefined && first < 0) return { events: page, isBefore: false };\n",
    replace:
      "    if (first < 0) return { events: page, isBefore: false };\n    if (first >= 0) return { events: page.slice(0, first), isBefore: true };\n",
    worlds: ["--quirk=shown again,odd pages,empty timelines,limited without need"],
  },
  {
    name: "Of an own join that comes twice the last place counts",
    path: "src/actors/syncer/own_stay.ts",
    find: "isOwnMember(event, own) && !room.shown.has(event);",
    replace: "isOwnMember(event, own);",
    worlds: ["--quirk=own join twice,late syncs"],
  },
  {
    name: "Each sync without key counts uploads one-time keys",
    path: "src/crypto/account/key_counts.ts",
    find: "return Math.max(count, answered.count);",
    replace: "return count;",
    worlds: ["--quirk=no key counts"],
  },
];
