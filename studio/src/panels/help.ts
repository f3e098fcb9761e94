// The help sheet, the hints for the first visit, and messages that come and go.

import { h } from '../dom';
import type { Studio } from '../studio';
import type { Level } from '../types';

const keys: [string, string][] = [
  ['Space', 'play or pause'],
  ['.', 'one step'],
  ['Home', 'back to the start'],
  ['Ctrl-Z, Ctrl-Y', 'undo, redo: the motion goes on'],
  ['Del', 'delete what is selected'],
  ['V', 'select and drag'],
  ['R B D S', 'draw a rod, box, disc, sphere'],
  ['J K M', 'join two points, put a spring between them, add a motor'],
  ['L X', 'lock, disable the selected joint'],
  ['N', 'colours of components, if the mechanism is divided'],
  ['F W E C', 'reaction arrows, velocity arrows, traces, contacts'],
  ['P', 'plots'],
  ['0', 'show everything'],
  ['G', 'examples and files'],
  ['Ctrl-O, Ctrl-S', 'open, save'],
  ['T', 'light or dark'],
  ['?', 'this sheet'],
];

export function helpSheet(): HTMLDialogElement {
  const dialog = h(
    'dialog',
    { class: 'sheet', id: 'help-sheet' },
    h('h2', {}, 'Keys'),
    h('dl', {}, ...keys.flatMap(([key, meaning]) => [h('dt', {}, ...key.split(' ').map((k) => h('kbd', {}, k))), h('dd', {}, meaning)])),
    h('p', { class: 'quiet' }, 'Mouse: drag a body to pull it; drag the empty space to turn (planar models: to move) the view; the wheel zooms; the right button moves.'),
    h('button', { class: 'button', onclick: () => dialog.close() }, 'Close'),
  );
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  return dialog;
}

const hints: [string, string][] = [
  ['.view', 'Grab a body with the mouse and pull. It is a spring, so the mechanism answers as a real one would.'],
  ['.transport', 'Space plays and pauses. Drag the timeline to go back; from there you may take another way.'],
  ['.tools', 'Draw rods, boxes and discs, join points, add springs, all while it moves. F shows the forces in the joints.'],
  ['.side', 'Whatever you select shows its values here, with sliders. Energy and errors tell whether to trust the picture.'],
  ['.top', 'Swap formulation, integrator or step in full motion, or run a second formulation as a ghost. ? lists the keys.'],
];
const tourKey = 'limber-tour-seen';

/** Five hints, once. */
export function tour(): void {
  if (localStorage.getItem(tourKey)) return;
  localStorage.setItem(tourKey, 'yes');
  let index = 0;
  const text = h('p', {});
  const count = h('span', { class: 'quiet' });
  const bubble = h(
    'div',
    { class: 'bubble', role: 'dialog', 'aria-label': 'Hints' },
    text,
    h('div', { class: 'row' }, count, h('span', { class: 'stretch' }), h('button', { class: 'button', onclick: () => end() }, 'Skip'), h('button', { class: 'button strong', id: 'next-hint', onclick: () => show(index + 1) }, 'Next')),
  );
  const end = () => {
    bubble.remove();
    document.querySelector('.hinted')?.classList.remove('hinted');
  };
  const show = (i: number) => {
    document.querySelector('.hinted')?.classList.remove('hinted');
    const hint = hints[i];
    if (!hint) return end();
    index = i;
    text.textContent = hint[1];
    count.textContent = `${i + 1} of ${hints.length}`;
    const target = document.querySelector(hint[0]);
    target?.classList.add('hinted');
    const box = target?.getBoundingClientRect() ?? new DOMRect();
    const left = Math.min(Math.max(12, box.left + box.width / 2 - 160), innerWidth - 340);
    const top = box.top > innerHeight / 2 ? box.top - 130 : box.height > 300 ? box.top + 40 : box.bottom + 12;
    bubble.style.left = `${box.width < 80 ? box.right + 12 : left}px`;
    bubble.style.top = `${Math.max(12, Math.min(top, innerHeight - 150))}px`;
  };
  document.body.append(bubble);
  show(0);
}

const noteTime: Record<Level, number> = { info: 4000, warning: 9000, error: 15000 };
const mostNotes = 4;

export function notes(studio: Studio): HTMLElement {
  const list = h('div', { class: 'notes', role: 'status', 'aria-live': 'polite' });
  studio.noted.on(({ level, text }) => {
    const note = h('div', { class: `note ${level}`, onclick: () => note.remove() }, text);
    list.append(note);
    while (list.childElementCount > mostNotes) list.firstElementChild!.remove();
    setTimeout(() => note.remove(), noteTime[level]);
  });
  return list;
}
