// What a picture of many bodies costs: node bench/studio_frames.mjs LIMBER NODE_MODULES [--bodies 1000] [--pictures 60]
//
// A field of pendulums in Chromium, which draws in software here. Prints pictures per second, the time the page's own code and three.js take for
// one (the drawing itself happens elsewhere), the time between two, and the draw calls. Fails if the page's code alone would not leave room for 60 pictures/s, or if
// draw calls grow with the bodies.

import { openPage, openText, startBrowser, startServer } from '../tests/studio/harness.mjs';

const [binary, modules, ...rest] = process.argv.slice(2);
const option = (name, fallback) => Number(rest.includes(name) ? rest[rest.indexOf(name) + 1] : fallback);
const bodies = option('--bodies', 1000);
const pictures = option('--pictures', 60);
const mostDrawCalls = 40;
const side = Math.ceil(Math.sqrt(bodies));

const model = (planar) => {
  const place = (i, shift) => `[${[(i % side) + shift, Math.floor(i / side), ...(planar ? [] : [0])].join(', ')}]`;
  const each = (line) => Array.from({ length: bodies }, (_, i) => `  ${line(i)}`).join('\n');
  return `limber: 1
${planar ? 'plane: xy' : 'gravity: [0, 0, -9.81]'}
bodies:
${each((i) => `rod${i}: {rod: {from: ${place(i, 0)}, to: ${place(i, 0.8)}, mass: 1}}`)}
joints:
${each((i) => `pin${i}: {${planar ? 'revolute' : 'spherical'}: [ground, rod${i}.from]}`)}
simulation: {step: 0.01, formulation: articulated-body, integrator: rk4}
`;
};

const server = await startServer(binary);
const browser = await startBrowser(modules);
let isGood = true;

async function measure(planar) {
  const { page, context } = await openPage(browser, server.address);
  await page.waitForSelector('.card');
  await openText(page, 'field.yaml', model(planar));
  await page.click('#play');
  const result = await page.evaluate(async (wanted) => {
    const { view } = window.studio;
    const draw = view.draw;
    const own = [];
    const between = [];
    let last = 0;
    view.draw = function () {
      const begin = performance.now();
      if (last > 0) between.push(begin - last);
      last = begin;
      draw.call(view);
      own.push(performance.now() - begin);
    };
    const first = window.studio.frame.number;
    const start = performance.now();
    while (between.length < wanted) await new Promise((done) => setTimeout(done, 100));
    const length = (performance.now() - start) / 1000;
    const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)];
    return {
      pictures: between.length / length,
      frames: (window.studio.frame.number - first) / length,
      own: median(own),
      between: median(between),
      calls: view.renderer.info.render.calls,
      triangles: view.renderer.info.render.triangles,
      speed: window.studio.frame.speedReached,
    };
  }, pictures);
  console.log(
    `${bodies} ${planar ? 'planar' : 'spatial'} bodies: ${result.pictures.toFixed(1)} pictures/s, ${result.frames.toFixed(1)} frames/s from the server at ${result.speed.toFixed(2)} of real time; ` +
      `own code ${result.own.toFixed(1)} ms a picture, ${result.between.toFixed(1)} ms between two; ${result.calls} draw calls, ${result.triangles} triangles`,
  );
  isGood &&= result.own < 1000 / 60 && result.calls < mostDrawCalls;
  await context.close();
}

try {
  for (const planar of [true, false]) await measure(planar);
} finally {
  await browser.close();
  await server.stop();
}
process.exit(isGood ? 0 : 1);
