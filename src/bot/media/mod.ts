/**
 * Images: measuring, describing and shrinking them.
 *
 * @module
 */

export {
  type DescribedImage,
  type DescribedImageInfo,
  describeImage,
  type DescribeImageOptions,
} from "./describe_image.ts";
export { type ImageMeasures, measureImage } from "./measure_image.ts";
