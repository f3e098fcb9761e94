// Live plots of sensors: several panes with a common time axis, zoom by dragging, values under the cursor.

import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { download, h, iconButton } from '../dom';
import type { Frame } from '../frame';
import type { Studio } from '../studio';
import { palette } from '../view/shapes';

const mostSamples = 20_000;
const redrawInterval = 50; // ms

interface Pane {
  columns: string[];
  element: HTMLElement;
  plot: uPlot;
}

/** What the sensors have shown so far, by column. */
export class History {
  time: number[] = [];
  private values = new Map<string, (number | null)[]>();
  private columns: string[] = [];

  restart(columns: string[]): void {
    this.time = [];
    this.values.clear();
    this.setColumns(columns);
  }

  /** Columns that stay keep their past. */
  setColumns(columns: string[]): void {
    this.columns = columns;
    for (const column of columns)
      for (const name of [column, `Δ ${column}`]) if (!this.values.has(name)) this.values.set(name, Array<null>(this.time.length).fill(null));
  }

  add(frame: Frame): void {
    const stride = frame.sampleCount > 0 ? frame.samples.length / frame.sampleCount : 0;
    for (let row = 0; row < frame.sampleCount; ++row) this.addSample(frame.samples.subarray(row * stride, (row + 1) * stride), frame);
    if (this.time.length <= mostSamples) return;
    this.time.splice(0, mostSamples / 10);
    for (const list of this.values.values()) list.splice(0, mostSamples / 10);
  }

  private addSample(sample: Float64Array, frame: Frame): void {
    const time = sample[0]!;
    // Going back in time: what came after is no longer so.
    while (this.time.length > 0 && this.time.at(-1)! >= time) {
      this.time.pop();
      for (const list of this.values.values()) list.pop();
    }
    this.time.push(time);
    for (const list of this.values.values()) list.push(null);
    this.columns.forEach((column, i) => {
      const value = sample[1 + i];
      if (value === undefined) return;
      this.values.get(column)![this.time.length - 1] = value;
      if (frame.hasGhost) this.values.get(`Δ ${column}`)![this.time.length - 1] = sample[1 + frame.sensorCount + i]! - value;
    });
  }

  get(column: string): (number | null)[] {
    return this.values.get(column) ?? Array<null>(this.time.length).fill(null);
  }
}

export class Plots {
  readonly element = h('section', { class: 'plots', hidden: true, 'aria-label': 'Plots' });
  readonly history = new History();
  private panes: Pane[] = [];
  private list = h('div', { class: 'panes' });
  private picker = h('select', { 'aria-label': 'Add a plot', id: 'add-plot' });
  private isDirty = false;

  constructor(private studio: Studio) {
    this.element.append(
      h(
        'header',
        {},
        h('strong', {}, 'Plots'),
        this.picker,
        h('button', { class: 'button', id: 'plot-difference', onclick: () => this.addPane(this.studio.scene?.columns ?? [], true), title: 'How far the second formulation is from the first' }, 'Difference'),
        h('span', { class: 'stretch' }),
        iconButton('download', 'Download as CSV', () => this.saveTable(), 'save-csv'),
        iconButton('close', 'Hide the plots', () => this.show(false)),
      ),
      this.list,
    );
    this.picker.onchange = () => {
      const name = this.picker.value;
      this.picker.value = '';
      this.addPane(this.studio.scene!.columns.filter((c) => c === name || c.startsWith(`${name}.`)));
    };
    studio.sceneChanged.on(({ scene, isNew }) => {
      if (isNew) {
        this.history.restart(scene.columns);
        for (const pane of this.panes) pane.plot.destroy();
        this.panes = [];
        this.list.replaceChildren();
        if (!this.element.hidden) this.addFirst();
      } else {
        this.history.setColumns(scene.columns);
      }
      const names = [...new Set(scene.columns.map((c) => c.replace(/\.[^.]*$/, '')))];
      this.picker.replaceChildren(h('option', { value: '' }, 'Add a sensor …'), ...names.map((n) => h('option', { value: n }, n)));
    });
    studio.frameArrived.on((frame) => {
      this.history.add(frame);
      this.isDirty = true;
    });
    setInterval(() => this.redraw(), redrawInterval);
    new ResizeObserver(() => this.resize()).observe(this.list);
  }

  show(isShown: boolean): void {
    this.element.hidden = !isShown;
    if (isShown && this.panes.length === 0) this.addFirst();
  }

  toggle(): void {
    this.show(this.element.hidden);
  }

  addPane(columns: string[], isDifference = false): void {
    if (columns.length === 0) return;
    this.element.hidden = false;
    this.makePane(columns.map((c) => (isDifference ? `Δ ${c}` : c)));
  }

  /** The theme has changed; plots keep the colours they were made with. */
  restyle(): void {
    const kept = this.panes.map((pane) => pane.columns);
    for (const pane of [...this.panes]) this.closePane(pane);
    for (const names of kept) this.makePane(names);
  }

  private makePane(names: string[]): void {
    const element = h('div', { class: 'pane', 'data-columns': names.join(' ') });
    const style = getComputedStyle(document.documentElement);
    const text = style.getPropertyValue('--quiet').trim();
    const grid = { stroke: style.getPropertyValue('--line').trim(), width: 1 };
    const axis = { stroke: text, grid, ticks: grid, font: '11px system-ui', size: 46 };
    const plot = new uPlot(
      {
        width: 320,
        height: 150,
        legend: { live: true },
        cursor: { drag: { x: true, y: false }, sync: { key: 'time' } },
        scales: { x: { time: false } },
        axes: [{ ...axis, size: 28 }, { ...axis, values: (_, ticks) => ticks.map((v) => String(Number(v.toPrecision(4)))) }],
        hooks: {
          setSelect: [(u) => u.select.width > 0 && element.classList.add('zoomed')],
          setScale: [(u, key) => key === 'x' && (element.dataset['range'] = `${u.scales['x']!.min} ${u.scales['x']!.max}`)],
        },
        series: [{ label: 't' }, ...names.map((label, i) => ({ label, stroke: palette[i % palette.length]!, width: 1.8, points: { show: false } }))],
      },
      [[], ...names.map(() => [])] as uPlot.AlignedData,
      element,
    );
    const pane: Pane = { columns: names, element, plot };
    plot.over.addEventListener('dblclick', () => element.classList.remove('zoomed'));
    element.append(iconButton('close', 'Close this plot', () => this.closePane(pane)));
    this.panes.push(pane);
    this.list.append(element);
    this.isDirty = true;
    this.resize();
  }

  private addFirst(): void {
    const first = this.studio.scene?.sensors[0];
    if (first) this.addPane(this.studio.scene!.columns.filter((c) => c === first || c.startsWith(`${first}.`)));
  }

  private closePane(pane: Pane): void {
    pane.plot.destroy();
    pane.element.remove();
    this.panes = this.panes.filter((p) => p !== pane);
    this.resize();
  }

  private redraw(): void {
    if (!this.isDirty || this.element.hidden) return;
    this.isDirty = false;
    for (const { plot, columns, element } of this.panes) {
      const isZoomed = element.classList.contains('zoomed'); // then the time axis does not follow the motion
      plot.setData([this.history.time, ...columns.map((c) => this.history.get(c))] as uPlot.AlignedData, !isZoomed);
      if (isZoomed) plot.redraw();
    }
  }

  private resize(): void {
    for (const pane of this.panes) {
      const width = Math.floor(pane.element.clientWidth) - 8;
      if (width > 50 && Math.abs(width - pane.plot.width) > 1) pane.plot.setSize({ width, height: 150 });
    }
  }

  private saveTable(): void {
    const columns = [...new Set(this.panes.flatMap((p) => p.columns))];
    const rows = this.history.time.map((t, i) => [t, ...columns.map((c) => this.history.get(c)[i] ?? '')].join(','));
    download(`${this.studio.scene?.name.replace(/.*\//, '').replace('.yaml', '') ?? 'limber'}.csv`, ['t,' + columns.join(','), ...rows].join('\n') + '\n');
  }
}
