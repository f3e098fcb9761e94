// Puts the page together.

import { h } from './dom';
import { Files } from './panels/files';
import { Gallery } from './panels/gallery';
import { helpSheet, notes, tour } from './panels/help';
import { Inspector } from './panels/inspector';
import { legend } from './panels/legend';
import { Plots } from './panels/plots';
import { readings } from './panels/readings';
import { shortcuts, toolBox, topBar } from './panels/toolbar';
import { transport } from './panels/transport';
import { tree } from './panels/tree';
import './style.css';
import { Studio } from './studio';
import { Tools } from './tools';
import { SceneView } from './view/scene_view';

const themeKey = 'limber-theme';

const host = h('main', { class: 'view' });
const view = new SceneView(host);
const studio = new Studio(view);
const plots = new Plots(studio);
const inspector = new Inspector(studio, plots);
const files = new Files(studio, () => gallery.hide());
const messages = h('div', { class: 'messages' });
const gallery = new Gallery(
  studio,
  () => files.choose(),
  (isCovered) => (isCovered ? gallery.element : host).append(messages),
);
const sheet = helpSheet();

const actions = {
  showGallery: () => void gallery.show(),
  showHelp: () => sheet.showModal(),
  switchTheme: () => setTheme(document.documentElement.dataset['theme'] === 'dark' ? 'light' : 'dark'),
};

function setTheme(theme: string): void {
  document.documentElement.dataset['theme'] = theme;
  localStorage.setItem(themeKey, theme);
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  view.setTheme(color('--sky'), color('--grid-strong'), color('--grid'));
  plots.restyle();
}

const box = toolBox(studio, plots, (tool) => tools.use(tool));
const tools = new Tools(studio, host, (tool) => box.show(tool));
box.show('select');
const lost = h('div', { class: 'lost', hidden: true }, 'The connection is lost; trying to get it back …');
studio.lineChanged.on((isUp) => (lost.hidden = isUp));
const progress = h('div', { class: 'progress', role: 'status', hidden: true });
studio.progressed.on(({ text, done, time }) => {
  progress.hidden = text === '';
  progress.textContent = `${text}: ${Math.round(100 * done)} %, t = ${time.toFixed(1)} s`;
});

document.getElementById('app')!.append(
  topBar(studio, files, actions),
  tree(studio),
  h('div', { class: 'middle' }, host, plots.element),
  h('aside', { class: 'side' }, inspector.element, readings(studio)),
  transport(studio),
);
messages.append(notes(studio), lost, progress);
host.append(box.element, legend(studio), messages);
document.body.append(gallery.element, sheet);
shortcuts(studio, files, tools, actions);
setTheme(localStorage.getItem(themeKey) ?? (matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark'));

// At first, and when the server has ended what was open.
let wasOpen = true;
studio.stateChanged.on((state) => {
  const isOpen = state.open || state.recovering;
  if (wasOpen && !isOpen) void gallery.show();
  wasOpen = isOpen;
});
let isFirstScene = true;
studio.sceneChanged.on(() => {
  if (isFirstScene) tour();
  isFirstScene = false;
});
studio.connection.open();

declare global {
  interface Window {
    studio: Studio & { plots: Plots };
  }
}
// For the tests, and for the curious with a console.
window.studio = Object.assign(studio, { plots });
