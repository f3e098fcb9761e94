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
    const quantity = asQuantity(value);
    if (quantity) row.append(this.slider(path, quantity, (text) => (input.value = text)));
    const parts = asQuantities(value);
    const texts = parts?.map(({ value: x, unit }) => `${x}${unit}`) ?? [];
    parts?.forEach((part, i) =>
      row.append(
        this.slider(`${path}.${i}`, part, (text) => {
          texts[i] = text;
          input.value = `[${texts.join(', ')}]`;
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
  private slider(path: string, { value, unit }: Quantity, show: (text: string) => void): HTMLInputElement {
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
        const text = `${Number(Number(sent).toPrecision(4))}${unit}`;
        show(text);
        hasEdit = (await this.studio.edit(`set ${path} ${text}`)).ok;
      }
      isBusy = false;
      if (!this.isSliding) hasEdit = false;
    };
    // Held from the first touch on, so that nothing puts another slider in its place; let go wherever the hand is by then.
    slider.onpointerdown = () => {
      this.isSliding = true;
      addEventListener('pointerup', () => (this.isSliding = false), { once: true });
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

interface Quantity {
  value: number;
  unit: string; // '' or ' deg'
}

function asQuantity(text: string): Quantity | null {
  const [, digits = '', unit = ''] = text.trim().match(/^(\S+?)(\s*deg)?$/) ?? [];
  return digits !== '' && Number.isFinite(Number(digits)) ? { value: Number(digits), unit } : null;
}

function asQuantities(text: string): Quantity[] | null {
  if (!/^\[.*\]$/.test(text)) return null;
  const parts = text.slice(1, -1).split(',').map(asQuantity);
  return parts.every((x) => x !== null) && parts.length <= 3 ? parts : null;
}
