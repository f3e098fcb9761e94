// Frames as the server packs them; see src/limber/server/frame.hpp.

export interface Frame {
  revision: number;
  number: number;
  playing: boolean;
  slow: boolean;
  time: number;
  first: number;
  last: number;
  kinetic: number;
  potential: number;
  work: number;
  drift: number;
  positionError: number;
  velocityError: number;
  accelerationError: number;
  relativeError: number;
  speed: number;
  speedReached: number;
  iterations: number;
  sensorCount: number;
  sampleCount: number;
  samples: Float64Array; // per sample: time, sensors, then those of the ghost if there is one
  hasGhost: boolean;
  bodies: Float32Array; // per body: position 3, quaternion 4, centre of mass 3, velocity 3
  joints: Float32Array; // per joint: point 3, force 3, torque 3
  forces: Float32Array;
  contacts: Float32Array; // per contact: point 3, normal 3, force 3, stop by its number in the scene (-1: two bodies)
  pull: Float32Array | null;
  ghost: Float32Array; // per body: position 3, quaternion 4
}

export const bodyStride = 13;
export const jointStride = 9;
export const contactStride = 10;
export const ghostStride = 7;

/** Null if the bytes are not a frame. */
export function decodeFrame(buffer: ArrayBuffer): Frame | null {
  const view = new DataView(buffer);
  if (buffer.byteLength < 160 || view.getUint32(0, true) !== 1) return null;
  const flags = view.getUint32(12, true);
  const value = (i: number) => view.getFloat64(16 + 8 * i, true);
  const count = (i: number) => view.getUint32(128 + 4 * i, true);
  let at = 160;
  // Copied, since single-precision data may follow at any multiple of four.
  const doubles = (n: number) => {
    const part = new Float64Array(buffer.slice(at, at + 8 * n));
    at += 8 * n;
    return part;
  };
  const singles = (n: number) => {
    const part = new Float32Array(buffer.slice(at, at + 4 * n));
    at += 4 * n;
    return part;
  };
  const hasGhost = (flags & 4) !== 0;
  const samples = doubles(count(6) * (1 + count(1) * (hasGhost ? 2 : 1)));
  const bodies = singles(bodyStride * count(0));
  const joints = singles(jointStride * count(2));
  const forces = singles(count(3));
  const contacts = singles(contactStride * count(7));
  const pull = count(5) > 0 ? singles(3) : null;
  const ghost = singles(ghostStride * count(4));
  return {
    revision: view.getUint32(4, true),
    number: view.getUint32(8, true),
    playing: (flags & 1) !== 0,
    slow: (flags & 2) !== 0,
    time: value(0),
    first: value(1),
    last: value(2),
    kinetic: value(3),
    potential: value(4),
    work: value(5),
    drift: value(6),
    positionError: value(7),
    velocityError: value(8),
    accelerationError: value(9),
    relativeError: value(10),
    speed: value(11),
    speedReached: value(12),
    iterations: value(13),
    sensorCount: count(1),
    sampleCount: count(6),
    samples,
    hasGhost,
    bodies,
    joints,
    forces,
    contacts,
    pull,
    ghost,
  };
}
