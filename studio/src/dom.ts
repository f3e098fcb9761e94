// Making elements, without a framework.

type Attributes = Record<string, string | number | boolean | ((event: never) => void) | undefined>;

/** An element with attributes ("onclick" and the like are listeners) and children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as EventListener);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children);
  return element;
}

const svgNamespace = 'http://www.w3.org/2000/svg';

/** An SVG element. */
export function s(tag: string, attributes: Record<string, string | number> = {}, ...children: Node[]): SVGElement {
  const element = document.createElementNS(svgNamespace, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
}

/** A 24 x 24 line drawing. */
export function icon(path: string): SVGElement {
  return s('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' }, s('path', { d: path }));
}

export const icons = {
  play: 'M7 4.5v15l12-7.5z',
  pause: 'M8 5v14M16 5v14',
  step: 'M6 5v14l9-7zM18 5v14',
  reset: 'M5 5v14M19 5v14L8 12z',
  undo: 'M9 14L4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3',
  redo: 'M15 14l5-5-5-5M20 9H10a6 6 0 0 0 0 12h3',
  fit: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
  open: 'M3 7a2 2 0 0 1 2-2h4l2 3h8a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2z',
  save: 'M5 4h11l4 4v12H4V5a1 1 0 0 1 1-1zM8 4v5h7V4M8 20v-6h8v6',
  gallery: 'M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z',
  pointer: 'M5 3l13 9-6 1.5L9 20z',
  rod: 'M6 18L18 6M6 18m-2.5 0a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0M18 6m-2.5 0a2.5 2.5 0 1 0 5 0 2.5 2.5 0 1 0-5 0',
  box: 'M4 7h16v10H4z',
  disc: 'M12 12m-8 0a8 8 0 1 0 16 0 8 8 0 1 0-16 0M12 12h.01',
  sphere: 'M12 12m-8 0a8 8 0 1 0 16 0 8 8 0 1 0-16 0M4.5 14c4 3 11 3 15 0',
  joint: 'M12 12m-3 0a3 3 0 1 0 6 0 3 3 0 1 0-6 0M3 12h6M15 12h6',
  spring: 'M3 12h3l2-5 3 10 3-10 3 10 2-5h2',
  motor: 'M12 12m-8 0a8 8 0 1 0 16 0 8 8 0 1 0-16 0M8.5 15.5v-7l3.5 4 3.5-4v7',
  arrows: 'M4 20L18 6M11 5h8v8',
  velocity: 'M3 12h15M13 6l6 6-6 6M3 6h5M3 18h5',
  trace: 'M3 17c4 0 4-10 9-10s4 8 9 5',
  contact: 'M3 20h18M12 8m-5 0a5 5 0 1 0 10 0 5 5 0 1 0-10 0M12 20v-6M10 16l2-2 2 2',
  plot: 'M4 4v16h16M7 15l4-5 3 3 5-7',
  sun: 'M12 12m-4 0a4 4 0 1 0 8 0 4 4 0 1 0-8 0M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M19 5l-2 2M7 17l-2 2',
  help: 'M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 18h.01M12 12m-10 0a10 10 0 1 0 20 0 10 10 0 1 0-20 0',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13',
  close: 'M6 6l12 12M18 6L6 18',
  download: 'M12 4v11M7 11l5 5 5-5M4 20h16',
} as const;

export type IconName = keyof typeof icons;

/** A button with a drawing; `title` is its tooltip and its name. */
export function iconButton(name: IconName, title: string, onclick: () => void, id?: string): HTMLButtonElement {
  return h('button', { class: 'icon-button', title, 'aria-label': title, onclick, id }, icon(icons[name]));
}

/** Gives the person a file. */
export function download(name: string, content: Blob | string): void {
  const blob = typeof content === 'string' ? new Blob([content], { type: 'text/plain' }) : content;
  const link = h('a', { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Short form of a number, for people. */
export function short(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '–';
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) return value.toExponential(1).replace('e-', 'e−').replace('e+', 'e');
  return String(Number(value.toPrecision(digits)));
}
