// Shapes that are made of corners: hulls and surfaces of triangles, each with a geometry of its own.

import { BufferGeometry, DoubleSide, Float32BufferAttribute, Group, type Intersection, type Material, Matrix4, Mesh, MeshStandardMaterial, Quaternion, Vector3 } from 'three';
import { ConvexGeometry } from 'three/examples/jsm/geometries/ConvexGeometry.js';
import type { ContactShape, Scene } from '../types';
import { colorOf } from './shapes';

function geometryOf(shape: ContactShape, planar: boolean, thickness: number): BufferGeometry {
  // Prisms of planar models are endless along z.
  const corners = (shape.vertices ?? []).map(([x, y, z]) => new Vector3(x, y, planar ? Math.sign(z) * thickness : z));
  if (shape.kind === 'convex') return new ConvexGeometry(corners);
  return planar ? band(corners, thickness) : surface(corners, shape.triangles ?? []);
}

function surface(corners: Vector3[], triangles: [number, number, number][]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute('position', new Float32BufferAttribute(triangles.flatMap((t) => t.flatMap((i) => corners[i]!.toArray())), 3));
  geometry.computeVertexNormals();
  return geometry;
}

// A line of the plane, seen from the side of its edge: a band behind it. Its corners come in pairs, one at each end of the prism.
function band(corners: Vector3[], thickness: number): BufferGeometry {
  const line = corners.filter((_, i) => i % 2 === 0).map(({ x, y }) => new Vector3(x, y, 0));
  const pieces = line.slice(1).flatMap((end, i) => {
    const start = line[i]!;
    const along = end.clone().sub(start).normalize();
    const behind = new Vector3(along.y, -along.x, 0).multiplyScalar(2 * thickness);
    return [start, end, end.clone().add(behind), start, end.clone().add(behind), start.clone().add(behind)];
  });
  const geometry = new BufferGeometry().setFromPoints(pieces);
  geometry.computeVertexNormals();
  return geometry;
}

export class Surfaces {
  readonly group = new Group();
  private parts: { mesh: Mesh; body: number; local: Matrix4 }[] = [];

  build(scene: Scene, thickness: number): void {
    for (const { mesh } of this.parts) {
      this.group.remove(mesh);
      mesh.geometry.dispose();
      (mesh.material as Material).dispose();
    }
    this.parts = [];
    for (const body of scene.bodies)
      for (const shape of body.shapes ?? []) {
        if (shape.kind !== 'convex' && shape.kind !== 'mesh') continue;
        const material = new MeshStandardMaterial({ color: colorOf(body), roughness: 0.7, side: DoubleSide, flatShading: true });
        const mesh = new Mesh(geometryOf(shape, scene.planar, thickness), material);
        mesh.matrixAutoUpdate = false;
        mesh.receiveShadow = mesh.castShadow = !scene.planar;
        const local = new Matrix4().compose(new Vector3(...shape.position), new Quaternion(...shape.quaternion), new Vector3(1, 1, 1));
        mesh.matrix.copy(local);
        this.parts.push({ mesh, body: body.index, local });
        this.group.add(mesh);
      }
  }

  update(pose: (body: number) => Matrix4 | undefined): void {
    for (const { mesh, body, local } of this.parts) {
      const place = pose(body);
      if (place) mesh.matrix.multiplyMatrices(place, local);
      mesh.matrixWorldNeedsUpdate = true;
    }
  }

  bodyAt(hit: Intersection): number | null {
    return this.parts.find(({ mesh }) => mesh === hit.object)?.body ?? null;
  }
}
