// Stops other than walls as lines: cables that hang or are taut, ranges of joints, play.

import { Color, type Matrix4, Vector3 } from 'three';
import { contactStride, type Frame } from '../frame';
import type { Scene, Stop } from '../types';
import { LineLayer } from './lines';

const open = new Color('#9aa4af');
const closed = new Color('#e69f00');

/** Where a marker's frame is now, by its number in the scene. */
export type FrameOf = (marker: number) => Matrix4 | null;

/** Points of a rope of a given length between two others, hanging to where gravity pulls. */
export function hang(from: Vector3, to: Vector3, length: number, down: Vector3): Vector3[] {
  const distance = from.distanceTo(to);
  const sag = distance < length ? 0.5 * Math.sqrt(length * length - distance * distance) : 0;
  const pieces = sag > 0 ? 16 : 1;
  return Array.from({ length: pieces + 1 }, (_, i) => {
    const t = i / pieces;
    return from.clone().lerp(to, t).addScaledVector(down, 4 * t * (1 - t) * sag);
  });
}

export class StopLines {
  readonly layer = new LineLayer(2.4);

  update(scene: Scene, frame: Frame, frameOf: FrameOf, unit: number): void {
    this.layer.clear();
    const held = new Set<number>();
    for (let at = contactStride - 1; at < frame.contacts.length; at += contactStride) held.add(frame.contacts[at]!);
    scene.stops.forEach((stop, i) => this.draw(stop, held.has(i) ? closed : open, scene, frameOf, unit));
    this.layer.show();
  }

  private draw(stop: Stop, color: Color, scene: Scene, frameOf: FrameOf, unit: number): void {
    if (stop.type === 'limit') return this.drawLimit(stop, color, scene, frameOf, unit);
    const [a, b] = [frameOf(stop.a), frameOf(stop.b)];
    if (!a || !b) return;
    const [from, to] = [new Vector3().setFromMatrixPosition(a), new Vector3().setFromMatrixPosition(b)];
    const gap = stop.gap ?? 0;
    if (stop.type === 'cable' || stop.type === 'stop') {
      const down = new Vector3(...scene.gravity.map((g) => Number(g) || 0)).normalize();
      const length = stop.type === 'cable' ? (stop.length ?? 0) : 0;
      this.path(hang(from, to, length, down), color);
    } else if (stop.type === 'clearance') {
      this.path(arc(gap, 0, 2 * Math.PI), color, a);
    } else if (stop.type === 'slot') {
      const reach = Math.max(6 * unit, 4 * gap);
      const sides = scene.planar ? [[0, gap], [0, -gap]] : [[gap, 0], [-gap, 0], [0, gap], [0, -gap]];
      const middle = to.clone().applyMatrix4(a.clone().invert());
      for (const [x, y] of sides as [number, number][]) {
        const at = (s: number) => (scene.planar ? new Vector3(middle.x + s, y, 0) : new Vector3(x, y, middle.z + s));
        this.path([at(-reach), at(reach)], color, a);
      }
    }
  }

  // An arc or a line over the range, marks at its ends, a needle where the joint is.
  private drawLimit(stop: Stop, color: Color, scene: Scene, frameOf: FrameOf, unit: number): void {
    const dot = stop.scalar.lastIndexOf('.');
    const joint = scene.joints.find((j) => j.name === stop.scalar.slice(0, dot));
    const [a, b] = joint ? [frameOf(joint.a), frameOf(joint.b)] : [null, null];
    if (!a || !b) return;
    const ends = [stop.min, stop.max].filter((x) => x !== undefined);
    const reach = 5 * unit;
    if (stop.scalar.slice(dot + 1) === 'angle') {
      if (ends.length === 2) this.path(arc(reach, ends[0]!, ends[1]!), color, a);
      for (const end of ends) this.path([polar(0.6 * reach, end), polar(1.3 * reach, end)], color, a);
      this.path([new Vector3(), new Vector3(reach, 0, 0)], color, b);
    } else if (stop.scalar.slice(dot + 1) === 'displacement') {
      const along = scene.planar ? new Vector3(1, 0, 0) : new Vector3(0, 0, 1);
      const across = new Vector3(0, 0.6 * reach, 0);
      const place = (s: number) => along.clone().multiplyScalar(s);
      if (ends.length === 2) this.path([place(ends[0]!), place(ends[1]!)], color, a);
      for (const end of ends) this.path([place(end).sub(across), place(end).add(across)], color, a);
    }
  }

  private path(points: Vector3[], color: Color, frame?: Matrix4): void {
    const placed = frame ? points.map((p) => p.clone().applyMatrix4(frame)) : points;
    for (let i = 1; i < placed.length; ++i) this.layer.add(placed[i - 1]!, placed[i]!, color);
  }
}

function polar(radius: number, angle: number): Vector3 {
  return new Vector3(radius * Math.cos(angle), radius * Math.sin(angle), 0);
}

function arc(radius: number, from: number, to: number): Vector3[] {
  return Array.from({ length: 33 }, (_, i) => polar(radius, from + ((to - from) * i) / 32));
}
