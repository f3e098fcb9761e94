// The model as a list of its elements.

import { h } from '../dom';
import type { Studio } from '../studio';
import type { Scene } from '../types';

const mostShown = 200;

export function tree(studio: Studio): HTMLElement {
  const list = h('div', { class: 'tree-list' });
  const title = h('h2', { class: 'model-title' }, '');
  const closed = new Set<string>(['markers']);

  const group = (section: string, label: string, entries: { name: string; hint?: string }[]): HTMLElement[] => {
    if (entries.length === 0) return [];
    const items = entries.slice(0, mostShown).map(({ name, hint }) =>
      h(
        'button',
        { class: 'tree-item', 'data-section': section, 'data-name': name, onclick: () => studio.select({ section, name }) },
        h('span', {}, name),
        h('span', { class: 'quiet' }, hint ?? ''),
      ),
    );
    if (entries.length > mostShown) items.push(h('button', { class: 'tree-item quiet', disabled: true }, `and ${entries.length - mostShown} more`));
    const details = h('details', { open: !closed.has(section) }, h('summary', {}, label, h('span', { class: 'count' }, String(entries.length))), ...items);
    details.ontoggle = () => void (details.open ? closed.delete(section) : closed.add(section));
    return [details];
  };

  const build = (scene: Scene) => {
    title.textContent = scene.title || scene.name || 'Untitled';
    title.title = title.textContent;
    const plain = (names: string[]) => names.map((name) => ({ name }));
    list.replaceChildren(
      ...group('parameters', 'Parameters', plain(scene.parameters)),
      ...group('bodies', 'Bodies', scene.bodies.filter((b, i) => b.index >= 0 && scene.bodies[i - 1]?.name !== b.name).map((b) => ({ name: b.name, hint: b.along !== undefined ? 'beam' : (b.solids[0]?.kind ?? '') }))),
      ...group('joints', 'Joints', scene.joints.map((j) => ({ name: j.name, hint: j.disabled ? 'disabled' : j.closing ? 'closing …' : j.type }))),
      ...group('forces', 'Forces', scene.forces.filter((f) => f.type !== 'pull').map((f) => ({ name: f.name, hint: f.type }))),
      ...group('stops', 'Stops', scene.stops.map((s) => ({ name: s.name, hint: s.type }))),
      ...group('contacts', 'Contacts', scene.contacts.map((c) => ({ name: c.name, hint: c.type }))),
      ...group('drivers', 'Drivers', plain(scene.drivers)),
      ...group('sensors', 'Sensors', plain(scene.sensors)),
      ...group('events', 'Events', plain(scene.events)),
      ...group('gravity', 'World', [{ name: 'gravity', hint: scene.gravity.slice(0, scene.planar ? 2 : 3).join(', ') }]),
      ...group('markers', 'Markers', scene.markers.filter((m) => !m.own).map((m) => ({ name: m.name }))),
    );
    show();
  };

  const show = () => {
    for (const item of list.querySelectorAll<HTMLElement>('.tree-item'))
      item.classList.toggle('selected', item.dataset['section'] === studio.selection?.section && item.dataset['name'] === studio.selection?.name);
  };

  studio.sceneChanged.on(({ scene }) => build(scene));
  studio.selectionChanged.on(show);
  return h('aside', { class: 'tree', 'aria-label': 'Model' }, title, list);
}
