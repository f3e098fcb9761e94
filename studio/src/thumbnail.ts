// A small drawing of a model, for the gallery.

import { Matrix4, Vector3 } from 'three';
import { s } from './dom';
import type { Scene } from './types';
import { bodyMatrix, modelBounds, shapesOf } from './view/shapes';

const width = 240;
const height = 150;

// Planar models as they are; others from above and to the side.
function project(point: Vector3, planar: boolean): [number, number] {
  if (planar) return [point.x, -point.y];
  const [right, depth] = [0.8 * point.x + 0.6 * point.y, 0.8 * point.y - 0.6 * point.x];
  return [right, -0.88 * point.z - 0.47 * depth];
}

function corners(matrix: Matrix4, planar: boolean): [number, number][] {
  const points: [number, number][] = [];
  for (const x of [-0.5, 0.5])
    for (const y of [-0.5, 0.5]) for (const z of [-0.5, 0.5]) points.push(project(new Vector3(x, y, z).applyMatrix4(matrix), planar));
  return hull(points);
}

function hull(points: [number, number][]): [number, number][] {
  const sorted = points.toSorted((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: [number, number][]) => {
    const chain: [number, number][] = [];
    for (const p of list) {
      for (;;) {
        const [a, b] = [chain.at(-2), chain.at(-1)];
        if (!a || !b || (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0) break;
        chain.pop();
      }
      chain.push(p);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

export function thumbnail(scene: Scene): SVGElement {
  const bounds = modelBounds(scene);
  const size = bounds.getSize(new Vector3()).length();
  const thickness = size * (scene.bodies.length > 60 ? 0.006 : 0.014);
  const picture = s('svg', { viewBox: `0 0 ${width} ${height}`, class: 'thumbnail' });
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  const see = ([x, y]: [number, number]) => {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  };
  const drawings: SVGElement[] = [];
  for (const shape of shapesOf(scene, thickness)) {
    const matrix = bodyMatrix(scene, shape.body).multiply(shape.local);
    const scale = new Vector3().setFromMatrixScale(matrix);
    if (shape.isEndless) continue;
    if (shape.kind === 'sphere') {
      const [x, y] = project(new Vector3().setFromMatrixPosition(matrix), scene.planar);
      for (const d of [-scale.x, scale.x]) see([x + d, y + d]);
      drawings.push(s('circle', { cx: x, cy: y, r: scale.x, fill: shape.color }));
      continue;
    }
    const isLong = shape.kind === 'cylinder' && scale.z > 2 * scale.x;
    if (isLong) {
      const [a, b] = [-0.5, 0.5].map((z) => project(new Vector3(0, 0, z).applyMatrix4(matrix), scene.planar)) as [[number, number], [number, number]];
      see(a);
      see(b);
      drawings.push(s('line', { x1: a[0], y1: a[1], x2: b[0], y2: b[1], stroke: shape.color, 'stroke-width': 2 * scale.x, 'stroke-linecap': 'round' }));
    } else if (shape.kind === 'cylinder' || shape.kind === 'tyre') {
      const rim = Array.from({ length: 24 }, (_, i) => project(new Vector3(Math.cos((i * Math.PI) / 12), Math.sin((i * Math.PI) / 12), 0).applyMatrix4(matrix), scene.planar));
      rim.forEach(see);
      drawings.push(s('polygon', { points: rim.map((p) => p.join(',')).join(' '), fill: shape.color }));
    } else {
      const points = corners(matrix, scene.planar);
      points.forEach(see);
      drawings.push(s('polygon', { points: points.map((p) => p.join(',')).join(' '), fill: shape.color }));
    }
  }
  for (const joint of scene.joints) {
    const marker = scene.markers[joint.b];
    if (!marker || scene.joints.length > 60) continue;
    const [x, y] = project(new Vector3(...marker.position).applyMatrix4(bodyMatrix(scene, marker.body)), scene.planar);
    see([x, y]);
    drawings.push(s('circle', { cx: x, cy: y, r: 1.1 * thickness, class: 'pin' }));
  }
  if (drawings.length === 0) return picture;
  const scale = Math.min((width - 30) / Math.max(right - left, 1e-9), (height - 30) / Math.max(bottom - top, 1e-9));
  const shift = `translate(${width / 2} ${height / 2}) scale(${scale}) translate(${-(left + right) / 2} ${-(top + bottom) / 2})`;
  picture.append(s('g', { transform: shift }, ...drawings));
  return picture;
}
