/**
 * Comments that say nothing that their declaration does not say.
 *
 * @module
 */

import ts from "typescript";
import type { SourceFile } from "./types.ts";

const WITH_PARENTS = true;

/** Words that say nothing of their own. */
const FILLERS = new Set(
  "a an the of for to in on at by with and or is are was its it this that which what whether one".split(" "),
);

/** The names of declarations whose comments have no word that the declaration lacks. */
export function repeatingComments(file: SourceFile): string[] {
  const tree = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, WITH_PARENTS);
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    const name = "name" in node && node.name !== undefined ? (node.name as ts.Node).getText(tree) : undefined;
    const doc = name === undefined ? undefined : ts.getJSDocCommentsAndTags(node).find(ts.isJSDoc);
    if (doc !== undefined && doc.parent === node && doc.tags === undefined) {
      const declared = new Set(wordsOf(node.getText(tree).split("{")[0] ?? ""));
      const said = wordsOf(ts.getTextOfJSDocComment(doc.comment) ?? "").filter((word) => !FILLERS.has(word));
      if (said.length > 0 && said.every((word) => declared.has(word))) {
        found.push(String(name));
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return found;
}

/** The words of a name or sentence, without their endings. */
function wordsOf(text: string): string[] {
  const words =
    text.replaceAll("'s", "").replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase().match(/[a-z]+/g) ?? [];
  return words.map((word) => word.length > 3 ? word.replace(/(?:ies|es|s|ed|ing)$/, "") : word);
}
