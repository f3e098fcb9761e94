// A value of an element as something to type into and, where it is made of numbers, to slide.

import { h } from '../dom';
import type { Studio } from '../studio';

export interface Value {
  path: string; // as in "set PATH VALUE"
  label: string;
  value: string;
}

export class Fields {
  /** While a slider is held, nothing around it may be built anew. */
  isSliding = false;

  constructor(private studio: Studio) {}

  field({ path, label, value }: Value): HTMLElement {
    if (value === 'true' || value === 'false') return this.tick(path, label, value === 'true');
    const input = this.text(path, label, value);
    const row = h('label', { class: 'field' }, h('span', { title: label }, label), input);
    const number = asNumber(value);
    if (number !== null) row.append(this.slider(path, number, (text) => (input.value = text)));
    const numbers = asNumbers(value);
    numbers?.forEach((component, i) =>
      row.append(
        this.slider(`${path}.${i}`, component, (text) => {
          numbers[i] = Number(text);
          input.value = `[${numbers.join(', ')}]`;
        }),
      ),
    );
    return row;
  }

  private text(path: string, label: string, value: string): HTMLInputElement {
    const input = h('input', { type: 'text', 'aria-label': label, 'data-path': path, spellcheck: 'false' });
    input.value = value;
    input.onchange = () => void this.studio.edit(`set ${path} ${input.value}`);
    return input;
  }

  private tick(path: string, label: string, isOn: boolean): HTMLElement {
    const input = h('input', { type: 'checkbox', 'aria-label': label, 'data-path': path, checked: isOn });
    input.onchange = () => void this.studio.edit(`set ${path} ${input.checked}`);
    return h('label', { class: 'field' }, h('span', {}, label), input);
  }

  // One gesture is one edit to undo: each new value takes back the one before it.
  private slider(path: string, value: number, show: (text: string) => void): HTMLInputElement {
    const [low, high] = range(value, this.studio.view.size);
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
        show(text);
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
}

/** The names among `known` that an expression uses. */
export function namesIn(text: string, known: string[]): string[] {
  const words = new Set(text.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? []);
  return known.filter((name) => words.has(name));
}

// From next to nothing to three times as much; lengths that are zero go to both sides, as far as the model is large.
function range(value: number, size: number): [number, number] {
  if (value === 0) return [-size, size];
  return value > 0 ? [0.02 * value, 3 * value] : [3 * value, -0.02 * value];
}

function asNumber(text: string): number | null {
  return text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : null;
}

function asNumbers(text: string): number[] | null {
  if (!/^\[.*\]$/.test(text)) return null;
  const numbers = text.slice(1, -1).split(',').map(asNumber);
  return numbers.every((x) => x !== null) && numbers.length <= 3 ? numbers : null;
}
