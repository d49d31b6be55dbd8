/**
 * Key files that Element's tests have, with their contents:
 * of matrix-react-sdk, under the Apache License 2.0.
 */

const LETTERS = "alphanumericallyalphanumericallyalphanumericallyalphanumerically";

/** A key file. */
export interface KeyFileVector {
  readonly content: string;
  readonly passphrase: string;
  readonly file: string;
}

function vector(content: string, passphrase: string, ...lines: readonly string[]): KeyFileVector {
  const all = ["-----BEGIN MEGOLM SESSION DATA-----", ...lines, "-----END MEGOLM SESSION DATA-----"];
  return { content, passphrase, file: all.join("\n") };
}

/** One of them. */
export const SOME: KeyFileVector = vector(
  "Hello, World",
  "betterpassword",
  "AW1vcmVzYWx0bW9yZXNhbHT//////////wAAAAAAAAAAAAAD6KyBpe1Niv5M5NPm4ZATsJo5nghk",
  "KYu63a0YQ5DRhUWEKk7CcMkrKnAUiZny",
);

/** The last has a counter that overflows its half, and a passphrase longer than a block of the hash. */
export const VECTORS: readonly KeyFileVector[] = [
  vector(
    "plain",
    "password",
    "AXNhbHRzYWx0c2FsdHNhbHSIiIiIiIiIiIiIiIiIiIiIAAAACmIRUW2OjZ3L2l6j9h0lHlV3M2dx",
    "cissyYBxjsfsAndErh065A8=",
  ),
  SOME,
  vector(
    LETTERS,
    "SWORDFISH",
    "AXllc3NhbHR5Z29vZG5lc3P//////////wAAAAAAAAAAAAAD6OIW+Je7gwvjd4kYrb+49gKCfExw",
    "MgJBMD4mrhLkmgAngwR1pHjbWXaoGybtiAYr0moQ93GrBQsCzPbvl82rZhaXO3iH5uHo/RCEpOqp",
    "Pgg29363BGR+/Ripq/VCLKGNbw==",
  ),
  vector(
    LETTERS,
    "password".repeat(32),
    "Af//////////////////////////////////////////AAAD6IAZJy7IQ7Y0idqSw/bmpngEEVVh",
    "gsH+8ptgqxw6ZVWQnohr8JsuwH9SwGtiebZuBu5smPCO+RFVWH2cQYslZijXv/BEH/txvhUrrtCd",
    "bWnSXS9oymiqwUIGs08sXI33ZA==",
  ),
];
