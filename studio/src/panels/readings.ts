// What an engineer wants to know at a glance: energy, errors, freedoms, cost.

import { h, short } from '../dom';
import type { Studio } from '../studio';

const framesBetweenTexts = 6;
const evaluationsMeaning = 'how often the motion of all components, or how they yield, was evaluated until the joints between them had found their forces';
const divisions: [string, string][] = [
  ['none', 'one whole'],
  ['body', 'every body'],
  ['tree', 'every tree'],
  ['groups', 'as the file says'],
  ['auto', 'automatic'],
];
const sigmaMeaning =
  'Joli 2008, eq. (15): |kv Φ′ + kp Φ| / |K λ|, the share of the constraint accelerations that mends errors instead of moving the mechanism, with the gains that suit the step. ' +
  'Far below 1: the constraints are well kept. Near 1: take a smaller step.';

export function readings(studio: Studio): HTMLElement {
  const kinetic = h('div', { class: 'bar kinetic' });
  const potential = h('div', { class: 'bar potential' });
  const energy = h('dl', { class: 'numbers', id: 'energy' });
  const solver = h('dl', { class: 'numbers', id: 'solver' });
  const freedoms = h('div', { class: 'freedoms', id: 'freedoms' });
  const warnings = h('ul', { class: 'warnings', id: 'warnings' });
  const division = h('select', { id: 'division', title: 'Components with a solver of their own, held together by joints', 'aria-label': 'Division into components' });
  division.onchange = () => {
    // What is refused leaves the choice where it was.
    void studio.edit(`use division ${division.value}`).then(() => (division.value = studio.state?.division || 'none'));
  };
  studio.stateChanged.on((state) => {
    const now = state.division || 'none';
    const known = divisions.some(([value]) => value === now);
    division.replaceChildren(...(known ? divisions : [...divisions, [now, now]]).map(([value, text]) => h('option', { value }, text!)));
    division.value = now;
  });
  let lowest = Infinity;
  let highest = -Infinity;
  let count = 0;

  const pairs = (list: [string, string, string?][]) => list.flatMap(([name, value, title]) => [h('dt', { title }, name), h('dd', {}, value)]);

  studio.sceneChanged.on(({ scene, isNew }) => {
    if (isNew) [lowest, highest] = [Infinity, -Infinity];
    const m = scene.mobility;
    const redundant = m?.elements ?? [];
    freedoms.replaceChildren(
      m ? h('span', { class: 'big' }, String(m.freedoms)) : h('span', { class: 'quiet' }, 'too many bodies to count'),
      m ? (m.freedoms === 1 ? ' degree of freedom' : ' degrees of freedom') : '',
    );
    studio.mark([]);
    if (redundant.length > 0) {
      const show = h('button', { class: 'button', onclick: () => studio.mark(studio.marked.size ? [] : redundant), title: redundant.join(', ') }, `${m!.redundant} redundant: show`);
      freedoms.append(show);
    }
    // Redundant joints have their button.
    const others = scene.warnings.filter((warning) => warning.kind !== 'redundant');
    const mark = (elements: string[]) => studio.mark(studio.marked.size ? [] : elements);
    warnings.replaceChildren(
      ...others.map((warning) => h('li', { title: `${warning.kind}: click to see what it is about`, onclick: () => mark(warning.elements) }, warning.text)),
    );
    if (isNew) for (const warning of others) studio.note('warning', warning.text);
  });

  studio.frameArrived.on((frame) => {
    lowest = Math.min(lowest, frame.potential);
    highest = Math.max(highest, frame.kinetic + frame.potential - lowest);
    if (count++ % framesBetweenTexts && frame.playing) return;
    const full = Math.max(highest, 1e-12);
    kinetic.style.width = `${(100 * frame.kinetic) / full}%`;
    potential.style.width = `${(100 * (frame.potential - lowest)) / full}%`;
    energy.replaceChildren(
      ...pairs([
        ['kinetic', `${short(frame.kinetic)} J`],
        ['potential', `${short(frame.potential)} J`],
        ['work done', `${short(frame.work)} J`, 'by motors, dampers, drivers and your hand'],
        ['drift', `${short(frame.drift, 2)} J`, 'energy that came from nowhere: the error of the integration'],
      ]),
    );
    energy.dataset['total'] = String(frame.kinetic + frame.potential);
    solver.replaceChildren(
      ...pairs([
        ['position error', short(frame.positionError, 2)],
        ['velocity error', short(frame.velocityError, 2)],
        ['acceleration error', short(frame.accelerationError, 2)],
        ['relative error Σ', short(frame.relativeError, 2), sigmaMeaning],
        studio.scene?.components.length ? ['evaluations per step', short(frame.iterations, 2), evaluationsMeaning] : ['iterations per step', short(frame.iterations, 2)],
        ['pictures', `${studio.view.framesPerSecond} / s`],
      ]),
    );
  });

  return h(
    'section',
    { class: 'readings', 'aria-label': 'Readings' },
    freedoms,
    warnings,
    h('h3', {}, 'Energy'),
    h('div', { class: 'bars', title: 'kinetic and potential energy' }, kinetic, potential),
    energy,
    h('h3', {}, 'Solver'),
    solver,
    h('label', { class: 'division' }, 'components', division),
  );
}
