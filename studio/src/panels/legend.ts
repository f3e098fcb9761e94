// What arrows and colours in the picture mean, in its corner.

import { h, short } from '../dom';
import type { Studio } from '../studio';
import { componentColor } from '../view/components';

const framesBetweenTexts = 6;
const mostComponents = 8;

export function legend(studio: Studio): HTMLElement {
  const element = h('div', { class: 'legend', hidden: true, 'aria-label': 'Legend' });
  const line = (kind: string, text: string) => [h('span', { class: `swatch ${kind}` }), h('span', {}, text)];
  const components = () => {
    const list = studio.shown.components ? (studio.scene?.components ?? []) : [];
    const lines = list.slice(0, mostComponents).flatMap(({ name, formulation, integrator }, i) => {
      const swatch = h('span', { class: 'swatch component' });
      swatch.style.background = componentColor(i);
      return [swatch, h('span', { title: `${formulation}, ${integrator}` }, name)];
    });
    return list.length > mostComponents ? [...lines, ...line('', `and ${list.length - mostComponents} more`)] : lines;
  };
  const update = () => {
    const { reactions, velocities, contacts } = studio.view.overlays;
    const lines = [
      ...components(),
      ...(studio.shown.reactions ? line('reaction', `joint forces, longest ${short(reactions.largest)} N`) : []),
      ...(studio.shown.velocities ? line('velocity', `velocities, fastest ${short(velocities.largest)} m/s`) : []),
      ...(studio.shown.contacts && contacts.count > 0 ? line('contact', `contact forces, longest ${short(contacts.forces.largest)} N`) : []),
      ...(studio.scene?.forces.some((f) => f.type === 'spring') ? [...line('pulled', 'spring pulled'), ...line('pressed', 'spring pressed')] : []),
    ];
    element.replaceChildren(...lines);
    element.hidden = lines.length === 0;
  };
  let count = 0;
  studio.frameArrived.on((frame) => {
    if (count++ % framesBetweenTexts === 0 || !frame.playing) update();
  });
  studio.shownChanged.on(update);
  studio.sceneChanged.on(update);
  return element;
}
