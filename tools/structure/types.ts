/**
 * What a structure check finds.
 *
 * @module
 */

/** A file of the repository. */
export interface SourceFile {
  /** Its path from the repository's folder on. */
  path: string;
  /** What is in it. */
  text: string;
}

/** An import, re-export or dynamic import of one file of the repository by another. */
export interface ImportEdge {
  /** The path of the file that imports. */
  from: string;
  /** The path of the file that is imported. */
  to: string;
  /** Whether only types are imported. */
  typeOnly: boolean;
  /** Whether the file is loaded when it is needed, by `import()`. */
  lazy: boolean;
}

/** A sentence that starts with the path of the file that breaks a rule. */
export type Violation = string;
