/**
 * The regular expressions of the sources, and text that is hostile to each.
 *
 * @module
 */

import { type AST, RegExpParser } from "@eslint-community/regexpp";
import ts from "typescript";

/** A regular expression in the sources. */
export interface SourceExpression {
  /** The file and line. */
  readonly place: string;
  /** As it is written. */
  readonly text: string;
  /** Ready to use; undefined: it is made while the program runs. */
  readonly regExp?: RegExp;
}

/** All regular expressions in a file. */
export function expressionsOf(path: string, text: string): SourceExpression[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const found: SourceExpression[] = [];
  const visit = (node: ts.Node) => {
    const isLiteral = node.kind === ts.SyntaxKind.RegularExpressionLiteral;
    const isMade = (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
      node.expression.getText(file) === "RegExp";
    if (isLiteral || isMade) {
      const written = node.getText(file);
      const end = written.lastIndexOf("/");
      const place = `${path}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`;
      const regExp = isLiteral ? new RegExp(written.slice(1, end), written.slice(end + 1)) : undefined;
      found.push({ place, text: written, regExp });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** The longest part that is repeated, in elements. */
const MAX_PART = 4;

/**
 * What may take an expression long: each part of what fits it, over and over, behind what comes before that
 * part, and in front of something that does not fit.
 *
 * @param regExp The expression.
 * @param length How long each text is, in UTF-16 units.
 */
export function* hostileTexts({ source, flags }: RegExp, length: number): Generator<string> {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes("u"),
    unicodeSets: flags.includes("v"),
  });
  const parts = new Set<string>([" ", "\t", "\n", "a", "0"].map((part) => JSON.stringify(["", part])));
  const collect = ({ alternatives }: { alternatives: readonly AST.Alternative[] }, before: string) => {
    for (const { elements } of alternatives) {
      const samples = elements.map(sampleOf);
      const words = samples.join("").length > 200 ? samples.map((sample) => sample.slice(0, 8)) : samples;
      elements.forEach((element, from) => {
        const head = before + words.slice(0, from).join("");
        for (let to = from + 1; to <= Math.min(words.length, from + MAX_PART); to++) {
          const part = words.slice(from, to).join("");
          if (part !== "") parts.add(JSON.stringify([head, part]));
        }
        const inner = element.type === "Quantifier" ? element.element : element;
        if ("alternatives" in inner) collect(inner as { alternatives: AST.Alternative[] }, head);
      });
      const whole = words.join("");
      if (whole !== "") parts.add(JSON.stringify(["", whole]));
    }
  };
  collect(pattern, "");
  for (const each of parts) {
    const [head = "", part = ""] = JSON.parse(each) as string[];
    const text = head + part.repeat(Math.ceil(length / part.length)).slice(0, length - head.length);
    yield text;
    yield `${text}\0`;
  }
}

/** The shortest text that fits a part, at least once where it may be absent. */
function sampleOf(node: AST.Element | AST.QuantifiableElement): string {
  switch (node.type) {
    case "Character":
      return String.fromCodePoint(node.value);
    case "CharacterSet":
      return { any: "a", digit: "1", space: " ", word: "a", property: "é" }[node.kind];
    case "CharacterClass":
      return sampleOfClass(node);
    case "Quantifier":
      return sampleOf(node.element).repeat(Math.max(1, Math.min(node.min, 4)));
    case "Group":
    case "CapturingGroup":
      return (node.alternatives[0]?.elements ?? []).map(sampleOf).join("");
    default:
      return "";
  }
}

function sampleOfClass(node: AST.CharacterClass): string {
  const probe = new RegExp(node.raw, "u");
  for (const one of [" ", "a", "1", "<", "A", ".", "/", "*", "\t", "\\", "-", "é"]) {
    if (probe.test(one)) return one;
  }
  const [first] = node.elements;
  if (first?.type === "Character") return String.fromCodePoint(first.value);
  if (first?.type === "CharacterClassRange") return String.fromCodePoint(first.min.value);
  return first?.type === "CharacterSet" ? sampleOf(first) : "";
}
