/** Arithmetic on edwards25519, slow and plain, to make signatures that no honest signer makes. */

const P = 2n ** 255n - 19n;
/** The order of the base point. */
export const L = 2n ** 252n + 27742317777372353535851937790883648493n;
const D = mod(-121665n * inverse(121666n));
const SQRT_MINUS_1 = power(2n, (P - 1n) / 4n);

/** A point, as affine coordinates. */
export type Point = readonly [bigint, bigint];

function mod(value: bigint, modulus: bigint = P): bigint {
  return ((value % modulus) + modulus) % modulus;
}

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = mod(base); exponent > 0n; exponent >>= 1n, square = mod(square * square)) {
    if (exponent & 1n) result = mod(result * square);
  }
  return result;
}

function inverse(value: bigint): bigint {
  return power(value, P - 2n);
}

/** Homogeneous coordinates, which need no division to add. */
type Projective = readonly [bigint, bigint, bigint];

function sum([x1, y1, z1]: Projective, [x2, y2, z2]: Projective): Projective {
  const a = mod(z1 * z2);
  const [c, d] = [mod(x1 * x2), mod(y1 * y2)];
  const [b, e] = [mod(a * a), mod(D * c * d)];
  return [
    mod(a * (b - e) * ((x1 + y1) * (x2 + y2) - c - d)),
    mod(a * (b + e) * (d + c)),
    mod((b - e) * (b + e)),
  ];
}

function affine([x, y, z]: Projective): Point {
  const factor = inverse(z);
  return [mod(x * factor), mod(y * factor)];
}

/** The sum of two points. */
export function add(one: Point, other: Point): Point {
  return affine(sum([...one, 1n], [...other, 1n]));
}

/** A multiple of a point. */
export function multiply(point: Point, factor: bigint): Point {
  let result: Projective = [0n, 1n, 1n];
  for (let double: Projective = [...point, 1n]; factor > 0n; factor >>= 1n, double = sum(double, double)) {
    if (factor & 1n) result = sum(result, double);
  }
  return affine(result);
}

/** The number that bytes hold, the lowest first. */
export function fromBytes(bytes: Uint8Array): bigint {
  return bytes.reduceRight((number, byte) => number << 8n | BigInt(byte), 0n);
}

/** 32 bytes, the lowest first. */
export function toBytes(number: bigint): Uint8Array {
  return Uint8Array.from({ length: 32 }, (_, index) => Number(number >> BigInt(8 * index) & 255n));
}

/** The encoding of a point. */
export function encode([x, y]: Point): Uint8Array {
  return toBytes(y | (x & 1n) << 255n);
}

/** The point with this y, if there is one. */
export function decode(bytes: Uint8Array): Point | undefined {
  const number = fromBytes(bytes);
  const y = mod(number & 2n ** 255n - 1n);
  const square = mod((y * y - 1n) * inverse(D * y * y + 1n));
  let x = power(square, (P + 3n) / 8n);
  if (mod(x * x) !== square) x = mod(x * SQRT_MINUS_1);
  if (mod(x * x) !== square) return undefined;
  return [(x & 1n) === number >> 255n ? x : mod(-x), y];
}

/** The base point. */
export const BASE: Point = decode(toBytes(mod(4n * inverse(5n)))) ?? [0n, 1n];

/** The eight points whose order divides 8. */
export const TORSION: readonly Point[] = (() => {
  const generator = decode(
    Uint8Array.fromHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
  );
  if (generator === undefined) throw new Error("no point of order 8");
  return Array.from({ length: 8 }, (_, index) => multiply(generator, BigInt(index)));
})();
