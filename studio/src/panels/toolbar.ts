// The bar at the top, and the tools beside the picture.

import { h, icon, iconButton, icons, type IconName } from '../dom';
import type { Studio } from '../studio';
import type { Tool } from '../making';
import type { Tools } from '../tools';
import type { Choice } from '../types';
import type { Shown } from '../view/overlays';
import type { Files } from './files';
import type { Plots } from './plots';

export interface Actions {
  showGallery(): void;
  showHelp(): void;
  switchTheme(): void;
}

function menu(id: string, title: string, onChoose: (value: string) => void): HTMLSelectElement {
  const element = h('select', { id, title, 'aria-label': title });
  element.onchange = () => onChoose(element.value);
  return element;
}

function fill(element: HTMLSelectElement, choices: Choice[], chosen: string, none?: string): void {
  if (element.options.length !== choices.length + (none ? 1 : 0))
    element.replaceChildren(...(none ? [h('option', { value: '' }, none)] : []), ...choices.map((c) => h('option', { value: c.name, title: c.text }, c.name)));
  element.value = chosen;
}

export function topBar(studio: Studio, files: Files, actions: Actions): HTMLElement {
  const undo = iconButton('undo', 'Undo (Ctrl-Z)', () => void studio.edit('undo'), 'undo');
  const redo = iconButton('redo', 'Redo (Ctrl-Y)', () => void studio.edit('redo'), 'redo');
  const formulation = menu('formulation', 'Formulation: how the motion is computed', (v) => void studio.edit(`use formulation ${v}`));
  const integrator = menu('integrator', 'Integrator', (v) => void studio.edit(`use integrator ${v}`));
  const ghost = menu('ghost', 'A second formulation beside it, drawn as a ghost', (v) => {
    void studio.connection.ask('ghost', { formulation: v }).then((reply) => {
      if (!reply.ok) studio.note('warning', reply.reason ?? 'Refused.');
    });
  });
  const step = h('input', { type: 'text', id: 'step-length', title: 'Step [s]', 'aria-label': 'Step in seconds', size: 6 });
  step.onchange = () => void studio.edit(`use step ${step.value}`);
  studio.stateChanged.on((state) => {
    undo.disabled = !state.undo;
    redo.disabled = !state.redo;
    undo.title = state.undo ? `Undo: ${state.undo} (Ctrl-Z)` : 'Nothing to undo';
    redo.title = state.redo ? `Redo: ${state.redo} (Ctrl-Y)` : 'Nothing to redo';
    fill(formulation, state.formulations, state.formulation ?? '');
    fill(integrator, state.integrators, state.integrator ?? '');
    fill(ghost, state.formulations, state.ghost ?? '', 'no ghost');
    if (document.activeElement !== step) step.value = String(state.step ?? '');
  });
  const exports = h('details', { class: 'menu' }, h('summary', { class: 'icon-button', title: 'Downloads', 'aria-label': 'Downloads' }, icon(icons.download)));
  const entry = (label: string, onclick: () => void) =>
    h('button', { onclick: () => { exports.open = false; onclick(); } }, label);
  exports.append(
    h(
      'div',
      { class: 'menu-list' },
      entry('Model (YAML)', () => void files.downloadModel()),
      entry('Results (CSV)', () => void files.downloadResults('csv')),
      entry('Results (HDF5)', () => void files.downloadResults('hdf5')),
      entry('Journal of this session', () => void files.downloadJournal()),
      entry('Picture (PNG)', () => void files.downloadPicture()),
    ),
  );
  return h(
    'header',
    { class: 'top' },
    h('span', { class: 'brand' }, 'Limber'),
    iconButton('gallery', 'Examples and files (G)', actions.showGallery, 'show-gallery'),
    iconButton('open', 'Open a file (Ctrl-O)', () => files.choose()),
    iconButton('save', 'Save (Ctrl-S)', () => void files.save(), 'save'),
    exports,
    h('span', { class: 'rule' }),
    undo,
    redo,
    h('span', { class: 'stretch' }),
    h('label', {}, 'formulation', formulation),
    h('label', {}, 'integrator', integrator),
    h('label', {}, 'step', step),
    h('label', {}, 'ghost', ghost),
    h('span', { class: 'rule' }),
    iconButton('sun', 'Light or dark (T)', actions.switchTheme, 'theme'),
    iconButton('help', 'Help (?)', actions.showHelp, 'help'),
  );
}

const tools: [Tool, IconName, string][] = [
  ['select', 'pointer', 'Select and drag (V)'],
  ['rod', 'rod', 'Draw a rod (R): from a point, and it hangs there'],
  ['box', 'box', 'Draw a box (B)'],
  ['disc', 'disc', 'Draw a disc (D)'],
  ['sphere', 'sphere', 'Draw a sphere (S)'],
  ['joint', 'joint', 'Join two points (J)'],
  ['spring', 'spring', 'Spring between two points (K)'],
  ['motor', 'motor', 'Motor on a joint (M)'],
];

/** The tools; `show` marks the one in use. */
export function toolBox(studio: Studio, plots: Plots, use: (tool: Tool) => void): { element: HTMLElement; show: (tool: Tool) => void } {
  const buttons = new Map(tools.map(([tool, name, title]) => [tool, iconButton(name, title, () => use(tool), `tool-${tool}`)]));
  const toggle = (what: keyof Shown, name: IconName, title: string): HTMLButtonElement => {
    const button = iconButton(name, title, () => studio.show(what), `show-${what}`);
    button.classList.toggle('on', studio.shown[what]);
    studio.shownChanged.on((shown) => button.classList.toggle('on', shown[what]));
    return button;
  };
  studio.shownChanged.on(({ traces }) => {
    const { traces: paths } = studio.view.overlays;
    if (!traces || paths.names.length > 0) return;
    const moving = studio.scene?.markers.filter((m) => m.body >= 0) ?? [];
    const last = moving.findLast((m) => m.name.endsWith('.to')) ?? moving.at(-1);
    if (last) paths.toggle(last.name, paths.nextColor());
  });
  studio.sceneChanged.on(({ isNew }) => {
    if (isNew && studio.shown.traces) studio.show('traces', true);
  });
  studio.stateChanged.on((state) => {
    // A session that was resumed knows nothing of what this page shows.
    if (state.open && state.reactions !== studio.shown.reactions) studio.connection.tell('reactions', { on: studio.shown.reactions });
  });
  const element = h(
    'nav',
    { class: 'tools', 'aria-label': 'Tools' },
    ...buttons.values(),
    h('hr'),
    toggle('reactions', 'arrows', 'Reaction arrows (F)'),
    toggle('velocities', 'velocity', 'Velocity arrows (W)'),
    toggle('traces', 'trace', 'Traces (E)'),
    toggle('contacts', 'contact', 'Contact points and forces (C)'),
    iconButton('plot', 'Plots (P)', () => plots.toggle(), 'show-plots'),
    iconButton('fit', 'Show everything (0)', () => studio.view.fit(), 'fit'),
  );
  return { element, show: (tool) => buttons.forEach((b, name) => b.classList.toggle('on', name === tool)) };
}

/** Keys of everything that has one. */
export function shortcuts(studio: Studio, files: Files, toolSet: Tools, actions: Actions): void {
  const click = (id: string) => () => document.getElementById(id)?.click();
  const plain: Record<string, () => void> = {
    ' ': () => studio.togglePlay(),
    '.': click('step'),
    Home: click('reset'),
    '?': actions.showHelp,
    g: actions.showGallery,
    t: actions.switchTheme,
    f: () => studio.show('reactions'),
    w: () => studio.show('velocities'),
    e: () => studio.show('traces'),
    n: () => studio.show('components'),
    c: () => studio.show('contacts'),
    p: click('show-plots'),
    '0': click('fit'),
    v: () => toolSet.use('select'),
    r: () => toolSet.use('rod'),
    b: () => toolSet.use('box'),
    d: () => toolSet.use('disc'),
    s: () => toolSet.use('sphere'),
    j: () => toolSet.use('joint'),
    k: () => toolSet.use('spring'),
    m: () => toolSet.use('motor'),
    l: click('action-lock'),
    x: click('action-disable'),
    Escape: () => toolSet.use('select'),
    Delete: () => {
      const s = studio.selection;
      if (s && s.section !== 'gravity') void studio.edit(`remove ${s.section}.${s.name} with dependents`);
    },
  };
  const withControl: Record<string, () => void> = {
    z: () => void studio.edit('undo'),
    y: () => void studio.edit('redo'),
    Z: () => void studio.edit('redo'),
    o: () => files.choose(),
    s: () => void files.save(),
  };
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement && event.target.type === 'text';
    const isElsewhere = document.querySelector('dialog[open]') !== null; // which has keys of its own
    if (isTyping || isElsewhere || event.target instanceof HTMLSelectElement || event.altKey) return;
    const action = event.ctrlKey || event.metaKey ? withControl[event.key] : plain[event.key];
    if (!action || (!studio.scene && event.key !== '?' && event.key !== 'g')) return;
    event.preventDefault();
    action();
  });
}
