// What a tool makes of two points: the edits that add bodies, joints, springs and motors.

import { Quaternion, Vector3 } from 'three';
import type { Studio } from './studio';

export type Tool = 'select' | 'rod' | 'box' | 'disc' | 'sphere' | 'joint' | 'spring' | 'motor';

/** A place that was pointed at. */
export interface Spot {
  point: Vector3;
  body: number; // -1: the ground
  marker: string | null;
}

export interface JointChoice {
  type: string;
  label: string;
}

const hinge: JointChoice = { type: 'revolute', label: 'hinge' };
const slide: JointChoice = { type: 'prismatic', label: 'slide along the line' };
const weld: JointChoice = { type: 'fixed', label: 'weld as it is' };
const bar: JointChoice = { type: 'distance', label: 'massless rod' };
const pin: JointChoice = { type: 'point-on-line', label: 'pin in a slot along the line' };
const ball: JointChoice = { type: 'spherical', label: 'ball and socket' };
const seenHinge: JointChoice = { type: 'revolute', label: 'hinge about the line of sight' };
const sleeve: JointChoice = { type: 'cylindrical', label: 'sleeve along the line' };
const cross: JointChoice = { type: 'universal', label: 'universal joint' };

/** What two points can be joined by; the first is the usual one. */
export function jointChoices(planar: boolean): JointChoice[] {
  return planar ? [hinge, slide, weld, bar, pin] : [ball, seenHinge, slide, sleeve, weld, bar, cross];
}

export class Maker {
  constructor(private studio: Studio) {}

  private get planar(): boolean {
    return this.studio.scene!.planar;
  }

  /** A body between two points; a rod hangs on the points it begins or ends at. */
  async body(tool: 'rod' | 'box' | 'disc' | 'sphere', from: Spot, to: Spot): Promise<void> {
    const { studio, planar } = this;
    const name = studio.freshName(tool);
    const reach = from.point.distanceTo(to.point);
    const centre = from.point.clone().add(to.point).multiplyScalar(0.5);
    const size = to.point.clone().sub(from.point);
    const sides = [size.x, size.y, size.z].map((x) => round(Math.max(Math.abs(x), 0.1 * reach)));
    const text = {
      rod: () => `{rod: {from: ${list(from.point, planar)}, to: ${list(to.point, planar)}, mass: 1}}`,
      box: () => `{box: {size: [${(planar ? sides.slice(0, 2) : sides).join(', ')}], mass: 1}, at: ${list(centre, planar)}}`,
      disc: () => `{disc: {radius: ${round(reach)}, ${planar ? '' : `thickness: ${round(0.1 * reach)}, `}mass: 1}, at: ${list(from.point, planar)}}`,
      sphere: () => `{sphere: {radius: ${round(reach || 4 * studio.view.unit)}, mass: 1}, at: ${list(from.point, planar)}}`,
    }[tool]();
    const done = await studio.edit(`add bodies.${name} ${text}`);
    if (!done.ok) return;
    if (tool === 'rod')
      for (const [spot, end] of [[from, 'from'], [to, 'to']] as const)
        if (spot.marker) await studio.edit(`close joints.${studio.freshName('joint')} {${planar ? 'revolute' : 'spherical'}: [${spot.marker}, ${name}.${end}]}`);
    studio.select({ section: 'bodies', name });
  }

  async spring(from: Spot, to: Spot): Promise<void> {
    const markers = await this.markers(from, to);
    if (!markers) return;
    const name = this.studio.freshName('spring');
    const done = await this.studio.edit(`add forces.${name} {spring: [${markers.join(', ')}], stiffness: 200, damping: 2}`);
    if (done.ok) this.studio.select({ section: 'forces', name });
  }

  /** Ends that should meet and are apart are drawn together; other joints hold what is as it is. */
  async joint(type: string, from: Spot, to: Spot): Promise<void> {
    const text = await this.jointText(type, from, to);
    if (!text) return;
    const name = this.studio.freshName('joint');
    const done = await this.studio.edit(`close joints.${name} ${text}`);
    if (done.ok) this.studio.select({ section: 'joints', name });
  }

  /** Turns or pushes a joint at a speed that a parameter sets. */
  async motor(joint: string): Promise<void> {
    const { studio } = this;
    const { scene } = studio;
    const entry = scene!.joints.find((j) => j.name === joint);
    const coordinate = entry?.coordinates[0];
    if (!coordinate) return studio.note('info', 'A motor needs a joint that turns or slides.');
    const name = studio.freshName('motor');
    const mass = scene!.bodies.reduce((sum, b) => sum + (b.mass ?? 0), 0);
    // Strong enough to bring the whole mechanism up to speed in a fraction of a second.
    const arm = coordinate.startsWith('angle') ? 0.25 * studio.view.size : 1;
    const gain = round(Math.max(20 * mass * arm * arm, 1e-3), 2);
    if (!(await studio.edit(`add parameters.${name}_speed 3`)).ok) return;
    const done = await studio.edit(`add forces.${name} {motor: ${joint}.${coordinate}, law: ${gain}*(${name}_speed - v)}`);
    if (done.ok) studio.select({ section: 'forces', name });
  }

  /** From now on bodies are solid: rigid contact between all of them, by the integrator made for it. */
  async touch(): Promise<void> {
    const { studio } = this;
    if (studio.state?.integrator !== 'moreau-jean' && !(await studio.edit('use integrator moreau-jean')).ok) return;
    const name = studio.freshName('touch');
    const done = await studio.edit(`add contacts.${name} {rigid: [all, all], friction: 0.5}`);
    if (done.ok) studio.select({ section: 'contacts', name });
  }

  private async jointText(type: string, from: Spot, to: Spot): Promise<string | null> {
    if (!this.areApart(from, to)) return null;
    const line = to.point.clone().sub(from.point);
    if (line.length() < 1e-9 * this.studio.view.size) line.set(1, 0, 0);
    if (type === 'fixed' || type === 'prismatic' || type === 'cylindrical' || type === 'point-on-line') {
      const axis = type === 'fixed' ? '' : `, axis: ${list(line.normalize(), this.planar)}`;
      const at = type === 'point-on-line' ? to.point : from.point;
      return `{${type}: [${this.bodyName(from)}, ${this.bodyName(to)}], at: ${list(at, this.planar)}${axis}}`;
    }
    const hasAxis = !this.planar && (type === 'revolute' || type === 'universal');
    const markers = hasAxis ? await this.turnedMarkers(from, to, this.sightAxis()) : await this.markers(from, to);
    return markers && `{${type}: [${markers.join(', ')}]}`;
  }

  private areApart(from: Spot, to: Spot): boolean {
    if (from.body !== to.body) return true;
    this.studio.note('info', 'Pick points of two different bodies; an empty place is the ground.');
    return false;
  }

  /** The axis of the world that comes nearest to where one looks. */
  private sightAxis(): Vector3 {
    const sizes = this.studio.view.cameras.direction().toArray().map(Math.abs);
    return new Vector3().setComponent(sizes.indexOf(Math.max(...sizes)), 1);
  }

  private async markers(from: Spot, to: Spot): Promise<[string, string] | null> {
    if (!this.areApart(from, to)) return null;
    const a = from.marker ?? (await this.addMarker(from, ''));
    const b = to.marker ?? (await this.addMarker(to, ''));
    return a && b ? [a, b] : null;
  }

  private async turnedMarkers(from: Spot, to: Spot, axis: Vector3): Promise<[string, string] | null> {
    const turned = (spot: Spot): Promise<string | null> => {
      const pose = this.studio.view.bodies.pose(spot.body);
      const local = pose ? axis.clone().applyQuaternion(new Quaternion().setFromRotationMatrix(pose).invert()) : axis;
      return this.addMarker(spot, `, z: ${list(local, false)}`);
    };
    const a = await turned(from);
    const b = await turned(to);
    return a && b ? [a, b] : null;
  }

  private async addMarker(spot: Spot, more: string): Promise<string | null> {
    const { scene, view } = this.studio;
    const body = this.bodyName(spot);
    const taken = new Set(scene!.markers.map((m) => m.name));
    let i = 1;
    while (taken.has(`${body}.point${i}`)) ++i;
    const name = `${body}.point${i}`;
    const pose = view.bodies.pose(spot.body);
    const local = pose ? spot.point.clone().applyMatrix4(pose.clone().invert()) : spot.point;
    // On a beam a place is an arc length and an offset in the section.
    local.x += scene!.bodies.find((b) => b.index === spot.body)?.along ?? 0;
    const done = await this.studio.edit(`add markers.${name} {at: ${list(local, this.planar)}${more}}`);
    return done.ok ? name : null;
  }

  private bodyName(spot: Spot): string {
    return this.studio.scene!.bodies.find((b) => b.index === spot.body)!.name;
  }
}

function round(x: number, digits = 4): number {
  return Number(x.toPrecision(digits));
}

/** A vector in the words of an edit. */
export function list(v: Vector3, planar: boolean): string {
  return `[${(planar ? [v.x, v.y] : [v.x, v.y, v.z]).map((x) => round(x, 7)).join(', ')}]`;
}
