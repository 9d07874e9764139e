// Reduces screenshots to small grey pictures, and measures their difference.
import { PNG } from "pngjs";

/** Returns the mean of each square of `factor` × `factor` pixels, as a grey picture with 16 levels, which compresses well. */
export function reduced(bytes, factor) {
  const from = PNG.sync.read(bytes);
  const [width, height] = [Math.max(Math.floor(from.width / factor), 1), Math.max(Math.floor(from.height / factor), 1)];
  const to = new PNG({ width, height, colorType: 0 });
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let down = 0; down < factor; down++) {
        for (let across = 0; across < factor; across++) {
          const at = 4 * ((y * factor + down) * from.width + x * factor + across);
          sum += 0.3 * from.data[at] + 0.59 * from.data[at + 1] + 0.11 * from.data[at + 2];
        }
      }
      const grey = Math.round(sum / factor ** 2 / 255 * 15) / 15 * 255;
      to.data.fill(grey, 4 * (y * width + x), 4 * (y * width + x) + 3);
      to.data[4 * (y * width + x) + 3] = 255;
    }
  }
  return PNG.sync.write(to, { colorType: 0, inputHasAlpha: true, deflateLevel: 9 });
}

/** Returns the mean difference of two pictures, from 0 to 1. If only their heights differ, by up to 5%, the common part is compared;
 * for any other difference in size, the result is 1. */
export function difference(one, other) {
  const [a, b] = [PNG.sync.read(one), PNG.sync.read(other)];
  if (a.width !== b.width || Math.abs(a.height - b.height) > 0.05 * Math.max(a.height, b.height, 40)) return 1;
  const height = Math.min(a.height, b.height);
  let sum = 0;
  for (let at = 0; at < 4 * a.width * height; at += 4) sum += Math.abs(a.data[at] - b.data[at]);
  return sum / (a.width * height) / 255;
}
