/**
 * HTML as plain text. A parser takes it apart that reads HTML as browsers do. The library `html-to-text`
 * writes the same, and would be a tenth of what a bundled client weighs; a property compares the two.
 *
 * @module
 */

import { Parser } from "htmlparser2";

/** A part of the text, with line breaks around it. */
interface Block {
  /** What it says, up to the last block that has ended in it. */
  text: string;
  /** What it says since. */
  line: string;
  /** Whether nothing has been said since the last line break. */
  isLineStart: boolean;
  /** Whether the next word comes after a space. */
  hasSpace: boolean;
  /** How many line breaks come before what comes next, at least. */
  breaks: number;
  /** How many line breaks come before the block, at least. */
  before: number;
  /** Whether white space stays as it is. */
  readonly isPre: boolean;
}

/** A list that is open. */
interface List {
  readonly items: { readonly mark: string; readonly block: Block }[];
  /** Makes the mark of the next item. */
  readonly nextMark: () => string;
}

/** How many line breaks stand before and after the elements that are blocks, at least. */
const BLOCKS: ReadonlyMap<string, readonly [before: number, after: number]> = new Map(
  ([
    ["article aside div footer form header main nav section tr", [1, 1]],
    ["h1 h2 h3", [3, 2]],
    ["h4 h5 h6 p pre blockquote hr table", [2, 2]],
  ] as const).flatMap(([tags, breaks]) => tags.split(" ").map((tag) => [tag, breaks] as const)),
);
/** Elements that say nothing; `mx-reply` repeats what is answered. */
const HIDDEN = new Set(["script", "style", "mx-reply"]);
const RULE = "-".repeat(40);
/** A zero-width space, too, is a place where lines can end. */
const WORDS = /[^ \t\r\n\f\u200b]+/g;
const SPACES = /[ \t\r\n\f\u200b]+/g;
const ENDS_WITH_SPACE = /[ \t\r\n\f\u200b]$/;
/** How many quotes and lists inside of each other are marked: each adds to every line that is in it. */
const MAX_NESTING = 20;
const NOTHING = () => {};

/**
 * Writes HTML as plain text: lists with their marks, quotes with `>`, tables with a bar in
 * front of each cell, links with where they lead, images by what stands for them. Scripts,
 * styles and `mx-reply` are left out.
 *
 * @param html HTML from anybody.
 */
export function textOfHtml(html: string): string {
  const writer = new Writer();
  const parser = new Parser({
    onopentag: (name, attributes) => writer.begin(name, attributes),
    ontext: (text) => writer.take(text),
    onclosetag: () => writer.end(),
  });
  parser.end(html);
  return writer.toString();
}

/** What is written, element by element. */
class Writer {
  #block: Block = newBlock({ before: 1, isPre: false });
  /** The list whose items come next, if the innermost open element is one. */
  #list: List | undefined;
  readonly #open: { readonly name: string; readonly end: () => void }[] = [];
  /** Text that may go on. */
  #text = "";
  /** How many quotes and lists are open. */
  #nesting = 0;
  /** How many of the open elements say nothing. */
  #hidden = 0;
  /** How many links are open, and what is said in them, without white space. */
  #links = 0;
  #linked = "";

  /** Takes text. */
  take(text: string): void {
    if (this.#hidden === 0) this.#text += text;
  }

  /** Begins an element. */
  begin(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#flush();
    const end = this.#hidden > 0 || HIDDEN.has(name) ? this.#hide() : this.#element(name, attributes);
    this.#open.push({ name, end });
  }

  /** Ends the innermost element. */
  end(): void {
    this.#flush();
    this.#open.pop()?.end();
  }

  toString(): string {
    this.#flush();
    return textOf(this.#block);
  }

  #hide(): () => void {
    this.#hidden++;
    return () => void this.#hidden--;
  }

  /** Begins an element that is shown; what ends it. */
  #element(name: string, attributes: Readonly<Record<string, string>>): () => void {
    if (this.#list === undefined) return this.#begin(name, attributes);
    const endItem = this.#beginItem(this.#list, name === "li" ? this.#list.nextMark() : "");
    const end = this.#begin(name, attributes);
    return () => {
      end();
      endItem();
    };
  }

  #begin(name: string, { href = "", alt = "", start = "" }: Readonly<Record<string, string>>): () => void {
    const breaks = BLOCKS.get(name);
    if (breaks !== undefined) {
      const end = this.#inner(breaks, { isPre: name === "pre", isQuote: name === "blockquote" });
      if (name === "hr") this.#say(RULE);
      return end;
    }
    switch (name) {
      case "ul":
        return this.#beginList(() => "- ");
      case "ol": {
        let number = /^-?\d{1,9}$/.test(start) ? Number(start) : 1;
        const indent = this.#isInItem() ? "" : " ";
        return this.#beginList(() => `${indent}${number++}. `);
      }
      case "a":
        return this.#beginLink(href.replace(/^mailto:/, ""));
      case "td":
      case "th":
        this.#say("| ");
        return () => this.#say(" ");
    }
    if (name === "br") breakLine(this.#block);
    else if (name === "img") this.#say(alt);
    return NOTHING;
  }

  /** Begins a block in the block; what ends it. */
  #inner(
    [before, after]: readonly [before: number, after: number],
    { isPre = false, isQuote = false }: { readonly isPre?: boolean; readonly isQuote?: boolean } = {},
  ): () => void {
    const outer = this.#block;
    const block = newBlock({ before, isPre: isPre || outer.isPre });
    this.#block = block;
    const isMarked = isQuote && this.#nesting++ < MAX_NESTING;
    return () => {
      if (isQuote) this.#nesting--;
      put(
        outer,
        isMarked ? quoted(textOf(block)) : textOf(block),
        block.before,
        Math.max(block.breaks, after),
      );
      this.#block = outer;
    };
  }

  #isInItem(): boolean {
    return this.#open.at(-1)?.name === "li";
  }

  #beginList(nextMark: () => string): () => void {
    const [outer, breaks] = [this.#list, this.#isInItem() ? 1 : 2];
    const list: List = { items: [], nextMark };
    this.#list = list;
    const isIndented = this.#nesting++ < MAX_NESTING;
    return () => {
      this.#list = outer;
      this.#nesting--;
      const [text, before] = written(list, { before: breaks, isIndented });
      if (text !== "") put(this.#block, text, before, breaks);
    };
  }

  /** Begins what lies in a list; what ends it. */
  #beginItem(list: List, mark: string): () => void {
    const outer = this.#block;
    const block = newBlock({ before: 1, isPre: outer.isPre });
    [this.#block, this.#list] = [block, undefined];
    return () => {
      list.items.push({ mark, block });
      [this.#block, this.#list] = [outer, list];
    };
  }

  /** Begins a link; what ends it says where it leads, unless its text does. */
  #beginLink(href: string): () => void {
    if (href === "" || href.startsWith("#")) return NOTHING;
    this.#links++;
    const begin = this.#linked.length;
    return () => {
      const text = this.#linked.slice(begin);
      if (--this.#links === 0) this.#linked = "";
      if (text !== href) addInline(this.#block, text === "" ? href : ` (${href})`);
    };
  }

  #flush(): void {
    const text = this.#text;
    this.#text = "";
    if (text === "") return;
    if (this.#list === undefined) return this.#say(text);
    if (text.trim() === "") return;
    const end = this.#beginItem(this.#list, "");
    this.#say(text);
    end();
  }

  #say(text: string): void {
    if (this.#links > 0) this.#linked += text.replace(SPACES, "");
    addInline(this.#block, text);
  }
}

function newBlock(given: Pick<Block, "before" | "isPre">): Block {
  return { ...given, text: "", line: "", isLineStart: true, hasSpace: false, breaks: 0 };
}

function textOf({ text, line }: Block): string {
  return text + line;
}

function breakLine(block: Block): void {
  if (block.isPre) block.text += "\n";
  else [block.line, block.isLineStart] = [`${block.line}\n`, true];
}

/** Adds text, in which any white space is one space. */
function addInline(block: Block, text: string): void {
  if (block.isPre) {
    block.text += text;
    return;
  }
  const words = text.match(WORDS);
  if (words !== null) {
    for (let count = block.breaks; count > 0; count--) breakLine(block);
    const isApart = !block.isLineStart && (block.hasSpace || !text.startsWith(words[0]));
    block.line += (isApart ? " " : "") + words.join(" ");
    Object.assign(block, { isLineStart: false, hasSpace: false, breaks: 0 });
  }
  if (block.breaks === 0 && ENDS_WITH_SPACE.test(text)) block.hasSpace = true;
}

/** Adds the text of a block that has ended. */
function put(block: Block, text: string, before: number, after: number): void {
  const said = textOf(block);
  const breaks = Math.max(block.breaks, before);
  if (said === "") [block.text, block.before] = [text, breaks];
  else block.text = said + "\n".repeat(breaks) + text;
  Object.assign(block, { line: "", isLineStart: true, breaks: after });
}

function quoted(text: string): string {
  let [begin, end] = [0, text.length];
  while (text[begin] === "\n") begin++;
  while (end > begin && text[end - 1] === "\n") end--; // a regular expression would take quadratic time
  return text.slice(begin, end).replace(/^/gm, "> ");
}

/** A list whose text stands in a column beside the marks, and the line breaks before it, at least. */
function written(
  { items }: List,
  { before, isIndented }: { readonly before: number; readonly isIndented: boolean },
): [text: string, before: number] {
  const width = items.reduce((most, { mark }) => Math.max(most, mark.length), 0);
  const whole = newBlock({ before, isPre: false });
  for (const { mark, block } of items) {
    const text = textOf(block);
    const lines = isIndented ? text.replaceAll("\n", `\n${" ".repeat(width)}`) : text;
    put(whole, mark.padEnd(width) + lines, block.before, Math.max(block.breaks, 1));
  }
  return [textOf(whole), whole.before];
}
