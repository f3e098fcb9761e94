// Colours of the components of a divided mechanism.

import type { Scene } from '../types';

// Okabe and Ito's, for those who see colours differently; beyond them, turns of the hue that never come back to the same place.
const first = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00'];
const turn = 137.5;

export const componentColor = (index: number): string => first[index] ?? `hsl(${(index * turn) % 360}, 55%, 55%)`;

/** The colour of a body's component; null if the mechanism is not divided. */
export function componentColorOf(scene: Scene, body: number): string | null {
  const component = scene.componentOf[body];
  return component === undefined ? null : componentColor(component);
}
