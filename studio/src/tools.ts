// The mouse in the picture: dragging bodies, drawing new ones, connecting points.

import { Vector3 } from 'three';
import { h } from './dom';
import type { Studio } from './studio';

export type Tool = 'select' | 'rod' | 'box' | 'disc' | 'sphere' | 'joint' | 'spring';

const snapDistance = 16; // pixels

interface Spot {
  point: Vector3;
  body: number; // -1: the ground
  marker: string | null;
}

export class Tools {
  tool: Tool = 'select';
  private start: Spot | null = null;
  private pulled: { marker: string; offset: Vector3; depth: Vector3 } | null = null;
  private tip = h('div', { class: 'tip', hidden: true });
  private ring = h('div', { class: 'snap', hidden: true });
  private pending = false;

  constructor(
    private studio: Studio,
    private host: HTMLElement,
    private onTool: (tool: Tool) => void,
  ) {
    host.append(this.tip, this.ring);
    const canvas = studio.view.renderer.domElement;
    // Before the camera's own listeners, so that a grabbed body does not turn the view.
    host.addEventListener('pointerdown', (e) => e.target === canvas && this.down(e), true);
    host.addEventListener('pointermove', (e) => this.move(e), true);
    addEventListener('pointerup', (e) => void this.up(e), true);
    canvas.addEventListener('pointerleave', () => this.hideTip());
  }

  use(tool: Tool): void {
    this.tool = tool;
    this.cancel();
    this.host.classList.toggle('drawing', tool !== 'select');
    this.onTool(tool);
  }

  cancel(): void {
    this.start = null;
    this.studio.view.preview = null;
    this.ring.hidden = true;
  }

  private at(event: PointerEvent): [number, number] {
    const box = this.host.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // The nearest marker on the screen, else the body or the empty place under the mouse.
  private spot(x: number, y: number): Spot | null {
    const { view, scene } = { view: this.studio.view, scene: this.studio.scene };
    if (!scene) return null;
    let best: Spot | null = null;
    let distance = snapDistance;
    scene.markers.forEach((marker, i) => {
      if (marker.own) return;
      const point = view.markerPosition(i)!;
      const screen = view.toScreen(point);
      const d = Math.hypot(screen.x - x, screen.y - y);
      if (d < distance) {
        distance = d;
        best = { point, body: marker.body, marker: marker.name };
      }
    });
    if (best) return best;
    const hit = view.pick(x, y);
    if (hit?.body != null) return { point: scene.planar ? new Vector3(hit.point.x, hit.point.y, 0) : hit.point, body: hit.body, marker: null };
    const point = view.onPlane(x, y, this.start?.point ?? view.controls.target);
    return point && { point, body: -1, marker: null };
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || !this.studio.scene) return;
    const [x, y] = this.at(event);
    if (this.tool !== 'select') {
      event.stopPropagation();
      const spot = this.spot(x, y);
      if (!this.start) this.start = spot;
      return;
    }
    const hit = this.studio.view.pick(x, y);
    if (!hit) {
      this.studio.select(null);
      return;
    }
    if (hit.joint !== null) {
      this.studio.select({ section: 'joints', name: hit.joint });
      event.stopPropagation();
      return;
    }
    const body = this.studio.scene.bodies.find((b) => b.index === hit.body);
    if (!body) return;
    this.studio.select({ section: 'bodies', name: body.name });
    if (body.index < 0) return;
    event.stopPropagation();
    this.grab(body.index, hit.point);
  }

  private grab(body: number, point: Vector3): void {
    const { view, scene } = this.studio;
    let best = -1;
    let distance = Infinity;
    scene!.markers.forEach((marker, i) => {
      if (marker.body !== body || marker.own) return;
      const d = view.markerPosition(i)!.distanceTo(point);
      if (d < distance) [best, distance] = [i, d];
    });
    if (best < 0) return;
    const marker = scene!.markers[best]!.name;
    this.pulled = { marker, offset: view.markerPosition(best)!.sub(point), depth: point.clone() };
    if (scene!.planar) this.pulled.offset.z = 0;
    view.controls.enabled = false;
    this.hideTip();
  }

  private move(event: PointerEvent): void {
    const [x, y] = this.at(event);
    const { view } = this.studio;
    if (this.pulled) {
      const point = view.onPlane(x, y, this.pulled.depth);
      if (!point) return;
      const target = point.add(this.pulled.offset);
      if (!view.pullMarker && !this.studio.state?.playing) this.studio.togglePlay();
      view.pullMarker = this.pulled.marker;
      this.studio.connection.tell('edit', { text: `pull ${this.pulled.marker} ${list(target, false)}` });
      return;
    }
    if (event.buttons !== 0 && this.tool === 'select') return;
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.hover(x, y, event.target === view.renderer.domElement);
    });
  }

  private hover(x: number, y: number, isOver: boolean): void {
    const { view, scene } = this.studio;
    if (!scene || !isOver) return this.hideTip();
    if (this.tool === 'select') {
      const hit = view.pick(x, y);
      const body = hit && scene.bodies.find((b) => b.index === hit.body);
      const joint = hit && scene.joints.find((j) => j.name === hit.joint);
      const text = joint ? `${joint.name} · ${joint.type}` : body ? `${body.name}${body.mass === undefined ? '' : ` · ${Number(body.mass.toPrecision(4))} kg`}` : '';
      this.tip.hidden = text === '';
      this.tip.textContent = text;
      this.tip.style.translate = `${x + 14}px ${y + 14}px`;
      this.host.classList.toggle('grabbable', body !== undefined && body !== null && body.index >= 0);
      return;
    }
    const spot = this.spot(x, y);
    this.ring.hidden = !spot?.marker;
    if (spot?.marker) {
      const screen = view.toScreen(spot.point);
      this.ring.style.translate = `${screen.x}px ${screen.y}px`;
      this.ring.dataset['name'] = spot.marker;
    }
    if (spot && this.start) view.preview = [this.start.point, spot.point];
  }

  private hideTip(): void {
    this.tip.hidden = true;
  }

  private async up(event: PointerEvent): Promise<void> {
    const { view, scene } = this.studio;
    if (this.pulled) {
      this.pulled = null;
      view.controls.enabled = true;
      if (view.pullMarker) await this.studio.connection.ask('edit', { text: 'release' });
      view.pullMarker = null;
      return;
    }
    if (this.tool === 'select' || !this.start || !scene) return;
    const [x, y] = this.at(event);
    const from = this.start;
    const to = this.spot(x, y);
    if (!to) return;
    const far = view.toScreen(from.point).distanceTo(view.toScreen(to.point)) > 6;
    // One may drag from point to point, or click on one and then on the other.
    if (!far && this.tool !== 'sphere') return;
    this.cancel();
    await this.make(from, to);
  }

  private async make(from: Spot, to: Spot): Promise<void> {
    const { studio } = this;
    const planar = studio.scene!.planar;
    const reach = from.point.distanceTo(to.point);
    const round = (x: number) => Number(x.toPrecision(4));
    if (this.tool === 'joint' || this.tool === 'spring') {
      if (from.body === to.body) {
        studio.note('info', 'Pick points of two different bodies; an empty place is the ground.');
        return;
      }
      const a = await this.markerAt(from);
      const b = await this.markerAt(to);
      if (!a || !b) return;
      const name = studio.freshName(this.tool);
      const type = planar ? 'revolute' : 'spherical';
      const done =
        this.tool === 'joint'
          ? await studio.edit(`close joints.${name} {${type}: [${a}, ${b}]}`)
          : await studio.edit(`add forces.${name} {spring: [${a}, ${b}], stiffness: 200, damping: 2}`);
      if (done.ok) studio.select({ section: this.tool === 'joint' ? 'joints' : 'forces', name });
    } else {
      const name = studio.freshName(this.tool);
      const centre = from.point.clone().add(to.point).multiplyScalar(0.5);
      const size = to.point.clone().sub(from.point);
      const sides = [size.x, size.y, size.z].map((x) => round(Math.max(Math.abs(x), 0.1 * reach)));
      const text = {
        rod: () => `{rod: {from: ${list(from.point, planar)}, to: ${list(to.point, planar)}, mass: 1}}`,
        box: () => `{box: {size: [${(planar ? sides.slice(0, 2) : sides).join(', ')}], mass: 1}, at: ${list(centre, planar)}}`,
        disc: () => `{disc: {radius: ${round(reach)}, ${planar ? '' : `thickness: ${round(0.1 * reach)}, `}mass: 1}, at: ${list(from.point, planar)}}`,
        sphere: () => `{sphere: {radius: ${round(reach || 4 * studio.view.unit)}, mass: 1}, at: ${list(from.point, planar)}}`,
      }[this.tool as 'rod' | 'box' | 'disc' | 'sphere']();
      const done = await studio.edit(`add bodies.${name} ${text}`);
      if (done.ok && this.tool === 'rod') await this.pin(name, from, to);
      if (done.ok) studio.select({ section: 'bodies', name });
    }
    this.use('select');
  }

  // A rod drawn from a point of another body hangs on it.
  private async pin(rod: string, from: Spot, to: Spot): Promise<void> {
    const type = this.studio.scene!.planar ? 'revolute' : 'spherical';
    for (const [spot, end] of [[from, 'from'], [to, 'to']] as const)
      if (spot.marker) await this.studio.edit(`close joints.${this.studio.freshName('joint')} {${type}: [${spot.marker}, ${rod}.${end}]}`);
  }

  // The marker of a spot; one is made where there is none.
  private async markerAt(spot: Spot): Promise<string | null> {
    if (spot.marker) return spot.marker;
    const { scene, view } = this.studio;
    const body = scene!.bodies.find((b) => b.index === spot.body)!.name;
    const taken = new Set(scene!.markers.map((m) => m.name));
    let i = 1;
    while (taken.has(`${body}.point${i}`)) ++i;
    const pose = view.bodies.pose(spot.body);
    const local = pose ? spot.point.clone().applyMatrix4(pose.clone().invert()) : spot.point;
    const done = await this.studio.edit(`add markers.${body}.point${i} ${list(local, scene!.planar)}`);
    return done.ok ? `${body}.point${i}` : null;
  }
}

function list(v: Vector3, planar: boolean): string {
  const numbers = (planar ? [v.x, v.y] : [v.x, v.y, v.z]).map((x) => Number(x.toPrecision(7)));
  return `[${numbers.join(', ')}]`;
}
