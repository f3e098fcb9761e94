// Formulations, their comparison, plots and readings.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ask, openExample, settledBox, time, waitForTime } from './harness.mjs';
import { drag, joints, pause, select, sensors, studio, until } from './shared.mjs';

test('the formulation is switched in mid-run and the trajectory goes on', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.3);
  await page.selectOption('#formulation', 'augmented-lagrangian');
  await until(() => window.studio.state.formulation === 'augmented-lagrangian', null, 'the switch');
  assert.ok(await page.evaluate(() => window.studio.state.playing), 'the motion must go on');
  await pause();
  const start = await sensors();
  await page.selectOption('#formulation', 'global');
  await until(() => window.studio.state.formulation === 'global' && window.studio.frame.revision === window.studio.scene.revision, null, 'the way back');
  const there = await sensors();
  for (const name of ['tip.x', 'tip.y']) assert.ok(Math.abs(there[name] - start[name]) < 1e-6, `${name} jumps from ${start[name]} to ${there[name]}`);
  // From the same state, both go the same way.
  const after = async (formulation) => {
    const { time: now } = await ask(page, 'pause');
    assert.ok((await ask(page, 'edit', { text: `use formulation ${formulation}` })).ok);
    const { time: then } = await ask(page, 'step', { count: 50 });
    await until((t) => window.studio.frame.time === t, then, 'fifty steps');
    const end = await sensors();
    assert.ok((await ask(page, 'edit', { text: `go ${now}` })).ok);
    return end;
  };
  const [one, other] = [await after('global'), await after('augmented-lagrangian')];
  for (const name of ['tip.x', 'tip.y']) assert.ok(Math.abs(one[name] - other[name]) < 1e-6, `${name}: ${one[name]} and ${other[name]}`);
});

test('a second formulation runs beside as a ghost, and their difference is plotted', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await page.selectOption('#ghost', 'penalty');
  await until(() => window.studio.frame.ghost.length === 14, null, 'the ghost');
  await page.click('#show-plots');
  await page.click('#plot-difference');
  const pane = page.locator('.pane').last();
  assert.match(await pane.getAttribute('data-columns'), /Δ tip\.x/);
  await waitForTime(page, (await time(page)) + 0.3);
  const differences = await page.evaluate(() => window.studio.plots.history.get('Δ tip.x').filter((x) => x !== null));
  assert.ok(differences.length > 10, `only ${differences.length} differences`);
  const largest = Math.max(...differences.map(Math.abs));
  assert.ok(largest > 0 && largest < 1e-2, `a difference of ${largest}`);
  await page.click('[aria-label="Hide the plots"]');
  await page.selectOption('#ghost', '');
  await until(() => window.studio.frame.ghost.length === 0, null, 'the ghost to go');
});

test('a reaction is plotted by a click, and what is plotted is saved', async () => {
  const { page } = studio;
  await openExample(page, 'slider-crank.yaml');
  const joint = (await joints())[0];
  await select('joints', joint);
  await page.click('[data-action="plot"]');
  const pane = page.locator('.pane').last();
  await pane.waitFor();
  assert.match(await pane.getAttribute('data-columns'), new RegExp(`${joint}_reaction\\.f[xy]`));
  await waitForTime(page, (await time(page)) + 0.3);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-csv')]);
  const rows = readFileSync(await download.path(), 'utf8').trim().split('\n');
  assert.match(rows[0], /^t,/);
  const column = rows[0].split(',').findIndex((name) => name.startsWith(`${joint}_reaction`));
  const values = rows.slice(1).map((row) => Number(row.split(',')[column])).filter((x) => x !== 0);
  assert.ok(values.length > 20, `only ${values.length} values`);
  await page.click('[aria-label="Hide the plots"]');
});

test('a plot that was zoomed stays so while it moves', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.4);
  await page.click('#show-plots');
  const box = await settledBox(page.locator('.pane').last().locator('.u-over'));
  const range = () => page.evaluate(() => [...document.querySelectorAll('.pane')].at(-1).dataset.range);
  await drag({ x: box.x + 0.3 * box.width, y: box.y + 40 }, { x: box.x + 0.6 * box.width, y: box.y + 40 });
  await page.locator('.pane.zoomed').waitFor();
  const zoomed = await range();
  await waitForTime(page, (await time(page)) + 0.3);
  assert.equal(await range(), zoomed);
  await page.mouse.dblclick(box.x + 0.5 * box.width, box.y + 40);
  await until((old) => [...document.querySelectorAll('.pane')].at(-1).dataset.range !== old, zoomed, 'the whole');
  await page.click('[aria-label="Hide the plots"]');
});

test('the readings tell freedoms, redundancy and the relative error', async () => {
  const { page } = studio;
  await openExample(page, 'loops/bricard.yaml');
  await waitForTime(page, 0.2);
  await pause();
  assert.match(await page.locator('#freedoms').innerText(), /^1\s+degree of freedom/);
  await page.click('#freedoms button');
  assert.ok((await page.evaluate(() => window.studio.marked.size)) > 0, 'redundant joints must be pointed out');
  const sigma = await page.evaluate(() => window.studio.frame.relativeError);
  assert.ok(sigma > 0 && sigma < 1, `a relative error of ${sigma}`);
  assert.match(await page.locator('#solver').innerText(), /relative error Σ/);
});

test('components have colours, a legend and their evaluations', async () => {
  const { page } = studio;
  await openExample(page, 'n-four-bar.yaml');
  await pause();
  // How many bodies have each colour.
  const colors = () =>
    page.evaluate(() => {
      const { view, scene } = window.studio;
      const seen = new Map();
      for (const { mesh, shapes } of view.bodies.meshes)
        shapes.forEach((shape, i) => {
          if (shape.body >= 0) seen.set(shape.body, [...mesh.instanceColor.array.slice(3 * i, 3 * i + 3)].map((x) => x.toFixed(3)).join());
        });
      return scene.poses.map((_, body) => seen.get(body));
    });
  const plain = await colors();
  assert.equal(await page.locator('.swatch.component').count(), 0);
  assert.match(await page.locator('#solver').innerText(), /iterations per step/);
  await page.selectOption('#division', 'auto');
  await until(() => window.studio.scene.components.length === 2 && window.studio.frame.revision === window.studio.scene.revision, null, 'two components');
  assert.equal(await page.locator('.swatch.component').count(), 2);
  const { componentOf, names } = await page.evaluate(() => ({ componentOf: window.studio.scene.componentOf, names: window.studio.scene.components.map((c) => c.name) }));
  for (const name of names) assert.ok((await page.locator('.legend').innerText()).includes(name), `${name} is missing in the legend`);
  const divided = await colors();
  assert.notDeepEqual(divided, plain);
  assert.equal(new Set(divided).size, 2);
  divided.forEach((color, body) => assert.equal(color, divided[componentOf.indexOf(componentOf[body])], `body ${body}`));
  await ask(page, 'step', { count: 5 });
  await until(() => /evaluations per step/.test(document.getElementById('solver').innerText), null, 'the evaluations');
  await page.keyboard.press('n');
  assert.deepEqual(await colors(), plain);
  assert.equal(await page.locator('.swatch.component').count(), 0);
  await page.keyboard.press('n');
  // A joint between components goes and comes back while they stay.
  await page.selectOption('#division', 'none');
  await until(() => window.studio.scene.components.length === 0, null, 'one whole');
});
