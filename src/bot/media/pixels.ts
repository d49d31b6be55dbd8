/**
 * Making images smaller, and turning them.
 *
 * @module
 */

/** An image in memory. */
export interface Pixels {
  /** The width, in pixels. */
  readonly w: number;
  /** The height, in pixels. */
  readonly h: number;
  /** Red, green, blue and alpha of each pixel, row by row. */
  readonly data: Uint8ClampedArray;
}

/**
 * Makes an image smaller until it fits, with its proportions: each pixel is the mean of those that
 * it stands for. One that fits stays as it is.
 */
export function shrink(image: Pixels, box: { readonly w: number; readonly h: number }): Pixels {
  const scale = Math.min(1, box.w / image.w, box.h / image.h);
  if (scale === 1) return image;
  const [w, h] = [Math.max(1, Math.round(image.w * scale)), Math.max(1, Math.round(image.h * scale))];
  const data = new Uint8ClampedArray(w * h * 4);
  for (let y = 0; y < h; y++) {
    const [top, bottom] = range(y, h, image.h);
    for (let x = 0; x < w; x++) {
      const [left, right] = range(x, w, image.w);
      mean(image, { left, right, top, bottom }, data.subarray((y * w + x) * 4));
    }
  }
  return { w, h, data };
}

/** Which of many stand behind one of few. */
function range(at: number, few: number, many: number): [from: number, to: number] {
  return [Math.floor(at * many / few), Math.floor((at + 1) * many / few)];
}

interface Area {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** The mean of an area; what is not seen through counts more. */
function mean({ w, data }: Pixels, { left, right, top, bottom }: Area, to: Uint8ClampedArray): void {
  let [red, green, blue, alpha] = [0, 0, 0, 0];
  for (let y = top; y < bottom; y++) {
    for (let at = (y * w + left) * 4, end = (y * w + right) * 4; at < end; at += 4) {
      const weight = data[at + 3] ?? 0;
      red += (data[at] ?? 0) * weight;
      green += (data[at + 1] ?? 0) * weight;
      blue += (data[at + 2] ?? 0) * weight;
      alpha += weight;
    }
  }
  [to[0], to[1], to[2]] = [red / alpha, green / alpha, blue / alpha]; // where nothing is seen NaN, kept as 0
  to[3] = alpha / ((right - left) * (bottom - top));
}

/** Turns an image as Exif says it is to be shown. */
export function turn(image: Pixels, orientation: number): Pixels {
  if (orientation <= 1 || orientation > 8) return image;
  const isTurned = orientation > 4;
  const [w, h] = isTurned ? [image.h, image.w] : [image.w, image.h];
  const data = new Uint8ClampedArray(w * h * 4);
  const [right, bottom] = [image.w - 1, image.h - 1];
  for (let y = 0; y < h; y++) {
    for (let x = 0; x < w; x++) {
      const [fromX, fromY] = source(orientation, x, y, right, bottom);
      const from = (fromY * image.w + fromX) * 4;
      data.set(image.data.subarray(from, from + 4), (y * w + x) * 4);
    }
  }
  return { w, h, data };
}

/** Where a pixel that is shown is stored. */
function source(
  orientation: number,
  x: number,
  y: number,
  right: number,
  bottom: number,
): [x: number, y: number] {
  switch (orientation) {
    case 2:
      return [right - x, y];
    case 3:
      return [right - x, bottom - y];
    case 4:
      return [x, bottom - y];
    case 5:
      return [y, x];
    case 6:
      return [y, bottom - x];
    case 7:
      return [right - y, bottom - x];
    default:
      return [right - y, x];
  }
}

/** Whether anything can be seen through an image. */
export function hasAlpha({ data }: Pixels): boolean {
  for (let at = 3; at < data.length; at += 4) if (data[at] !== 255) return true;
  return false;
}
