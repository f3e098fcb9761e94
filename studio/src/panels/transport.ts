// Time: play, pause, step, speed, and the way back.

import { h, icon, iconButton, icons, short } from '../dom';
import type { Studio } from '../studio';

const speeds = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];
const framesBetweenTexts = 6;

export function transport(studio: Studio): HTMLElement {
  const play = iconButton('play', 'Play (space)', () => studio.togglePlay(), 'play');
  const clock = h('output', { class: 'clock', id: 'clock' }, '0.00 s');
  const reached = h('span', { class: 'quiet reached', id: 'reached', title: 'Simulated seconds per second' });
  const speed = h('select', { title: 'Speed', 'aria-label': 'Speed', id: 'speed' }, ...speeds.map((x) => h('option', { value: x, selected: x === 1 }, `${x}×`)));
  speed.onchange = () => void studio.connection.ask('speed', { factor: Number(speed.value) });
  const line = h('input', { type: 'range', class: 'timeline', id: 'timeline', min: 0, max: 1, step: 'any', value: 0, 'aria-label': 'Time' });
  let isScrubbing = false;
  let isAsked = false;
  const go = async () => {
    if (isAsked) return;
    isAsked = true;
    let asked = '';
    while (asked !== line.value) {
      asked = line.value;
      await studio.edit(`go ${asked}`);
    }
    isAsked = false;
  };
  line.oninput = () => {
    if (!isScrubbing && studio.state?.playing) studio.togglePlay();
    isScrubbing = true;
    void go();
  };
  line.onchange = () => {
    isScrubbing = false;
    void go();
  };
  const back = () => {
    if (studio.frame) void studio.edit(`go ${studio.frame.first}`);
  };
  studio.stateChanged.on((state) => {
    play.replaceChildren(icon(state.playing ? icons.pause : icons.play));
    play.title = state.playing ? 'Pause (space)' : 'Play (space)';
    play.setAttribute('aria-label', play.title);
    play.classList.toggle('on', state.playing);
    speed.value = String(state.speed);
  });
  let count = 0;
  studio.frameArrived.on((frame) => {
    if (!isScrubbing && !isAsked) {
      line.min = String(frame.first);
      line.max = String(Math.max(frame.last, frame.first + 1e-9));
      line.value = String(frame.time);
    }
    clock.textContent = `${frame.time.toFixed(frame.playing ? 2 : 3)} s`;
    if (count++ % framesBetweenTexts && frame.playing) return;
    reached.textContent = !frame.playing ? 'paused' : frame.slow ? `${short(frame.speedReached, 2)}× · as fast as it can` : `${short(frame.speedReached, 2)}×`;
    reached.classList.toggle('warn', frame.playing && frame.slow);
  });
  return h(
    'footer',
    { class: 'transport' },
    iconButton('reset', 'Back to the start (Home)', back, 'reset'),
    play,
    iconButton('step', 'One step (.)', () => void studio.connection.ask('step', { count: 1 }), 'step'),
    clock,
    line,
    speed,
    reached,
  );
}
