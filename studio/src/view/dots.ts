// Markers as dots: shown while one is about to pick them.

import { Color, InstancedMesh, Matrix4, MeshBasicMaterial, SphereGeometry, Vector3 } from 'three';
import type { Scene } from '../types';

const geometry = new SphereGeometry(1, 12, 8);
const plain = new Color('#56b4e9');
const ofGround = new Color('#8a929c');

export class MarkerDots {
  mesh = new InstancedMesh(geometry, new MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 }), 0);
  private markers: number[] = []; // those that can be picked

  build(scene: Scene, size: number): void {
    const { parent, visible, material } = this.mesh;
    this.mesh.removeFromParent();
    this.mesh.dispose();
    this.markers = scene.markers.flatMap((marker, i) => (marker.own ? [] : [i]));
    this.mesh = new InstancedMesh(geometry, material, this.markers.length);
    this.mesh.visible = visible;
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 4;
    this.markers.forEach((m, i) => this.mesh.setColorAt(i, scene.markers[m]!.body < 0 ? ofGround : plain));
    this.size = size;
    parent?.add(this.mesh);
  }

  update(locate: (marker: number) => Vector3 | null): void {
    if (!this.mesh.visible) return;
    const matrix = new Matrix4();
    this.markers.forEach((marker, i) => {
      const at = locate(marker);
      if (at) this.mesh.setMatrixAt(i, matrix.makeScale(this.size, this.size, this.size).setPosition(at));
    });
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  private size = 1;
}
