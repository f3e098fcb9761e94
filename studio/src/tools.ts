// The mouse in the picture: dragging bodies, drawing new ones, connecting points.

import { Vector3 } from 'three';
import { h } from './dom';
import { type JointChoice, jointChoices, list, Maker, type Spot, type Tool } from './making';
import type { Studio } from './studio';

const snapDistance = 16; // pixels
const shortestDrag = 6; // pixels

const hints: Record<Tool, string> = {
  select: '',
  rod: 'Draw from end to end; on a point of a body it hangs there.',
  box: 'Draw from corner to corner.',
  disc: 'Draw from the centre to the rim.',
  sphere: 'Draw from the centre outwards, or click.',
  joint: 'Draw from body to body; an empty place is the ground.',
  spring: 'Draw from body to body; an empty place is the ground.',
  motor: 'Click on the joint that shall turn.',
};

export class Tools {
  tool: Tool = 'select';
  private maker: Maker;
  private start: Spot | null = null;
  private pulled: { marker: string; offset: Vector3; depth: Vector3 } | null = null;
  private tip = h('div', { class: 'tip', hidden: true });
  private ring = h('div', { class: 'snap', hidden: true });
  private hint = h('span', { class: 'quiet' });
  private jointType = h('select', { id: 'joint-type', 'aria-label': 'Kind of joint' });
  private options = h('div', { class: 'tool-options', hidden: true }, this.jointType, this.hint);
  private isHoverDue = false;

  constructor(
    private studio: Studio,
    private host: HTMLElement,
    private onTool: (tool: Tool) => void,
  ) {
    this.maker = new Maker(studio);
    host.append(this.tip, this.ring, this.options);
    const canvas = studio.view.renderer.domElement;
    // Before the camera's own listeners, so that a grabbed body does not turn the view.
    host.addEventListener('pointerdown', (e) => e.target === canvas && this.down(e), true);
    host.addEventListener('pointermove', (e) => this.move(e), true);
    addEventListener('pointerup', (e) => void this.up(e), true);
    canvas.addEventListener('pointerleave', () => (this.tip.hidden = true));
    studio.sceneChanged.on(({ scene, isNew }) => isNew && this.offer(jointChoices(scene.planar)));
  }

  use(tool: Tool): void {
    this.tool = tool;
    this.cancel();
    this.host.classList.toggle('drawing', tool !== 'select');
    this.options.hidden = tool === 'select';
    this.jointType.hidden = tool !== 'joint';
    this.hint.textContent = hints[tool];
    this.studio.view.showMarkers(tool === 'rod' || tool === 'joint' || tool === 'spring');
    this.onTool(tool);
  }

  private offer(choices: JointChoice[]): void {
    this.jointType.replaceChildren(...choices.map(({ type, label }) => h('option', { value: type }, label)));
  }

  private cancel(): void {
    this.start = null;
    this.studio.view.overlays.preview = null;
    this.ring.hidden = this.tip.hidden = true;
  }

  private at(event: PointerEvent): [number, number] {
    const box = this.host.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // The nearest marker on the screen, else the body or the empty place under the mouse.
  private spot(x: number, y: number): Spot | null {
    const { view, scene } = this.studio;
    if (!scene) return null;
    let best: Spot | null = null;
    let distance = snapDistance;
    for (const [i, marker] of scene.markers.entries()) {
      if (marker.own || marker.body === this.start?.body) continue;
      const point = view.markerPosition(i)!;
      const screen = view.cameras.toScreen(point);
      const d = Math.hypot(screen.x - x, screen.y - y);
      // Where several are in one place, that of a body rather than that of the ground.
      if (d > distance - 0.5 && !(best?.body === -1 && d < distance + 0.5)) continue;
      distance = d;
      best = { point, body: marker.body, marker: marker.name };
    }
    if (best) return best;
    const hit = view.pick(x, y);
    if (hit?.body != null) return { point: scene.planar ? new Vector3(hit.point.x, hit.point.y, 0) : hit.point, body: hit.body, marker: null };
    const point = view.cameras.onPlane(x, y, this.start?.point ?? view.cameras.controls.target);
    return point && { point, body: -1, marker: null };
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0 || !this.studio.scene) return;
    const [x, y] = this.at(event);
    if (this.tool !== 'select') {
      event.stopPropagation();
      if (this.tool === 'motor') void this.makeMotor(x, y);
      else this.start ??= this.spot(x, y);
      return;
    }
    const hit = this.studio.view.pick(x, y);
    if (!hit) return this.studio.select(null);
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

  private async makeMotor(x: number, y: number): Promise<void> {
    const joint = this.jointNear(x, y);
    if (!joint) return this.studio.note('info', hints.motor);
    this.use('select');
    await this.maker.motor(joint);
  }

  // Signs of joints are small; near is good enough.
  private jointNear(x: number, y: number): string | null {
    const { view, scene } = this.studio;
    const distance = (marker: number) => {
      const screen = view.cameras.toScreen(view.markerPosition(marker) ?? new Vector3(Infinity, 0, 0));
      return Math.hypot(screen.x - x, screen.y - y);
    };
    const near = scene!.joints.filter((joint) => joint.b >= 0 && distance(joint.b) < snapDistance);
    return near.toSorted((one, other) => distance(one.b) - distance(other.b))[0]?.name ?? null;
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
    view.cameras.controls.enabled = false;
    this.tip.hidden = true;
  }

  private move(event: PointerEvent): void {
    const [x, y] = this.at(event);
    const { view } = this.studio;
    if (this.pulled) return this.pull(x, y);
    if ((event.buttons !== 0 && this.tool === 'select') || this.isHoverDue) return;
    this.isHoverDue = true;
    requestAnimationFrame(() => {
      this.isHoverDue = false;
      this.hover(x, y, event.target === view.renderer.domElement);
    });
  }

  private pull(x: number, y: number): void {
    const { view } = this.studio;
    const { marker, offset, depth } = this.pulled!;
    const point = view.cameras.onPlane(x, y, depth);
    if (!point) return;
    if (!view.overlays.pullMarker && !this.studio.state?.playing) this.studio.togglePlay();
    view.overlays.pullMarker = marker;
    this.studio.connection.tell('edit', { text: `pull ${marker} ${list(point.add(offset), false)}` });
  }

  private hover(x: number, y: number, isOver: boolean): void {
    if (!this.studio.scene || !isOver) this.tip.hidden = true;
    else if (this.tool === 'select' || this.tool === 'motor') this.hoverOver(x, y);
    else this.hoverSpot(x, y);
  }

  private hoverOver(x: number, y: number): void {
    const scene = this.studio.scene!;
    const hit = this.studio.view.pick(x, y);
    const body = hit && scene.bodies.find((b) => b.index === hit.body);
    const joint = hit && scene.joints.find((j) => j.name === hit.joint);
    const mass = body?.mass === undefined ? '' : ` · ${Number(body.mass.toPrecision(4))} kg`;
    const text = joint ? `${joint.name} · ${joint.type}${joint.disabled ? ' · disabled' : ''}` : body ? `${body.name}${mass}` : '';
    this.tip.hidden = text === '';
    this.tip.textContent = text;
    this.tip.style.translate = `${x + 14}px ${y + 14}px`;
    this.host.classList.toggle('grabbable', !!body && body.index >= 0);
  }

  private hoverSpot(x: number, y: number): void {
    const { view } = this.studio;
    const spot = this.spot(x, y);
    this.ring.hidden = !spot?.marker;
    if (spot?.marker) {
      const screen = view.cameras.toScreen(spot.point);
      this.ring.style.translate = `${screen.x}px ${screen.y}px`;
      this.ring.dataset['name'] = spot.marker;
    }
    if (spot && this.start) view.overlays.preview = [this.start.point, spot.point];
  }

  private async up(event: PointerEvent): Promise<void> {
    const { view, scene } = this.studio;
    if (this.pulled) {
      this.pulled = null;
      view.cameras.controls.enabled = true;
      if (view.overlays.pullMarker) await this.studio.connection.ask('edit', { text: 'release' });
      view.overlays.pullMarker = null;
      return;
    }
    if (this.tool === 'select' || !this.start || !scene) return;
    const from = this.start;
    const [x, y] = this.at(event);
    const to = this.spot(x, y);
    if (!to) return;
    const screen = view.cameras.toScreen(from.point);
    // One may drag from point to point, or click on one and then on the other.
    if (Math.hypot(screen.x - x, screen.y - y) < shortestDrag && this.tool !== 'sphere') return;
    this.cancel();
    const made = this.make(from, to);
    // At once: when the answer comes, another tool may be in hand.
    this.use('select');
    await made;
  }

  private make(from: Spot, to: Spot): Promise<void> {
    switch (this.tool) {
      case 'joint':
        return this.maker.joint(this.jointType.value, from, to);
      case 'spring':
        return this.maker.spring(from, to);
      case 'rod':
      case 'box':
      case 'disc':
      case 'sphere':
        return this.maker.body(this.tool, from, to);
      default:
        return Promise.resolve();
    }
  }
}
