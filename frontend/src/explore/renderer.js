/**
 * Points by WebGL. Places, tones and states of points lie in buffers of the card; to pan and zoom
 * changes two uniforms, to colour by another number of groups a texture of 256 colours.
 */

const VERTEX = `
attribute vec2 place;
attribute float tone;
attribute float state;
uniform vec2 corner;
uniform vec2 span;
uniform float size;
uniform float layer;
uniform float faint;
uniform sampler2D palette;
varying vec4 colour;
varying float shape;
void main() {
  vec2 at = (place - corner) / span * 2.0 - 1.0;
  gl_Position = vec4(at.x, -at.y, 0.0, 1.0);
  // One layer a time: those that are not selected lie below.
  if (layer >= 0.0 && abs(state - layer) > 0.5) gl_Position = vec4(9.0, 9.0, 0.0, 1.0);
  vec4 found = texture2D(palette, vec2((tone + 0.5) / 256.0, 0.5));
  colour = vec4(found.rgb, layer == 0.0 ? faint : 0.85);
  shape = floor(found.a * 255.0 + 0.5);
  gl_PointSize = layer == 1.0 ? size * 1.25 : size;
}`;

const FRAGMENT = `
precision mediump float;
varying vec4 colour;
varying float shape;
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  vec2 q = abs(p);
  float away = length(p);
  if (shape > 0.5) {
    if (shape < 1.5) away = max(q.x * 0.9 + p.y * -0.5 + 0.35, p.y + 0.15);
    else if (shape < 2.5) away = max(q.x, q.y) * 1.15;
    else if (shape < 3.5) away = q.x + q.y;
    else away = min(max(q.x * 2.6, q.y), max(q.x, q.y * 2.6));
  }
  float inside = 1.0 - smoothstep(0.75, 1.0, away);
  if (inside <= 0.0) discard;
  float alpha = colour.a * inside;
  gl_FragColor = vec4(colour.rgb * alpha, alpha);
}`;

function shaderOf(gl, kind, source) {
  const shader = gl.createShader(kind);
  gl.shaderSource(shader, source);
  gl.compileShader(shader);
  if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader) ?? "shader");
  return shader;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @returns a renderer, or null where there is no WebGL
 */
export function glRenderer(canvas) {
  const gl = canvas.getContext("webgl2", { antialias: false }) ?? canvas.getContext("webgl", { antialias: false });
  if (!gl || gl.isContextLost()) return null;
  const program = gl.createProgram();
  gl.attachShader(program, shaderOf(gl, gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(program, shaderOf(gl, gl.FRAGMENT_SHADER, FRAGMENT));
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const where = (name) => gl.getUniformLocation(program, name);
  const uniforms = Object.fromEntries(["corner", "span", "size", "layer", "faint"].map((name) => [name, where(name)]));
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  for (const [key, value] of [
    [gl.TEXTURE_MIN_FILTER, gl.NEAREST], [gl.TEXTURE_MAG_FILTER, gl.NEAREST],
    [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
  ]) gl.texParameteri(gl.TEXTURE_2D, key, value);
  const buffers = {};
  let [count, uploads] = [0, 0];

  function fill(name, data, width, kind) {
    const slot = gl.getAttribLocation(program, name);
    buffers[name] ??= gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(slot);
    gl.vertexAttribPointer(slot, width, kind, false, 0, 0);
    uploads++;
  }

  return {
    kind: "webgl",
    get uploads() {
      return uploads;
    },
    places(data) {
      count = data.length / 2;
      fill("place", data, 2, gl.FLOAT);
    },
    tones: (data) => fill("tone", data, 1, gl.UNSIGNED_BYTE),
    states: (data) => fill("state", data, 1, gl.UNSIGNED_BYTE),
    palette(data) {
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, data);
    },
    draw({ left, top, width, height, size, layered, faint }) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(uniforms.corner, left, top);
      gl.uniform2f(uniforms.span, width, height);
      gl.uniform1f(uniforms.size, size);
      gl.uniform1f(uniforms.faint, faint);
      for (const layer of layered ? [0, 1] : [-1]) {
        gl.uniform1f(uniforms.layer, layer);
        gl.drawArrays(gl.POINTS, 0, count);
      }
    },
    /** Wait until all is drawn: for measuring only. */
    finish() {
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    },
    forget: () => gl.getExtension("WEBGL_lose_context")?.loseContext(),
  };
}

/** The same on a plain canvas, pixel by pixel: for browsers without WebGL. */
export function flatRenderer(canvas) {
  const pen = canvas.getContext("2d");
  let [where, tone, state, colours] = [new Float32Array(0), null, null, null];
  return {
    kind: "canvas",
    uploads: 0,
    places: (data) => (where = data),
    tones: (data) => (tone = data),
    states: (data) => (state = data),
    palette: (data) => (colours = data),
    draw({ left, top, width, height, size, layered, faint }) {
      const [wide, tall] = [canvas.width, canvas.height];
      if (!wide || !tall) return;
      const image = pen.createImageData(wide, tall);
      const pixels = image.data;
      const side = Math.max(1, Math.round(size * 0.8));
      const [sx, sy] = [wide / width, tall / height];
      for (const layer of layered ? [0, 1] : [-1]) {
        const opaque = layer === 0 ? Math.round(255 * faint) : 217;
        for (let i = 0; i < tone.length; i++) {
          if (layer >= 0 && state[i] !== layer) continue;
          const x = Math.round((where[2 * i] - left) * sx - side / 2);
          const y = Math.round((where[2 * i + 1] - top) * sy - side / 2);
          if (x < 0 || y < 0 || x + side > wide || y + side > tall) continue;
          const from = 4 * tone[i];
          for (let v = y; v < y + side; v++) {
            for (let at = 4 * (v * wide + x), end = at + 4 * side; at < end; at += 4) {
              pixels[at] = colours[from];
              pixels[at + 1] = colours[from + 1];
              pixels[at + 2] = colours[from + 2];
              pixels[at + 3] = opaque;
            }
          }
        }
      }
      pen.putImageData(image, 0, 0);
    },
    finish() {},
    forget() {},
  };
}
