// The selected element: its values, each editable while it moves, and what can be done with it.

import { h, icon, icons } from '../dom';
import type { Studio } from '../studio';
import type { Selection } from '../types';
import type { Plots } from './plots';

const singular: Record<string, string> = {
  parameters: 'parameter',
  bodies: 'body',
  joints: 'joint',
  forces: 'force',
  drivers: 'driver',
  sensors: 'sensor',
  events: 'event',
  markers: 'marker',
  gravity: 'world',
};

export class Inspector {
  readonly element = h('section', { class: 'inspector', 'aria-label': 'Inspector' });
  private isSliding = false;
  private asked = 0;

  constructor(
    private studio: Studio,
    private plots: Plots,
  ) {
    studio.selectionChanged.on(() => void this.build());
    studio.sceneChanged.on(() => {
      if (!this.isSliding && !this.element.contains(document.activeElement)) void this.build();
    });
  }

  private async build(): Promise<void> {
    const selection = this.studio.selection;
    const turn = ++this.asked;
    if (!selection) {
      this.element.replaceChildren(h('p', { class: 'quiet empty' }, 'Click on a body or a joint to see and change its values. Drag a body to pull it.'));
      return;
    }
    const values = selection.section === 'gravity' ? this.gravity() : await this.describe(selection);
    if (turn !== this.asked || !values) return;
    this.element.replaceChildren(
      h('header', {}, h('h2', {}, selection.name), h('span', { class: 'tag' }, this.kind(selection))),
      h('div', { class: 'fields' }, ...values.map(({ path, label, value }) => this.field(path, label, value))),
      h('div', { class: 'actions' }, ...this.actions(selection)),
    );
  }

  private kind({ section, name }: Selection): string {
    const scene = this.studio.scene!;
    const type = scene.joints.find((j) => section === 'joints' && j.name === name)?.type ?? scene.forces.find((f) => section === 'forces' && f.name === name)?.type;
    return type ?? singular[section] ?? section;
  }

  private gravity(): { path: string; label: string; value: string }[] {
    const scene = this.studio.scene!;
    return scene.gravity.slice(0, scene.planar ? 2 : 3).map((value, i) => ({ path: `gravity.${i}`, label: 'xyz'[i]!, value }));
  }

  private async describe({ section, name }: Selection): Promise<{ path: string; label: string; value: string }[] | null> {
    const reply = await this.studio.connection.ask('describe', { section, name });
    if (!reply.ok) return null;
    return reply.properties!.map(({ field, value }) => ({
      path: field ? `${section}.${name}.${field}` : `${section}.${name}`,
      label: field || 'value',
      value,
    }));
  }

  private field(path: string, label: string, value: string): HTMLElement {
    const number = Number(value);
    const isNumber = value.trim() !== '' && Number.isFinite(number);
    const input = h('input', { type: 'text', value, 'aria-label': label, 'data-path': path, spellcheck: 'false' });
    input.value = value;
    input.onchange = () => void this.studio.edit(`set ${path} ${input.value}`);
    const row = h('label', { class: 'field' }, h('span', {}, label), input);
    if (isNumber) row.append(this.slider(path, number, input));
    return row;
  }

  // One gesture is one edit to undo: each new value takes back the one before it.
  private slider(path: string, value: number, input: HTMLInputElement): HTMLInputElement {
    const reach = value === 0 ? 1 : Math.abs(value);
    const [low, high] = value > 0 ? [0.02 * reach, 3 * reach] : [-3 * reach, value === 0 ? 3 : 0];
    const slider = h('input', { type: 'range', min: low, max: high, step: 'any', 'aria-label': `${path} slider`, 'data-slider': path });
    slider.value = String(value);
    let isBusy = false;
    let hasEdit = false;
    let sent = '';
    const send = async () => {
      if (isBusy) return;
      isBusy = true;
      while (sent !== slider.value) {
        sent = slider.value;
        if (hasEdit) await this.studio.connection.ask('edit', { text: 'undo' });
        const text = String(Number(Number(sent).toPrecision(4)));
        input.value = text;
        hasEdit = (await this.studio.edit(`set ${path} ${text}`)).ok;
      }
      isBusy = false;
      if (!this.isSliding) hasEdit = false;
    };
    slider.oninput = () => {
      this.isSliding = true;
      void send();
    };
    slider.onchange = () => {
      this.isSliding = false;
      void send();
    };
    return slider;
  }

  private actions(selection: Selection): HTMLElement[] {
    const { studio } = this;
    const scene = studio.scene!;
    const { section, name } = selection;
    const buttons: HTMLElement[] = [];
    const button = (id: string, label: string, onclick: () => void, kind = '') =>
      buttons.push(h('button', { class: `button ${kind}`, 'data-action': id, onclick }, label));
    if (section === 'joints') {
      const isLocked = scene.joints.some((j) => j.name === `${name}_lock`);
      button('lock', isLocked ? 'Unlock' : 'Lock', () => void studio.edit(`${isLocked ? 'unlock' : 'lock'} ${name}`));
      button('plot', 'Plot the reaction', () => void this.sense(`${name}_reaction`, `{reaction: ${name}}`));
      const coordinate = scene.joints.find((j) => j.name === name)?.coordinates[0];
      if (coordinate) {
        button('plot-coordinate', `Plot the ${coordinate}`, () => void this.sense(`${name}_${coordinate}`, `{coordinate: ${name}.${coordinate}}`));
        button('motor', 'Add a motor', () => void this.addMotor(`${name}.${coordinate}`));
      }
    }
    if (section === 'bodies' || section === 'markers') {
      const markers = scene.markers.filter((m) => (section === 'markers' ? m.name === name : m.name.startsWith(`${name}.`) && !m.own));
      const marker = markers.find((m) => m.name.endsWith('.to')) ?? markers.find((m) => m.name.endsWith('.com')) ?? markers[0];
      if (marker) {
        const stem = marker.name.replaceAll('.', '_');
        button('trace', studio.view.traces.names.includes(marker.name) ? 'Stop the trace' : `Trace ${marker.name}`, () => this.trace(marker.name));
        button('plot', 'Plot the position', () => void this.sense(stem, `{position: ${marker.name}}`));
        button('plot-velocity', 'Plot the velocity', () => void this.sense(`${stem}_velocity`, `{velocity: ${marker.name}}`));
      }
    }
    if (section === 'forces') button('plot', 'Plot the force', () => void this.sense(`${name}_force`, `{force: ${name}}`));
    if (section === 'sensors') button('plot', 'Plot', () => this.plots.addPane(scene.columns.filter((c) => c === name || c.startsWith(`${name}.`))));
    if (section !== 'gravity')
      buttons.push(
        h('button', { class: 'button danger', 'data-action': 'delete', title: 'Delete it and what depends on it (Del)', onclick: () => void studio.edit(`remove ${section}.${name} with dependents`) }, icon(icons.trash), 'Delete'),
      );
    return buttons;
  }

  // Adds a sensor if there is none of that name, and plots it.
  private async sense(name: string, yaml: string): Promise<void> {
    if (!this.studio.scene!.sensors.includes(name) && !(await this.studio.edit(`add sensors.${name} ${yaml}`)).ok) return;
    const own = () => this.studio.scene!.columns.filter((c) => c === name || c.startsWith(`${name}.`));
    this.plots.addPane(own());
  }

  private async addMotor(coordinate: string): Promise<void> {
    const name = this.studio.freshName('motor');
    const done = await this.studio.edit(`add forces.${name} {servo: ${coordinate}, follows: 2*t, gain: 50, rate-gain: 5}`);
    if (done.ok) this.studio.select({ section: 'forces', name });
  }

  private trace(marker: string): void {
    const { view } = this.studio;
    view.traces.toggle(marker, view.traceColor());
    view.shown.traces = true;
    void this.build();
  }
}
