// Bodies as instances: one draw call for each kind of shape, however many there are.

import {
  BoxGeometry,
  type BufferGeometry,
  Color,
  ConeGeometry,
  CylinderGeometry,
  DynamicDrawUsage,
  Group,
  type Intersection,
  InstancedMesh,
  type Material,
  Matrix4,
  MeshLambertMaterial,
  MeshStandardMaterial,
  Quaternion,
  SphereGeometry,
  TorusGeometry,
  Vector3,
} from 'three';
import type { Scene } from '../types';
import { componentColorOf } from './components';
import { isCrowd, type Shape, type ShapeKind, shapesOf } from './shapes';
import { Surfaces } from './surfaces';

type Geometries = Record<ShapeKind, BufferGeometry>;
const fine: Geometries = {
  box: new BoxGeometry(1, 1, 1),
  cylinder: new CylinderGeometry(1, 1, 1, 28).rotateX(Math.PI / 2),
  cone: new ConeGeometry(1, 1, 28).rotateX(Math.PI / 2),
  sphere: new SphereGeometry(1, 24, 16),
  tyre: new TorusGeometry(0.8, 0.2, 14, 40),
};
// For crowds, where each is small on the screen.
const coarse: Geometries = {
  box: fine.box,
  cylinder: new CylinderGeometry(1, 1, 1, 8).rotateX(Math.PI / 2),
  cone: new ConeGeometry(1, 1, 8).rotateX(Math.PI / 2),
  sphere: new SphereGeometry(1, 8, 6),
  tyre: new TorusGeometry(0.8, 0.2, 6, 16),
};

export class BodyMeshes {
  readonly group = new Group();
  private meshes: { mesh: InstancedMesh; shapes: Shape[] }[] = [];
  private surfaces = new Surfaces();
  private poses: Matrix4[] = [];
  private highlighted = new Map<number, string>();
  private scene: Scene | null = null;
  private showsComponents = true;
  private position = new Vector3();
  private quaternion = new Quaternion();
  private matrix = new Matrix4();
  private readonly one = new Vector3(1, 1, 1);

  /** A ghost is a pale copy that cannot be picked. */
  constructor(private isGhost = false) {
    if (!isGhost) this.group.add(this.surfaces.group);
  }

  build(scene: Scene, thickness: number, hasShadows: boolean): void {
    for (const { mesh } of this.meshes) {
      this.group.remove(mesh);
      (mesh.material as Material).dispose();
      mesh.dispose();
    }
    this.meshes = [];
    this.scene = scene;
    this.surfaces.build(scene, thickness);
    this.poses = scene.poses.map(() => new Matrix4());
    const shapes = shapesOf(scene, thickness);
    const geometries = isCrowd(scene) ? coarse : fine;
    for (const kind of Object.keys(geometries) as ShapeKind[]) {
      const own = shapes.filter((shape) => shape.kind === kind);
      if (own.length === 0) continue;
      const material = isCrowd(scene) ? new MeshLambertMaterial() : new MeshStandardMaterial({ roughness: 0.55, metalness: 0.05 });
      if (this.isGhost) Object.assign(material, { transparent: true, opacity: 0.28, depthWrite: false });
      const mesh = new InstancedMesh(geometries[kind], material, own.length);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.castShadow = mesh.receiveShadow = hasShadows && !this.isGhost;
      mesh.frustumCulled = false;
      own.forEach((shape, i) => mesh.setColorAt(i, new Color(shape.color)));
      this.meshes.push({ mesh, shapes: own });
      this.group.add(mesh);
    }
    this.paint();
  }

  /** Poses: position and quaternion at the head of every `stride` numbers. */
  update(data: ArrayLike<number>, stride: number): void {
    for (let b = 0; b < this.poses.length; ++b) {
      const at = b * stride;
      if (at + 7 > data.length) return;
      this.position.set(data[at]!, data[at + 1]!, data[at + 2]!);
      this.quaternion.set(data[at + 3]!, data[at + 4]!, data[at + 5]!, data[at + 6]!);
      this.poses[b]!.compose(this.position, this.quaternion, this.one);
    }
    this.surfaces.update((b) => this.poses[b]);
    for (const { mesh, shapes } of this.meshes) {
      shapes.forEach((shape, i) => {
        const pose = this.poses[shape.body];
        mesh.setMatrixAt(i, pose ? this.matrix.multiplyMatrices(pose, shape.local) : shape.local);
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
  }

  pose(body: number): Matrix4 | undefined {
    return this.poses[body];
  }

  /** Colours of single bodies in place of their own. */
  highlight(bodies: Map<number, string>): void {
    this.highlighted = bodies;
    this.paint();
  }

  /** Bodies of a divided mechanism in the colours of their components, or in their own. */
  showComponents(isOn: boolean): void {
    this.showsComponents = isOn;
    this.paint();
  }

  bodyAt(hit: Intersection): number | null {
    const entry = this.meshes.find(({ mesh }) => mesh === hit.object);
    return entry?.shapes[hit.instanceId ?? -1]?.body ?? this.surfaces.bodyAt(hit);
  }

  private paint(): void {
    for (const { mesh, shapes } of this.meshes) {
      shapes.forEach((shape, i) => {
        const glow = this.highlighted.get(shape.body);
        const component = this.showsComponents && this.scene ? componentColorOf(this.scene, shape.body) : null;
        const color = new Color(component ?? shape.color);
        mesh.setColorAt(i, glow ? color.lerp(new Color(glow), 0.55) : color);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }
}
