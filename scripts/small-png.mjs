// Makes screenshots small: 256 colours instead of 16 million. Reads what Chromium writes: 8 bits, RGB or RGBA.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLORS = 256;

/** The same picture as a PNG with a palette; colours that are rare become the nearest of the frequent ones. */
export function smallPng(png) {
  const { width, height, channels, data } = decoded(png);
  const keys = new Uint32Array(width * height);
  const counts = new Map();
  for (let i = 0; i < keys.length; i++) {
    const at = i * channels;
    const key = (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
    keys[i] = key;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  const frequent = [...counts].sort((a, b) => b[1] - a[1]).map(([key]) => key);
  const palette = frequent.slice(0, COLORS);
  const indexes = new Map(palette.map((key, i) => [key, i]));
  for (const key of frequent.slice(COLORS)) indexes.set(key, nearest(palette, key));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rows[y * (width + 1) + 1 + x] = indexes.get(keys[y * width + x]);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const plte = Buffer.from(palette.flatMap((key) => parts(key)));
  const pixels = deflateSync(rows, { level: 9, memLevel: 9 });
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', plte),
    chunk('IDAT', pixels),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const parts = (key) => [key >> 16, (key >> 8) & 255, key & 255];

function nearest(palette, key) {
  const [r, g, b] = parts(key);
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (const [i, each] of palette.entries()) {
    const [r2, g2, b2] = parts(each);
    const distance = (r - r2) ** 2 + (g - g2) ** 2 + (b - b2) ** 2;
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}

function chunk(type, data) {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
}

function decoded(png) {
  const parts = [];
  let [width, height, channels] = [0, 0, 0];
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      [width, height] = [data.readUInt32BE(0), data.readUInt32BE(4)];
      const [depth, color, , , interlace] = data.subarray(8);
      channels = { 2: 3, 6: 4 }[color] ?? 0;
      if (depth !== 8 || channels === 0 || interlace !== 0)
        throw new Error(`a PNG of another kind: ${depth}, ${color}`);
    }
    if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  return { width, height, channels, data: unfiltered(inflateSync(Buffer.concat(parts)), width * channels, channels) };
}

/** Undoes the five filters of PNG (RFC 2083, section 6). */
function unfiltered(rows, stride, channels) {
  const height = rows.length / (stride + 1);
  const out = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (stride + 1)];
    for (let x = 0; x < stride; x++) {
      const at = y * stride + x;
      const left = x >= channels ? out[at - channels] : 0;
      const up = y > 0 ? out[at - stride] : 0;
      const corner = x >= channels && y > 0 ? out[at - stride - channels] : 0;
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter];
      out[at] = rows[y * (stride + 1) + 1 + x] + predicted;
    }
  }
  return out;
}

function paeth(a, b, c) {
  const [toA, toB, toC] = [Math.abs(b - c), Math.abs(a - c), Math.abs(a + b - 2 * c)];
  return toA <= toB && toA <= toC ? a : toB <= toC ? b : c;
}
