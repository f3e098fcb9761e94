// Joints, and in planar models the ground's feet, as small signs that keep their place on the bodies.

import {
  BoxGeometry,
  type BufferGeometry,
  Color,
  CylinderGeometry,
  Group,
  InstancedMesh,
  type Intersection,
  type Material,
  Matrix4,
  MeshBasicMaterial,
  MeshLambertMaterial,
  MeshStandardMaterial,
  OctahedronGeometry,
  Quaternion,
  SphereGeometry,
  TorusGeometry,
  Vector3,
} from 'three';
import type { Joint, Scene } from '../types';
import { isCrowd } from './shapes';

type Sign = 'hinge' | 'slide' | 'ball' | 'other';

type Signs = Record<Sign, BufferGeometry>;
const fine: Signs = {
  hinge: new TorusGeometry(1, 0.38, 12, 28),
  slide: new BoxGeometry(2.4, 1.5, 1.5),
  ball: new SphereGeometry(1.15, 20, 14),
  other: new OctahedronGeometry(1.3),
};
const coarse: Signs = { ...fine, hinge: new CylinderGeometry(1.2, 1.2, 1, 8).rotateX(Math.PI / 2), ball: new OctahedronGeometry(1.3) };
const footGeometry = new CylinderGeometry(0.01, 2.1, 2.6, 4, 1).rotateY(Math.PI / 4).scale(1, 1, 0.15).translate(0, -1.6, 0);

function signOf(joint: Joint): Sign {
  if (joint.type === 'revolute' || joint.type === 'cylindrical' || joint.type === 'helical') return 'hinge';
  if (joint.type === 'prismatic') return 'slide';
  if (joint.type === 'spherical' || joint.type === 'universal') return 'ball';
  return 'other';
}

function colorOf(joint: Joint, isMarked: boolean, isSelected: boolean): string {
  if (isSelected) return '#f0e442';
  if (isMarked) return '#d55e00';
  if (joint.disabled) return '#5d6670';
  return joint.closing ? '#e69f00' : '#dfe5ec';
}

export class Glyphs {
  readonly group = new Group();
  private layers: { mesh: InstancedMesh; joints: number[] }[] = [];
  private feet: InstancedMesh | null = null;
  private scene: Scene | null = null;
  private size = 1;
  private place = new Vector3();
  private turn = new Quaternion();
  private full = new Matrix4();
  private local = new Matrix4();

  build(scene: Scene, size: number): void {
    for (const { mesh } of this.layers) this.discard(mesh);
    if (this.feet) this.discard(this.feet);
    this.layers = [];
    this.feet = null;
    this.scene = scene;
    this.size = size;
    const signs = isCrowd(scene) ? coarse : fine;
    for (const sign of Object.keys(signs) as Sign[]) {
      const joints = scene.joints.flatMap((joint, i) => (joint.b >= 0 && signOf(joint) === sign ? [i] : []));
      if (joints.length === 0) continue;
      const mesh = new InstancedMesh(signs[sign], isCrowd(scene) ? new MeshLambertMaterial() : new MeshStandardMaterial({ roughness: 0.4 }), joints.length);
      mesh.frustumCulled = false;
      mesh.renderOrder = 2;
      this.layers.push({ mesh, joints });
      this.group.add(mesh);
    }
    const grounded = this.grounded();
    if (scene.planar && grounded.length > 0) {
      this.feet = new InstancedMesh(footGeometry, new MeshBasicMaterial({ color: '#8a929c' }), grounded.length);
      this.feet.frustumCulled = false;
      grounded.forEach((marker, i) => {
        this.place.set(...scene.markers[marker]!.position);
        this.feet!.setMatrixAt(i, this.local.compose(this.place, new Quaternion(), new Vector3(size, size, size)));
      });
      this.group.add(this.feet);
    }
    this.paint(new Set(), null);
  }

  /** Joints in `marked` are those a panel speaks of. */
  paint(marked: Set<string>, selected: string | null): void {
    for (const { mesh, joints } of this.layers) {
      joints.forEach((index, i) => {
        const joint = this.scene!.joints[index]!;
        mesh.setColorAt(i, new Color(colorOf(joint, marked.has(joint.name), joint.name === selected)));
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  update(pose: (body: number) => Matrix4 | undefined): void {
    if (!this.scene) return;
    for (const { mesh, joints } of this.layers) {
      joints.forEach((index, i) => {
        const marker = this.scene!.markers[this.scene!.joints[index]!.b]!;
        this.place.set(...marker.position);
        this.turn.set(...marker.quaternion);
        this.local.compose(this.place, this.turn, new Vector3(this.size, this.size, this.size));
        const body = pose(marker.body);
        mesh.setMatrixAt(i, body ? this.full.multiplyMatrices(body, this.local) : this.local);
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
  }

  jointAt(hit: Intersection): string | null {
    const layer = this.layers.find(({ mesh }) => mesh === hit.object);
    const index = layer?.joints[hit.instanceId ?? -1];
    return index === undefined ? null : (this.scene?.joints[index]?.name ?? null);
  }

  private grounded(): number[] {
    const scene = this.scene!;
    const markers = new Set<number>();
    for (const joint of scene.joints)
      for (const m of [joint.a, joint.b]) if (m >= 0 && scene.markers[m]!.body < 0 && signOf(joint) !== 'slide') markers.add(m);
    return [...markers];
  }

  private discard(mesh: InstancedMesh): void {
    this.group.remove(mesh);
    (mesh.material as Material).dispose();
    mesh.dispose();
  }
}
