// What is drawn over the bodies for each frame: springs, arrows, traces, the pull of the mouse, a line being drawn.

import { Color, Group, Vector3 } from 'three';
import { bodyStride, type Frame, jointStride } from '../frame';
import type { Scene } from '../types';
import { ContactMarks } from './contacts';
import { addSpring, ArrowLayer, LineLayer, Traces } from './lines';
import { type FrameOf, StopLines } from './stops';

const pullColor = new Color('#f0e442');
const previewColor = new Color('#56b4e9');

/** Where a marker is now, by its number in the scene. */
export type Locate = (marker: number) => Vector3 | null;

export interface Shown {
  reactions: boolean;
  velocities: boolean;
  traces: boolean;
  components: boolean;
  contacts: boolean;
}

export class Overlays {
  readonly group = new Group();
  readonly shown: Shown = { reactions: false, velocities: false, traces: false, contacts: true, components: true };
  readonly reactions = new ArrowLayer('#d55e00');
  readonly velocities = new ArrowLayer('#009e73');
  readonly traces = new Traces();
  readonly contacts = new ContactMarks();
  /** Ends of a line that is being drawn. */
  preview: [Vector3, Vector3] | null = null;
  pullMarker: string | null = null;
  private springs = new LineLayer(2.2);
  private pull = new LineLayer(3);
  private stops = new StopLines();
  private largestSpring = 0;

  constructor() {
    this.group.add(this.springs.object, this.pull.object, this.reactions.group, this.velocities.group, this.traces.layer.object, this.contacts.group, this.stops.layer.object);
  }

  /** Another model. */
  restart(): void {
    this.traces.clear();
    this.largestSpring = this.reactions.largest = this.velocities.largest = this.contacts.forces.largest = 0;
  }

  /** Time has gone back. */
  goBack(): void {
    this.traces.restart();
    this.reactions.largest = this.velocities.largest = this.contacts.forces.largest = 0;
  }

  update(scene: Scene, frame: Frame, locate: Locate, frameOf: FrameOf, unit: number, size: number): void {
    // Over the bodies of planar models, which are flat.
    this.contacts.group.position.z = this.stops.layer.object.position.z = scene.planar ? 4 * unit : 0;
    this.contacts.update(frame, this.shown.contacts, unit, 0.3 * size);
    this.stops.update(scene, frame, frameOf, unit);
    this.drawSprings(scene, frame, locate, 1.6 * unit);
    this.drawArrows(frame, 0.3 * size);
    this.traces.layer.clear();
    if (this.shown.traces) {
      this.traces.extend((name) => locate(scene.markers.findIndex((m) => m.name === name)));
      this.traces.add();
    }
    this.traces.layer.show();
  }

  /** Between frames too, since the mouse moves. */
  updatePull(scene: Scene, frame: Frame | null, locate: Locate, unit: number): void {
    this.pull.clear();
    const from = this.pullMarker ? locate(scene.markers.findIndex((m) => m.name === this.pullMarker)) : null;
    if (frame?.pull && from) {
      const target = vector(frame.pull, 0);
      addSpring(this.pull, from, target, unit, scene.planar, 0, 0);
      this.pull.add(from, target, pullColor);
    }
    if (this.preview) this.pull.add(...this.preview, previewColor);
    this.pull.show();
  }

  private drawSprings(scene: Scene, frame: Frame, locate: Locate, radius: number): void {
    this.springs.clear();
    scene.forces.forEach((force, i) => {
      if (force.type !== 'spring') return;
      const from = locate(force.a);
      const to = locate(force.b);
      if (!from || !to) return;
      const value = frame.forces[i] ?? 0;
      this.largestSpring = Math.max(this.largestSpring * 0.999, Math.abs(value));
      addSpring(this.springs, from, to, radius, scene.planar, value, this.largestSpring);
    });
    this.springs.show();
  }

  private drawArrows(frame: Frame, longest: number): void {
    this.velocities.clear();
    this.reactions.clear();
    if (this.shown.velocities)
      for (let at = 0; at < frame.bodies.length; at += bodyStride) this.velocities.add(vector(frame.bodies, at + 7), vector(frame.bodies, at + 10));
    if (this.shown.reactions)
      for (let at = 0; at < frame.joints.length; at += jointStride) this.reactions.add(vector(frame.joints, at), vector(frame.joints, at + 3));
    this.velocities.show(longest);
    this.reactions.show(longest);
  }
}

function vector(data: Float32Array, at: number): Vector3 {
  return new Vector3(data[at], data[at + 1], data[at + 2]);
}
