// The solids of a scene, and what touches, as instances of unit shapes: box, cylinder and cone along z, sphere, tyre around z.

import { Box3, Matrix4, Quaternion, Vector3 } from 'three';
import type { Body, ContactShape, Scene, Solid } from '../types';

export type ShapeKind = 'box' | 'cylinder' | 'cone' | 'sphere' | 'tyre';

export interface Shape {
  kind: ShapeKind;
  body: number; // -1: the ground
  local: Matrix4; // unit shape -> body
  color: string;
  isEndless?: boolean; // stands for a plane
}

/** So many bodies that each must be cheap to draw. */
export function isCrowd(scene: Scene): boolean {
  return scene.bodies.length > 200;
}

/** Okabe and Ito: told apart with every kind of colour vision. */
export const palette = ['#56b4e9', '#e69f00', '#009e73', '#cc79a7', '#0072b2', '#d55e00', '#f0e442'];

const along = {
  x: new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), Math.PI / 2),
};

/** Where bodies are at the moment the scene was sent. */
export function bodyMatrix(scene: Scene, body: number): Matrix4 {
  const pose = scene.poses[body];
  if (!pose) return new Matrix4();
  const [x = 0, y = 0, z = 0, qx = 0, qy = 0, qz = 0, qw = 1] = pose;
  return new Matrix4().compose(new Vector3(x, y, z), new Quaternion(qx, qy, qz, qw), new Vector3(1, 1, 1));
}

/** Whether something holds the mechanism in its place. */
export function isGrounded(scene: Scene): boolean {
  return groundMarkers(scene).length > 0;
}

function groundMarkers(scene: Scene): number[] {
  const joined = scene.joints.filter((j) => !j.disabled).flatMap((j) => [j.a, j.b]);
  return joined.filter((m) => scene.markers[m]?.body === -1);
}

// Where bodies will get to that turn about a point of the ground: all around it in the plane; to the sides and down if everything hangs on it.
function swingOf(scene: Scene): Vector3[] {
  const axes = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)].slice(0, scene.planar ? 2 : 3);
  const place = (m: number) => new Vector3(...scene.markers[m]!.position).applyMatrix4(bodyMatrix(scene, scene.markers[m]!.body));
  const reach = (pivot: Vector3, body?: number) =>
    Math.max(0, ...scene.markers.map((marker, m) => (marker.body >= 0 && (body ?? marker.body) === marker.body ? pivot.distanceTo(place(m)) : 0)));
  const around = (pivot: Vector3, radius: number, ways: Vector3[]) => ways.map((way) => pivot.clone().addScaledVector(way, radius));
  const bothWays = (list: Vector3[]) => list.flatMap((axis) => [axis, axis.clone().negate()]);
  const points: Vector3[] = [];
  if (scene.planar && !isCrowd(scene))
    for (const { a, b, type } of scene.joints) {
      const [ground, other] = scene.markers[a]?.body === -1 ? [a, b] : [b, a];
      if (type === 'revolute' && scene.markers[ground]?.body === -1) points.push(...around(place(ground), reach(place(ground), scene.markers[other]?.body), bothWays(axes)));
    }
  const [only, ...others] = groundMarkers(scene);
  const gravity = new Vector3(...scene.gravity.map((g) => Number(g) || 0)).normalize();
  if (only !== undefined && others.length === 0 && gravity.length() > 0)
    points.push(...around(place(only), reach(place(only)), [gravity, ...bothWays(axes.filter((axis) => Math.abs(axis.dot(gravity)) < 0.5))]));
  return points;
}

/** The box around everything and around the swing of a pendulum; never empty. */
export function sceneBounds(scene: Scene): Box3 {
  const bounds = modelBounds(scene);
  for (const point of swingOf(scene)) bounds.expandByPoint(point);
  return bounds;
}

/** The box around everything, markers included; never empty. */
export function modelBounds(scene: Scene): Box3 {
  const bounds = new Box3();
  const used = new Set([...scene.joints, ...scene.forces].flatMap(({ a, b }) => [a, b]));
  const matrices = new Map(scene.bodies.map((body) => [body.index, bodyMatrix(scene, body.index)]));
  scene.markers.forEach((marker, i) => {
    // The ground's origin counts only if something is attached to it.
    if (marker.body >= 0 || used.has(i)) bounds.expandByPoint(new Vector3(...marker.position).applyMatrix4(matrices.get(marker.body)!));
  });
  for (const body of scene.bodies) {
    for (const solid of body.solids) {
      const reach = solid.kind === 'rod' || solid.kind === 'point' ? 0 : Math.max(...solid.size) * (solid.kind === 'box' ? 0.5 : 1);
      const centre = new Vector3(...solid.position).applyMatrix4(matrices.get(body.index)!);
      bounds.union(new Box3().setFromCenterAndSize(centre, new Vector3(2 * reach, 2 * reach, 2 * reach)));
    }
    for (const shape of body.shapes ?? []) for (const point of extremes(shape, scene.planar)) bounds.expandByPoint(point.applyMatrix4(matrices.get(body.index)!));
  }
  if (bounds.isEmpty()) bounds.setFromCenterAndSize(new Vector3(), new Vector3(1, 1, 1));
  if (bounds.getSize(new Vector3()).length() < 1e-6) bounds.expandByScalar(0.5);
  return bounds;
}

// Corners of what a shape reaches, in its body; planes reach everywhere.
function extremes(shape: ContactShape, planar: boolean): Vector3[] {
  const frame = new Matrix4().compose(new Vector3(...shape.position), new Quaternion(...shape.quaternion), new Vector3(1, 1, 1));
  if (shape.kind === 'plane') return [];
  const points = (shape.vertices ?? []).map(([x, y, z]) => new Vector3(x, y, planar ? 0 : z));
  if (points.length === 0) {
    const [x = 0, y = 0, z = 0] = shape.kind === 'box' ? shape.size.map((side) => side / 2) : [shape.size[0], shape.size[0], (shape.size[1] ?? 0) / 2 + (shape.size[0] ?? 0)];
    for (const sx of [-x, x]) for (const sy of [-y, y]) for (const sz of planar && shape.kind === 'box' ? [0] : [-z, z]) points.push(new Vector3(sx, sy, sz));
  }
  return points.map((point) => point.applyMatrix4(frame));
}

/** The colour of a body that has none of its own. */
export function colorOf(body: Body): string {
  return body.index < 0 ? '#8a929c' : palette[body.index % palette.length]!;
}

type Placed = Pick<Solid, 'position' | 'quaternion'>;

function place(solid: Placed, offset: Vector3, turn: Quaternion, scale: Vector3): Matrix4 {
  const frame = new Matrix4().compose(new Vector3(...solid.position), new Quaternion(...solid.quaternion), new Vector3(1, 1, 1));
  return frame.multiply(new Matrix4().compose(offset, turn, scale));
}

function shapesOfSolid(solid: Solid, body: number, color: string, thickness: number, { planar, hasRoundEnds }: { planar: boolean; hasRoundEnds: boolean }): Shape[] {
  const straight = new Quaternion();
  const size = (i: number) => solid.size[i] ?? 0;
  const one = (kind: ShapeKind, scale: Vector3): Shape[] => [{ kind, body, color, local: place(solid, new Vector3(), straight, scale) }];
  switch (solid.kind) {
    case 'rod': {
      const radius = size(1) || thickness;
      const length = size(0);
      const end = (x: number): Shape => ({
        kind: 'sphere',
        body,
        color,
        local: place(solid, new Vector3(x, 0, 0), straight, new Vector3(radius, radius, radius)),
      });
      const shaft = place(solid, new Vector3(length / 2, 0, 0), along.x, new Vector3(radius, radius, length));
      return [{ kind: 'cylinder', body, color, local: shaft }, ...(hasRoundEnds ? [end(0), end(length)] : [])];
    }
    case 'box':
      return one('box', new Vector3(size(0), size(1), planar ? 2 * thickness : size(2)));
    case 'cylinder':
    case 'disc':
      return one('cylinder', new Vector3(size(0), size(0), planar ? 2 * thickness : size(1) || thickness));
    case 'sphere':
      return one('sphere', new Vector3(size(0), size(0), size(0)));
    case 'point':
      return one('sphere', new Vector3(2 * thickness, 2 * thickness, 2 * thickness));
  }
}

// A round shape or a box; those made of corners are in surfaces.ts.
function shapesOfContact(shape: ContactShape, body: number, color: string, thickness: number, planar: boolean): Shape[] {
  const [x = 0, y = 0, z = 0] = shape.size;
  const one = (kind: ShapeKind, scale: Vector3, at = 0): Shape => ({ kind, body, color, local: place(shape, new Vector3(0, 0, at), new Quaternion(), scale) });
  switch (shape.kind) {
    case 'sphere':
      return [one('sphere', new Vector3(x, x, x))];
    case 'box':
      return [one('box', new Vector3(x, y, planar ? 2 * thickness : z))];
    case 'cylinder':
    case 'cone':
      return [one(shape.kind, new Vector3(x, x, y))];
    case 'capsule':
      return [one('cylinder', new Vector3(x, x, y)), ...[-y / 2, y / 2].map((end) => one('sphere', new Vector3(x, x, x), end))];
    default:
      return [];
  }
}

// Planes as slabs around the middle of the model, below their surface.
function slab(frame: Placed, body: number, normal: 'y' | 'z', scene: Scene, thickness: number): Shape {
  const bounds = modelBounds(scene);
  const reach = 1.6 * bounds.getSize(new Vector3()).length();
  const middle = bounds.getCenter(new Vector3()).applyMatrix4(bodyMatrix(scene, body).multiply(place(frame, new Vector3(), new Quaternion(), new Vector3(1, 1, 1))).invert());
  const size = new Vector3(reach, scene.planar ? 2 * thickness : reach, thickness);
  if (normal === 'y') {
    middle.y = -thickness / 2;
    [size.y, size.z] = [size.z, size.y];
  } else {
    middle.z = -thickness / 2;
  }
  return { kind: 'box', body, color: '#707983', local: place(frame, middle, new Quaternion(), size), isEndless: true };
}

// Planes that bodies touch, and walls, each once.
function planes(scene: Scene, thickness: number): Shape[] {
  const walls = new Set(scene.stops.filter((stop) => stop.type === 'wall').map((stop) => stop.a));
  return [
    ...scene.bodies.flatMap((body) => (body.shapes ?? []).filter((shape) => shape.kind === 'plane').map((shape) => slab(shape, body.index, 'z', scene, thickness))),
    ...[...walls].map((marker) => slab(scene.markers[marker]!, scene.markers[marker]!.body, scene.planar ? 'y' : 'z', scene, thickness)),
  ];
}

// A body that has only a mass: thin rods from its centre to its markers.
function skeleton(scene: Scene, body: Body, color: string, thickness: number): Shape[] {
  const centre = new Vector3(...(body.centre ?? [0, 0, 0]));
  const ball = 1.6 * thickness;
  const shapes: Shape[] = [
    { kind: 'sphere', body: body.index, color, local: new Matrix4().compose(centre, new Quaternion(), new Vector3(ball, ball, ball)) },
  ];
  const markers = scene.markers.filter((marker) => marker.body === body.index);
  const radius = thickness * Math.min(0.6, 3 / markers.length);
  for (const marker of markers) {
    const arm = new Vector3(...marker.position).sub(centre);
    const length = arm.length();
    if (length < thickness) continue;
    const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), arm.clone().normalize());
    const middle = centre.clone().addScaledVector(arm, 0.5);
    shapes.push({ kind: 'cylinder', body: body.index, color, local: new Matrix4().compose(middle, turn, new Vector3(radius, radius, length)) });
  }
  return shapes;
}

// Wheels that have no body of their own: tyres of forces, discs of rolling joints.
function wheels(scene: Scene): Shape[] {
  return [...scene.forces, ...scene.joints].flatMap(({ radius, b }) => {
    const marker = scene.markers[b];
    if (radius === undefined || !marker) return [];
    const local = new Matrix4().compose(new Vector3(...marker.position), new Quaternion(...marker.quaternion), new Vector3(radius, radius, radius));
    return [{ kind: 'tyre', body: marker.body, color: '#4a525c', local }];
  });
}

/** All shapes; `thickness` is the radius of what has none. */
export function shapesOf(scene: Scene, thickness: number): Shape[] {
  const shapes = [...planes(scene, thickness), ...wheels(scene)];
  const style = { planar: scene.planar, hasRoundEnds: !isCrowd(scene) };
  for (const body of scene.bodies) {
    const automatic = colorOf(body);
    for (const shape of body.shapes ?? []) shapes.push(...shapesOfContact(shape, body.index, automatic, thickness, scene.planar));
    if (body.solids.length === 0 && body.index >= 0 && !body.shapes) shapes.push(...skeleton(scene, body, automatic, thickness));
    for (const solid of body.solids)
      shapes.push(...shapesOfSolid(solid, body.index, solid.color || automatic, thickness, style));
  }
  return shapes;
}
