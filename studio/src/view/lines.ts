// Everything drawn with lines: springs, arrows, traces, the spring between mouse and body.

import { Color, ConeGeometry, Group, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, Vector3 } from 'three';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import { LineSegments2 } from 'three/examples/jsm/lines/LineSegments2.js';
import { LineSegmentsGeometry } from 'three/examples/jsm/lines/LineSegmentsGeometry.js';
import { palette } from './shapes';

/** Line segments that are all drawn anew for each frame. */
export class LineLayer {
  readonly object: LineSegments2;
  private points: number[] = [];
  private colors: number[] = [];
  private capacity = 0;

  constructor(width: number, opacity = 1) {
    const material = new LineMaterial({ linewidth: width, vertexColors: true, transparent: opacity < 1, opacity });
    this.object = new LineSegments2(new LineSegmentsGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 3;
    this.object.visible = false;
  }

  clear(): void {
    this.points.length = this.colors.length = 0;
  }

  add(from: Vector3, to: Vector3, color: Color): void {
    this.points.push(from.x, from.y, from.z, to.x, to.y, to.z);
    this.colors.push(color.r, color.g, color.b, color.r, color.g, color.b);
  }

  show(): void {
    const count = this.points.length / 6;
    this.object.visible = count > 0;
    if (count === 0) return;
    // Buffers are kept as long as they are large enough; the rest of them is not drawn.
    if (count > this.capacity) {
      this.capacity = Math.ceil(1.5 * count);
      this.object.geometry.dispose();
      this.object.geometry = new LineSegmentsGeometry();
      this.object.geometry.setPositions(new Float32Array(6 * this.capacity));
      this.object.geometry.setColors(new Float32Array(6 * this.capacity));
    }
    for (const [name, values] of [['instanceStart', this.points], ['instanceColorStart', this.colors]] as const) {
      const buffer = (this.object.geometry.getAttribute(name) as unknown as { data: { array: Float32Array; needsUpdate: boolean } }).data;
      buffer.array.set(values);
      buffer.needsUpdate = true;
    }
    this.object.geometry.instanceCount = count;
  }
}

const tension = new Color('#e69f00');
const compression = new Color('#0072b2');
const slack = new Color('#9aa4af');

/** Spring between two points: a zigzag, or a coil in space; the colour tells the force. */
export function addSpring(layer: LineLayer, from: Vector3, to: Vector3, radius: number, planar: boolean, force: number, largest: number): void {
  const axis = to.clone().sub(from);
  const length = axis.length();
  if (length < 1e-12) return;
  axis.divideScalar(length);
  const side = planar ? new Vector3(-axis.y, axis.x, 0) : new Vector3(axis.y, axis.z, axis.x).cross(axis).normalize();
  const other = axis.clone().cross(side);
  const share = largest > 0 ? Math.min(1, Math.abs(force) / largest) : 0;
  const color = slack.clone().lerp(force >= 0 ? tension : compression, share);
  const turns = 8;
  const pieces = planar ? 2 * turns : 12 * turns;
  let before = from.clone();
  const point = (t: number): Vector3 => {
    const p = from.clone().addScaledVector(axis, length * (0.12 + 0.76 * t));
    if (planar) return p;
    const angle = 2 * Math.PI * turns * t;
    return p.addScaledVector(side, radius * Math.cos(angle)).addScaledVector(other, radius * Math.sin(angle));
  };
  for (let i = 0; i <= pieces; ++i) {
    const p = point(i / pieces);
    if (planar && i > 0 && i < pieces) p.addScaledVector(side, i % 2 ? radius : -radius);
    layer.add(before, p, color);
    before = p;
  }
  layer.add(before, to, color);
}

const headGeometry = new ConeGeometry(1, 3, 14).translate(0, -1.5, 0);
const mostArrows = 2000;

/** Arrows of one kind, scaled by the largest of them, which a legend names. */
export class ArrowLayer {
  readonly group = new Group();
  /** Size of the longest arrow, in its own unit. */
  largest = 0;
  private layer = new LineLayer(2.5);
  private heads: InstancedMesh;
  private color: Color;
  private list: { at: Vector3; value: Vector3 }[] = [];

  constructor(color: string) {
    this.color = new Color(color);
    this.heads = new InstancedMesh(headGeometry, new MeshBasicMaterial({ color }), mostArrows);
    this.heads.count = 0;
    this.heads.frustumCulled = false;
    this.heads.renderOrder = 3;
    this.group.add(this.layer.object, this.heads);
  }

  clear(): void {
    this.list = [];
  }

  add(at: Vector3, value: Vector3): void {
    if (this.list.length < mostArrows) this.list.push({ at, value });
  }

  show(longest: number): void {
    const now = Math.max(0, ...this.list.map(({ value }) => value.length()));
    // Falls slowly, so that the scale does not pump.
    this.largest = Math.max(now, 0.995 * this.largest);
    this.layer.clear();
    const scale = this.largest > 0 ? longest / this.largest : 0;
    let count = 0;
    const matrix = new Matrix4();
    for (const { at, value } of this.list) {
      const length = value.length() * scale;
      if (length < 0.02 * longest) continue;
      const tip = at.clone().addScaledVector(value, scale);
      this.layer.add(at, tip, this.color);
      const size = Math.min(0.045 * longest, 0.2 * length);
      const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 1, 0), value.clone().normalize());
      this.heads.setMatrixAt(count++, matrix.compose(tip, turn, new Vector3(size, size, size)));
    }
    this.heads.count = count;
    this.heads.instanceMatrix.needsUpdate = true;
    this.layer.show();
  }
}

const longestTrace = 1500;

/** Paths of points through the world. */
export class Traces {
  readonly layer = new LineLayer(1.8, 0.85);
  private paths = new Map<string, { color: Color; points: Vector3[] }>();

  get names(): string[] {
    return [...this.paths.keys()];
  }
  toggle(name: string, color: string): void {
    if (!this.paths.delete(name)) this.paths.set(name, { color: new Color(color), points: [] });
  }
  clear(): void {
    this.paths.clear();
  }
  restart(): void {
    for (const path of this.paths.values()) path.points = [];
  }
  extend(locate: (marker: string) => Vector3 | null): void {
    for (const [name, path] of this.paths) {
      const point = locate(name);
      if (!point) continue;
      path.points.push(point);
      if (path.points.length > longestTrace) path.points.shift();
    }
  }
  add(): void {
    for (const { color, points } of this.paths.values())
      for (let i = 1; i < points.length; ++i) this.layer.add(points[i - 1]!, points[i]!, color);
  }
  /** A colour that none of the traces has, as long as there are some. */
  nextColor(): string {
    return palette[(this.paths.size + 1) % palette.length]!;
  }
}
