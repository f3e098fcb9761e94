// Where things touch: points, normals and the forces that act there.

import { Color, Group, InstancedMesh, Matrix4, MeshBasicMaterial, SphereGeometry, Vector3 } from 'three';
import { contactStride, type Frame } from '../frame';
import { ArrowLayer, LineLayer } from './lines';

const mostDots = 2000;
const color = '#f0e442';
const geometry = new SphereGeometry(1, 10, 8);

export class ContactMarks {
  readonly group = new Group();
  readonly forces = new ArrowLayer('#cc79a7');
  /** Contacts drawn at the moment. */
  count = 0;
  private dots = new InstancedMesh(geometry, new MeshBasicMaterial({ color, depthTest: false, transparent: true }), mostDots);
  private normals = new LineLayer(1.6);
  private normalColor = new Color(color);

  constructor() {
    this.dots.count = 0;
    this.dots.frustumCulled = false;
    this.dots.renderOrder = 4;
    this.normals.object.material.depthTest = false;
    this.group.add(this.dots, this.normals.object, this.forces.group);
  }

  update(frame: Frame, isShown: boolean, unit: number, longest: number): void {
    const { contacts } = frame;
    this.count = isShown ? Math.min(mostDots, contacts.length / contactStride) : 0;
    this.normals.clear();
    this.forces.clear();
    const matrix = new Matrix4();
    const part = (at: number) => new Vector3(contacts[at], contacts[at + 1], contacts[at + 2]);
    for (let i = 0; i < this.count; ++i) {
      const at = i * contactStride;
      const point = part(at);
      this.dots.setMatrixAt(i, matrix.makeScale(0.5 * unit, 0.5 * unit, 0.5 * unit).setPosition(point));
      this.normals.add(point, point.clone().addScaledVector(part(at + 3), 3 * unit), this.normalColor);
      this.forces.add(point, part(at + 6));
    }
    this.dots.count = this.count;
    this.dots.instanceMatrix.needsUpdate = true;
    this.normals.show();
    this.forces.show(longest);
  }
}
