/** Bytes as `consilience.explore._wire` packs them: a small header of JSON, and arrays as they lie. */

const MAGIC = "CSEXPL1\n";
const TYPES = {
  i1: Int8Array, i2: Int16Array, i4: Int32Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array,
  f4: Float32Array, f8: Float64Array,
};

/**
 * @param {ArrayBuffer} buffer
 * @returns {{facts: any, arrays: Record<string, any>, shapes: Record<string, number[]>}}
 */
export function unpacked(buffer) {
  const bytes = new Uint8Array(buffer);
  const magic = String.fromCharCode(...bytes.subarray(0, 8));
  if (magic !== MAGIC) throw new Error("these bytes are no view of consilience");
  const length = new DataView(buffer).getUint32(8, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(12, 12 + length)));
  const [arrays, shapes] = [{}, {}];
  for (const [name, { type, shape, at }] of Object.entries(header.arrays)) {
    const count = shape.reduce((all, one) => all * one, 1);
    arrays[name] = new TYPES[type](buffer, 12 + length + at, count);
    shapes[name] = shape;
  }
  return { facts: header.facts, arrays, shapes };
}

/** Bytes of base64 text. */
export function decoded(text) {
  const raw = atob(text.trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes.buffer;
}

/** Texts of one array of UTF-8 and one of ends; each is decoded when it is asked for. */
export function textsOf(text, ends) {
  const decoder = new TextDecoder();
  return {
    length: ends.length,
    at: (i) => decoder.decode(text.subarray(i ? ends[i - 1] : 0, ends[i])),
  };
}
