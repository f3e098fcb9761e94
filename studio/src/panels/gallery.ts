// The examples, with pictures, and the files of the workspace.

import { h, iconButton } from '../dom';
import type { Studio } from '../studio';
import { thumbnail } from '../thumbnail';
import type { Scene } from '../types';

// In this order; what is not named comes after.
const favourites = ['double-pendulum.yaml', 'slider-crank.yaml', 'n-four-bar.yaml', 'andrews.yaml', 'loops/bricard.yaml', 'loops/six-bar.yaml', 'iltis/bump-in-phase.yaml', 'chain.yaml'];
const groups: [string, string][] = [
  ['', 'Mechanisms'],
  ['loops', 'Closed loops'],
  ['live', 'That change themselves'],
  ['iltis', 'A vehicle'],
  ['joints', 'Joint by joint'],
  ['forces', 'Forces'],
  ['drivers', 'Drivers'],
];

export class Gallery {
  readonly element: HTMLElement;
  private list = h('div', { class: 'gallery-list' }, h('p', { class: 'quiet' }, 'Drawing the examples …'));
  private isLoaded = false;

  constructor(
    private studio: Studio,
    private onUpload: () => void,
    /** Told whether the page is covered, so that messages can be shown on top. */
    private onCover: (isCovered: boolean) => void,
  ) {
    this.element = h(
      'section',
      { class: 'gallery', hidden: true, 'aria-label': 'Gallery' },
      h(
        'header',
        {},
        h('div', {}, h('h1', {}, 'What shall move?'), h('p', { class: 'quiet' }, 'Pick an example, open a file, or drop a model anywhere on this page.')),
        h('button', { class: 'button', onclick: () => this.onUpload() }, 'Open a file …'),
        iconButton('close', 'Close the gallery', () => this.hide()),
      ),
      this.list,
    );
  }

  async show(): Promise<void> {
    this.element.hidden = false;
    this.onCover(true);
    const files = (await this.studio.connection.ask('files')).files ?? [];
    if (!this.isLoaded) {
      const reply = await this.studio.connection.ask('gallery');
      if (!reply.ok || !reply.examples) return;
      this.isLoaded = true;
      this.list.replaceChildren(...this.sections(reply.examples));
    }
    this.list.querySelector('.own-files')?.remove();
    if (files.length > 0) this.list.append(this.ownFiles(files));
  }

  /** Stays if there is nothing to see behind it. */
  hide(): void {
    if (!this.studio.state?.open) return;
    this.element.hidden = true;
    this.onCover(false);
  }

  private sections(examples: { name: string; scene: Scene }[]): HTMLElement[] {
    const rank = (name: string) => (favourites.indexOf(name) + favourites.length + 1) % (favourites.length + 1);
    const sorted = examples.toSorted((a, b) => rank(a.name) - rank(b.name) || a.name.localeCompare(b.name));
    const folder = (name: string) => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '');
    return groups.flatMap(([key, title]) => {
      const own = sorted.filter(({ name }) => folder(name) === key);
      return own.length === 0 ? [] : [h('section', {}, h('h2', {}, title), h('div', { class: 'cards' }, ...own.map((e) => this.card(e))))];
    });
  }

  private card({ name, scene }: { name: string; scene: Scene }): HTMLElement {
    const label = name.slice(name.lastIndexOf('/') + 1).replace('.yaml', '').replaceAll('-', ' ');
    return h(
      'button',
      { class: 'card', title: scene.title, 'data-example': name, onclick: () => void this.open('example', name) },
      thumbnail(scene),
      h('strong', {}, label),
      h('span', { class: 'quiet' }, `${scene.poses.length} ${scene.poses.length === 1 ? 'body' : 'bodies'} · ${scene.planar ? 'planar' : 'spatial'}`),
    );
  }

  private ownFiles(files: string[]): HTMLElement {
    const buttons = files.map((name) => h('button', { class: 'button', 'data-file': name, onclick: () => void this.open('file', name) }, name));
    return h('section', { class: 'own-files' }, h('h2', {}, 'Your files'), h('div', { class: 'row' }, ...buttons));
  }

  private async open(source: 'example' | 'file', name: string): Promise<void> {
    const reply = await this.studio.open(source, name);
    if (!reply.ok) return;
    this.hide();
    void this.studio.connection.ask('play');
  }
}
