// The selected element: its values, each editable while it moves, and what can be done with it.

import { h, icon, icons } from '../dom';
import { Maker } from '../making';
import type { Studio } from '../studio';
import type { Selection } from '../types';
import { Fields, namesIn, type Value } from './fields';
import type { Plots } from './plots';

const singular: Record<string, string> = {
  parameters: 'parameter',
  bodies: 'body',
  joints: 'joint',
  forces: 'force',
  stops: 'stop',
  contacts: 'contact',
  drivers: 'driver',
  sensors: 'sensor',
  events: 'event',
  markers: 'marker',
  gravity: 'world',
};

// With nothing selected; the list at the left has the others.
const mostParameters = 4;

export class Inspector {
  readonly element = h('section', { class: 'inspector', 'aria-label': 'Inspector' });
  private fields: Fields;
  private maker: Maker;
  private asked = 0;

  constructor(
    private studio: Studio,
    private plots: Plots,
  ) {
    this.fields = new Fields(studio);
    this.maker = new Maker(studio);
    studio.selectionChanged.on(() => void this.build());
    studio.sceneChanged.on(() => {
      const isTyping = document.activeElement instanceof HTMLInputElement && document.activeElement.type === 'text' && this.element.contains(document.activeElement);
      if (!this.fields.isSliding && !isTyping) void this.build();
    });
  }

  private async build(): Promise<void> {
    const selection = this.studio.selection;
    const turn = ++this.asked;
    if (!selection) {
      this.element.replaceChildren(...this.welcome());
      return;
    }
    const values = selection.section === 'gravity' ? this.gravity() : await this.describe(selection);
    const parameters = await this.parametersOf(values ?? []);
    if (turn !== this.asked || !values || this.fields.isSliding) return;
    this.element.replaceChildren(
      h('header', {}, h('h2', {}, selection.name), h('span', { class: 'tag' }, this.kind(selection))),
      h('div', { class: 'fields' }, ...values.map((value) => this.fields.field(value))),
      ...(parameters.length > 0 ? [h('h3', {}, 'Parameters it uses'), h('div', { class: 'fields' }, ...parameters.map((p) => this.fields.field(p)))] : []),
      h('div', { class: 'actions' }, ...this.actions(selection)),
    );
  }

  private welcome(): HTMLElement[] {
    const names = this.studio.scene?.parameters ?? [];
    const rows = h('div', { class: 'fields' });
    void this.describeParameters(names.slice(0, mostParameters)).then((values) => rows.replaceChildren(...values.map((value) => this.fields.field(value))));
    return [
      h('p', { class: 'quiet empty' }, 'Click on a body or a joint to see and change its values. Drag a body to pull it.'),
      ...(names.length > 0 ? [h('h3', {}, 'Parameters'), rows] : []),
      ...(this.studio.scene?.contacts.length === 0
        ? [h('div', { class: 'actions' }, action('touch', 'Let bodies touch', () => void this.maker.touch(), 'Rigid contact with friction between all bodies'))]
        : []),
    ];
  }

  private kind({ section, name }: Selection): string {
    const scene = this.studio.scene!;
    const type = scene.joints.find((j) => section === 'joints' && j.name === name)?.type ?? scene.forces.find((f) => section === 'forces' && f.name === name)?.type;
    return type ?? singular[section] ?? section;
  }

  private gravity(): Value[] {
    const scene = this.studio.scene!;
    return scene.gravity.slice(0, scene.planar ? 2 : 3).map((value, i) => ({ path: `gravity.${i}`, label: 'xyz'[i]!, value }));
  }

  private async describe({ section, name }: Selection): Promise<Value[] | null> {
    const reply = await this.studio.connection.ask('describe', { section, name });
    if (!reply.ok) return null;
    return reply.properties!.map(({ field, value }) => ({
      path: field ? `${section}.${name}.${field}` : `${section}.${name}`,
      label: field || 'value',
      value,
    }));
  }

  private parametersOf(values: Value[]): Promise<Value[]> {
    return this.describeParameters(namesIn(values.map((v) => v.value).join(' '), this.studio.scene!.parameters));
  }

  private async describeParameters(names: string[]): Promise<Value[]> {
    const lists = await Promise.all(names.map((name) => this.describe({ section: 'parameters', name })));
    return lists.flatMap((list, i) => (list ?? []).map((value) => ({ ...value, label: names[i]! })));
  }

  private actions(selection: Selection): HTMLElement[] {
    const { section, name } = selection;
    const { studio } = this;
    const buttons: HTMLElement[] = [];
    if (section === 'joints') buttons.push(...this.jointActions(name));
    if (section === 'bodies' || section === 'markers') buttons.push(...this.pointActions(selection));
    if (section === 'forces') buttons.push(action('plot', 'Plot the force', () => void this.sense(`${name}_force`, `{force: ${name}}`)));
    if (section === 'sensors') buttons.push(action('plot', 'Plot', () => this.plots.addPane(this.columnsOf(name))));
    if (section !== 'gravity')
      buttons.push(
        h('button', { class: 'button danger', 'data-action': 'delete', title: 'Delete it and what depends on it (Del)', onclick: () => void studio.edit(`remove ${section}.${name} with dependents`) }, icon(icons.trash), 'Delete'),
      );
    return buttons;
  }

  private jointActions(name: string): HTMLElement[] {
    const { studio } = this;
    const joints = studio.scene!.joints;
    const joint = joints.find((j) => j.name === name);
    const isLocked = joints.some((j) => j.name === `${name}_lock`);
    const isDisabled = joint?.disabled === true;
    const coordinate = joint?.coordinates[0];
    const buttons = [
      action('lock', isLocked ? 'Unlock' : 'Lock', () => void studio.edit(`${isLocked ? 'unlock' : 'lock'} ${name}`), 'Hold it as it is (L)'),
      action('disable', isDisabled ? 'Enable' : 'Disable', () => void studio.edit(`set joints.${name}.disabled ${!isDisabled}`), 'It stays, and does nothing (X)'),
      action('plot', 'Plot the reaction', () => void this.sense(`${name}_reaction`, `{reaction: ${name}}`)),
    ];
    if (coordinate)
      buttons.push(
        action('plot-coordinate', `Plot the ${coordinate}`, () => void this.sense(`${name}_${coordinate}`, `{coordinate: ${name}.${coordinate}}`)),
        action('motor', 'Add a motor', () => void this.maker.motor(name)),
      );
    return buttons;
  }

  private pointActions({ section, name }: Selection): HTMLElement[] {
    const markers = this.studio.scene!.markers.filter((m) => (section === 'markers' ? m.name === name : m.name.startsWith(`${name}.`) && !m.own));
    const marker = markers.find((m) => m.name.endsWith('.to')) ?? markers.find((m) => m.name.endsWith('.com')) ?? markers[0];
    if (!marker) return [];
    const stem = marker.name.replaceAll('.', '_');
    const isTraced = this.studio.view.overlays.traces.names.includes(marker.name);
    return [
      action('trace', isTraced ? 'Stop the trace' : `Trace ${marker.name}`, () => this.trace(marker.name)),
      action('plot', 'Plot the position', () => void this.sense(stem, `{position: ${marker.name}}`)),
      action('plot-velocity', 'Plot the velocity', () => void this.sense(`${stem}_velocity`, `{velocity: ${marker.name}}`)),
    ];
  }

  private columnsOf(sensor: string): string[] {
    return this.studio.scene!.columns.filter((c) => c === sensor || c.startsWith(`${sensor}.`));
  }

  // Adds a sensor if there is none of that name, and plots it.
  private async sense(name: string, yaml: string): Promise<void> {
    if (!this.studio.scene!.sensors.includes(name) && !(await this.studio.edit(`add sensors.${name} ${yaml}`)).ok) return;
    this.plots.addPane(this.columnsOf(name));
  }

  private trace(marker: string): void {
    const { traces } = this.studio.view.overlays;
    traces.toggle(marker, traces.nextColor());
    this.studio.show('traces', traces.names.length > 0);
    void this.build();
  }
}

function action(id: string, label: string, onclick: () => void, title?: string): HTMLElement {
  return h('button', { class: 'button', id: `action-${id}`, 'data-action': id, title, onclick }, label);
}
