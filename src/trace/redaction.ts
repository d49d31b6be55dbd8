/**
 * What of an event a trace has: its shape, without what was said and by whom.
 *
 * @module
 */

import { RecentMap } from "../base/recent_map.ts";
import { ValueError } from "../errors/matrix_error.ts";
import { isJsonObject, type JsonObject } from "../types/json.ts";

/** A word that stays in texts: the word itself, or an expression that fits all of it. */
export type KeptWord = string | RegExp;

/** What IDs are called in a trace, by what they begin with. */
const NAMES: Readonly<Record<string, (count: number) => string>> = {
  "@": (count) => `@u${count}:trace`,
  "!": (count) => `!r${count}:trace`,
  "$": (count) => `$e${count}`,
  "#": (count) => `#a${count}:trace`,
  "m": (count) => `mxc://trace/m${count}`,
};

/** What may be an ID in a text. */
const ID = /(?:mxc:\/\/|[@#!$])[^\s"'<>()]{1,255}/g;
/** An ID of the newer rooms and events: a hash. */
const HASH = /^[!$][\w-]{43}$/;
const PUNCTUATION = ".,;:!?";
/** A link to a user, room or event; what it leads to is encoded. */
const LINK = /https:\/\/matrix\.to\/#\/[^\s"'<>()]{1,1000}/g;
const LINK_START = "https://matrix.to/#/";
/** What a text of HTML is made of beside words. */
const MARKUP = /<\/?[a-z][a-z0-9]{0,19}(?:\s[^<>]{0,2000})?\/?>|&(?:amp|lt|gt|quot|nbsp|#39);/gi;
const TAG = /^<(\/?)([a-z][a-z0-9]*)/i;
/** The elements that messages may have. */
const TAGS = new Set(
  ("a b blockquote br caption code del details div em font h1 h2 h3 h4 h5 h6 hr i img li mx-reply ol p pre s " +
    "span strong sub summary sup table tbody td th thead tr u ul").split(" "),
);
/**
 * An emoji that is no letter, as a group; or what does not stay beside these,
 * ASCII punctuation and white space.
 */
const SHAPED =
  /((?![™ℹⓂ㊗㊙\u{1F100}-\u{1F2FF}])\p{Extended_Pictographic}[\u{1F3FB}-\u{1F3FF}\u200D\uFE0F]{0,3})|[^\s!-/:-@[-`{-~]/gu;
/** Members whose text says how an event is read. */
const WORDS = new Set(
  ("algorithm format guest_access history_visibility join_rule kind membership method mimetype msgtype preset " +
    "rel_type room_version type").split(" "),
);
/** What they say, beside names of the specification and types of media. */
const VALUES = new Set(
  ("ban can_join forbidden invite invited join joined knock knock_restricted leave private public restricted " +
    "shared world_readable private_chat public_chat trusted_private_chat 1 2 3 4 5 6 7 8 9 10 11 12 " +
    "m.megolm.v1.aes-sha2 m.olm.v1.curve25519-aes-sha2 org.matrix.custom.html " +
    "org.matrix.msc3381.poll.disclosed org.matrix.msc3381.poll.undisclosed").split(" "),
);
const NAME = /^m\.[a-z_.]{1,60}(?:v1)?$/;
const MEDIA_TYPE =
  /^(?:image\/(?:apng|avif|bmp|gif|heic|heif|jpeg|jpg|png|svg\+xml|tiff|webp)|(?:audio|video)\/(?:3gpp|aac|flac|matroska|mp4|mpeg|ogg|opus|quicktime|wav|webm|x-m4a|x-matroska|x-wav)|text\/(?:calendar|css|csv|html|javascript|markdown|plain|vcard|xml)|application\/(?:gzip|javascript|json|octet-stream|ogg|pdf|rtf|x-7z-compressed|x-tar|xml|zip))$/;
/** Members whose number says how large something is, or how many may be chosen. */
const SIZES = new Set("duration h max_selections size w".split(" "));
const POWER_LEVELS = "m.room.power_levels";
/** Members of power levels whose number stays, too. */
const LEVELS = new Set(
  "ban events_default invite kick redact state_default users_default".split(" "),
);
/** Objects in power levels all of whose numbers stay. */
const LEVELS_OF = new Set(["users", "events", "notifications"]);
const KEY = /^[\w.-]{1,100}$/;
/** Names of members whose digits stay. */
const KNOWN_KEY = /^(?:sha256|org\.matrix\.msc\d{4}[a-z_.]{0,60})$/;
/** How many IDs have names: one that was not seen for that long gets another. */
const MAX_NAMES = 100_000;
/** How deep the content of an event may be; what is deeper is left out. */
const MAX_DEPTH = 20;
/** How many members of an object whose names have one shape stay, beside the first. */
const MAX_TILDES = 100;

/** Where a value is. */
interface Place {
  readonly key: string;
  /** The name of the object that it is in. */
  readonly parent: string;
  readonly depth: number;
  /** Whether it is in power levels. */
  readonly isLevels: boolean;
}

/** Takes what is private out of events, and calls the same thing the same each time. */
export class Redaction {
  readonly #keep: readonly KeptWord[];
  readonly #names = new RecentMap<string, string>(MAX_NAMES);
  readonly #counts = new Map<string, number>();

  /** @param keep Words that stay. */
  constructor(keep: readonly KeptWord[]) {
    this.#keep = keep;
  }

  /** Has an ID called something from now on. */
  call(id: string, name: string): void {
    this.#names.set(id, name);
  }

  /** Returns the new name of an ID. */
  id(id: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const kind = Object.hasOwn(NAMES, id.charAt(0)) ? id.charAt(0) : "$";
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const name = NAMES[kind]?.(count) ?? "";
    this.#names.set(id, name);
    return name;
  }

  /** The content of an event of a type. */
  content(content: JsonObject, type: string): JsonObject {
    return this.#object(content, { key: "", parent: "", depth: 0, isLevels: type === POWER_LEVELS });
  }

  /** A text: letters are `x` or `X`, digits `0`; IDs have their names, and some words stay. */
  text(text: string): string {
    return inParts(text, LINK, {
      found: (link) => this.#link(link),
      between: (words) => this.#named(words),
    });
  }

  #named(text: string): string {
    return inParts(text, ID, {
      take: idIn,
      found: (id) => this.id(id),
      between: (words) => this.#words(words),
    });
  }

  #words(text: string): string {
    return text.replace(/\S+/g, (word) => this.#isKept(word) ? word : shapeOf(word));
  }

  #isKept(word: string): boolean {
    return this.#keep.some((kept) =>
      typeof kept === "string" ? kept === word : word.match(kept)?.[0] === word
    );
  }

  #link(link: string): string {
    const [target = ""] = link.slice(LINK_START.length).split("?");
    const parts = target.split("/").map((part) => encodeURIComponent(this.#named(decoded(part))));
    return `${LINK_START}${parts.join("/")}`;
  }

  #html(html: string): string {
    return inParts(html, MARKUP, {
      found: (markup) => this.#markup(markup),
      between: (text) => this.text(text),
    });
  }

  #markup(markup: string): string {
    if (!markup.startsWith("<")) return markup;
    const [, slash = "", tag = ""] = TAG.exec(markup) ?? [];
    if (!TAGS.has(tag.toLowerCase())) return shapeOf(markup);
    const [link] = markup.match(LINK) ?? [];
    return `<${slash}${tag}${link === undefined ? "" : ` href="${this.#link(link)}"`}>`;
  }

  #object(value: JsonObject, { key: parent, depth, isLevels }: Place): JsonObject {
    const members = new Map<string, unknown>();
    for (const [key, member] of Object.entries(value)) {
      const name = idIn(key) === key ? this.id(key) : parent === "signatures" ? shapeOf(key) : keyOf(key);
      members.set(unusedName(name, members), this.#value(member, { key, parent, depth, isLevels }));
    }
    return Object.fromEntries(members);
  }

  #value(value: unknown, place: Place): unknown {
    const { key, parent, depth, isLevels } = place;
    if (typeof value === "string") {
      if (WORDS.has(key) && (VALUES.has(value) || NAME.test(value) || MEDIA_TYPE.test(value))) return value;
      return key === "formatted_body" ? this.#html(value) : this.text(value);
    }
    if (typeof value === "number") {
      const stays = SIZES.has(key) || isLevels && (LEVELS.has(key) || LEVELS_OF.has(parent));
      return stays ? value : 0;
    }
    if (depth >= MAX_DEPTH) return null;
    const inside = { ...place, depth: depth + 1 };
    if (Array.isArray(value)) return value.map((each) => this.#value(each, inside));
    return isJsonObject(value) ? this.#object(value, inside) : value;
  }
}

/**
 * Refuses what can't be words that stay.
 *
 * @param action What was to be done, as the error has it.
 * @throws {ValueError} If it is no array of words and expressions.
 */
export function checkKeep(keep: unknown, action: string): void {
  const isKeep = keep === undefined ||
    Array.isArray(keep) && keep.every((each) => typeof each === "string" || each instanceof RegExp);
  if (isKeep) return;
  throw new ValueError(
    `Cannot ${action}: keep must be an array of words and expressions, such as ["!ping", /\\d+m/]`,
  );
}

/** What becomes of the parts of a text. */
interface PartsOfText {
  /** What counts of a part that was found; undefined: it stands between others. Default: all of it. */
  readonly take?: (part: string) => string | undefined;
  /** What stands in place of what was taken. */
  readonly found: (part: string) => string;
  /** What stands in place of what is between. */
  readonly between: (part: string) => string;
}

/** A text with what an expression finds replaced in one way, and what is between in another. */
function inParts(
  text: string,
  pattern: RegExp,
  { take = (part) => part, found, between }: PartsOfText,
): string {
  let made = "";
  let end = 0;
  for (const { 0: whole, index } of text.matchAll(pattern)) {
    const part = take(whole);
    if (part === undefined) continue;
    made += between(text.slice(end, index)) + found(part);
    end = index + part.length;
  }
  return made + between(text.slice(end));
}

/** The ID that a part of a text is, without the punctuation behind it; undefined: it is none. */
function idIn(text: string): string | undefined {
  let end = text.length;
  while (end > 0 && PUNCTUATION.includes(text.charAt(end - 1))) end--;
  const id = text.slice(0, end);
  if (HASH.test(id)) return id;
  const colon = id.indexOf(":");
  return "@#!$m".includes(id.charAt(0)) && colon > 1 && colon < end - 1 ? id : undefined;
}

/** The name, with tildes behind it if other members of the object have the same. */
function unusedName(name: string, members: ReadonlyMap<string, unknown>): string {
  let own = name;
  for (let tildes = 0; tildes < MAX_TILDES && members.has(own); tildes++) own += "~";
  return own;
}

/** Returns the new name of a member that is no ID. */
function keyOf(key: string): string {
  if (KNOWN_KEY.test(key)) return key;
  return KEY.test(key) ? key.replace(/\d/g, "0") : shapeOf(key);
}

function shapeOf(text: string): string {
  return text.replace(SHAPED, (character, emoji?: string) => emoji ?? shapeOfCharacter(character));
}

function shapeOfCharacter(character: string): string {
  return /\p{N}/u.test(character) ? "0" : /\p{Lu}/u.test(character) ? "X" : "x";
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch { // a percent sign that encodes nothing
    return part;
  }
}
