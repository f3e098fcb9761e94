// The studio in a real browser: node browser.mjs LIMBER NODE_MODULES

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, beforeEach, test } from 'node:test';
import { ask, energy, markerOnScreen, openExample, openPage, startBrowser, startServer, time, waitForTime, waitUntil } from './harness.mjs';

const [binary, modules] = process.argv.slice(2);
let server, browser, page, context, errors;

before(async () => {
  server = await startServer(binary);
  browser = await startBrowser(modules);
  ({ page, context, errors } = await openPage(browser, server.address));
  await page.waitForSelector('.card');
});
after(async () => {
  await browser?.close();
  assert.equal(await server?.stop(), 0);
});
beforeEach(() => errors.splice(0));

const select = (section, name) => page.click(`.tree-item[data-section="${section}"][data-name="${name}"]`);
const joints = () => page.evaluate(() => window.studio.scene.joints.map((j) => j.name));
const tip = () => page.evaluate(() => [...window.studio.frame.bodies.slice(13, 16)]);
const drawn = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
const pause = async () => {
  const reply = await ask(page, 'pause');
  await waitUntil(page, (t) => !window.studio.state.playing && window.studio.frame.time === t, reply.time, 'the last frame');
  await drawn();
  return reply;
};
const noteWith = (text) => page.locator('.note', { hasText: text }).first().waitFor();

test('an example opens and moves', async () => {
  await openExample(page, 'double-pendulum.yaml');
  const start = await tip();
  await waitForTime(page, 0.3);
  const now = await tip();
  assert.ok(Math.hypot(now[0] - start[0], now[1] - start[1]) > 0.02, 'the lower rod has not moved');
  // What is drawn is where the frame says.
  await pause();
  const [shown, told] = await page.evaluate(() => {
    const pose = window.studio.view.bodies.pose(1).elements;
    return [[pose[12], pose[13]], [...window.studio.frame.bodies.slice(13, 15)]];
  });
  assert.deepEqual(shown, told);
  assert.deepEqual(errors, []);
});

test('dragging a body with the mouse does work on it', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await pause();
  const total = await energy(page);
  const from = await markerOnScreen(page, 'lower.to');
  await page.mouse.move(from.x, from.y - 6);
  await page.mouse.down();
  for (let i = 1; i <= 8; ++i) await page.mouse.move(from.x + 18 * i, from.y - 14 * i);
  await waitUntil(page, () => window.studio.frame.pull !== null && window.studio.frame.time > 0.15, null, 'the pull');
  await waitUntil(page, () => window.studio.frame.work > 0.5, null, 'work done by the hand');
  await page.mouse.up();
  await waitUntil(page, () => window.studio.frame.pull === null, null, 'the release');
  assert.ok((await energy(page)) > total + 0.1, 'the energy has not risen');
});

test('a joint is deleted while it swings, and comes back', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.2);
  await select('joints', 'elbow');
  await page.click('[data-action="delete"]');
  await waitUntil(page, () => !window.studio.scene.joints.some((j) => j.name === 'elbow'), null, 'the joint to go');
  assert.ok(await page.evaluate(() => window.studio.state.playing), 'the motion must go on');
  await page.keyboard.press('Control+z');
  await waitUntil(page, () => window.studio.scene.joints.some((j) => j.name === 'elbow'), null, 'the joint to come back');
  await page.keyboard.press('Control+y');
  await waitUntil(page, () => !window.studio.scene.joints.some((j) => j.name === 'elbow'), null, 'the joint to go again');
  const [a, b] = [await time(page), await waitForTime(page, (await time(page)) + 0.1).then(() => time(page))];
  assert.ok(b > a);
});

test('rods are drawn and springs put between points with the mouse', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await pause();
  await page.click('#tool-spring');
  const box = await page.locator('.view canvas').boundingBox();
  const end = await markerOnScreen(page, 'lower.to');
  await page.mouse.move(end.x + 2, end.y - 2);
  await page.mouse.down();
  await page.mouse.move(end.x + 90, end.y - 60, { steps: 4 });
  await page.mouse.up();
  await waitUntil(page, () => window.studio.scene.forces.some((f) => f.type === 'spring'), null, 'the spring');
  const spring = await page.evaluate(() => {
    const { scene } = window.studio;
    return scene.markers[scene.forces[0].a].name;
  });
  assert.equal(spring, 'lower.to', 'the point must snap to the marker');
  const count = (await joints()).length;
  await page.keyboard.press('r');
  await page.mouse.move(end.x, end.y);
  await page.mouse.down();
  await page.mouse.move(end.x - 80, Math.min(end.y + 40, box.y + box.height - 20), { steps: 4 });
  await page.mouse.up();
  await waitUntil(page, (n) => window.studio.scene.joints.length === n + 1, count, 'the rod and its joint');
  assert.ok(await page.evaluate(() => window.studio.scene.bodies.some((b) => b.name === 'rod1')));
});

test('a slider changes a mass in full motion, as one edit', async () => {
  const text = 'limber: 1\nplane: xy\nbodies:\n  lower: {rod: {from: [0, 0], to: [1, 0], mass: 1.5}}\njoints:\n  pivot: {revolute: [ground, lower.from]}\n';
  await page.setInputFiles('#upload', { name: 'rod.yaml', mimeType: 'text/yaml', buffer: Buffer.from(text) });
  await waitUntil(page, () => window.studio.scene.name === 'rod.yaml', null, 'the rod');
  await page.click('#play');
  await select('bodies', 'lower');
  const slider = page.locator('[data-slider="bodies.lower.rod.mass"]');
  await slider.waitFor();
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.7, box.y + box.height / 2, { steps: 6 });
  await page.mouse.up();
  await waitUntil(page, () => window.studio.scene.bodies.find((b) => b.name === 'lower').mass > 2, null, 'a larger mass');
  await waitUntil(page, () => window.studio.state.undo?.startsWith('set bodies.lower'), null, 'the edit in the history');
  await page.waitForTimeout(200);
  await page.click('#undo');
  await waitUntil(page, () => Math.abs(window.studio.scene.bodies.find((b) => b.name === 'lower').mass - 1.5) < 1e-12, null, 'the mass of before');
  assert.equal(await page.evaluate(() => window.studio.state.undo), '', 'one gesture must be one edit');
});

test('the formulation is switched in mid-run and the trajectory goes on', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.3);
  await pause();
  const before = await page.evaluate(() => [...window.studio.frame.bodies]);
  await page.selectOption('#formulation', 'augmented-lagrangian');
  await waitUntil(page, () => window.studio.state.formulation === 'augmented-lagrangian' && window.studio.frame.revision === window.studio.scene.revision, null, 'the switch');
  const after = await page.evaluate(() => [...window.studio.frame.bodies]);
  after.forEach((x, i) => assert.ok(Math.abs(x - before[i]) < 1e-6, `number ${i} jumps from ${before[i]} to ${x}`));
  const there = await time(page);
  await page.click('#play');
  await waitForTime(page, there + 0.1);
});

test('a reaction is plotted by a click', async () => {
  await openExample(page, 'slider-crank.yaml');
  const joint = (await joints())[0];
  await select('joints', joint);
  await page.click('[data-action="plot"]');
  const pane = page.locator('.pane').last();
  await pane.waitFor();
  assert.match(await pane.getAttribute('data-columns'), new RegExp(`${joint}_reaction\\.f[xy]`));
  const there = await time(page);
  await waitForTime(page, there + 0.3);
  // Samples are those of the sensor, about 120 for each second, not all zero.
  const found = await page.evaluate(() => document.querySelector('.pane:last-child canvas') !== null);
  assert.ok(found);
  const [download] = await Promise.all([page.waitForEvent('download'), page.click('#save-csv')]);
  const rows = readFileSync(await download.path(), 'utf8').trim().split('\n');
  assert.match(rows[0], /^t,/);
  const column = rows[0].split(',').findIndex((name) => name.startsWith(`${joint}_reaction`));
  const values = rows.slice(1).map((row) => Number(row.split(',')[column])).filter((x) => x !== 0);
  assert.ok(values.length > 20, `only ${values.length} values`);
  await page.click('[aria-label="Hide the plots"]');
});

test('a model is saved and opens again as it was', async () => {
  await openExample(page, 'double-pendulum.yaml');
  assert.ok((await ask(page, 'edit', { text: 'set bodies.lower.rod.end-masses.1 3' })).ok);
  page.once('dialog', (dialog) => dialog.accept('mine.yaml'));
  await page.click('#save');
  await noteWith('Saved as mine.yaml');
  await page.click('#show-gallery');
  await page.click('[data-file="mine.yaml"]');
  await waitUntil(page, () => window.studio.scene.name === 'mine.yaml', null, 'the saved model');
  assert.equal(await page.evaluate(() => window.studio.scene.bodies.find((b) => b.name === 'lower').mass), 3.5);
});

test('a journal replays to the same bits', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.2);
  assert.ok((await ask(page, 'edit', { text: 'impulse lower.to [1, 2]' })).ok);
  assert.ok((await ask(page, 'edit', { text: 'remove joints.elbow with dependents' })).ok);
  await waitForTime(page, 0.4);
  const { fingerprint } = await pause();
  const { text } = await ask(page, 'journal');
  await openExample(page, 'slider-crank.yaml');
  const replayed = await ask(page, 'open', { source: 'journal', name: 'x.journal', text });
  assert.ok(replayed.ok, replayed.reason);
  assert.equal(replayed.fingerprint, fingerprint);
  assert.equal(replayed.mismatch, '');
});

test('scrubbing goes back, and another way can be taken from there', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.6);
  await pause();
  const last = await time(page);
  const line = await page.locator('#timeline').boundingBox();
  await page.mouse.click(line.x + line.width / 3, line.y + line.height / 2);
  await waitUntil(page, (t) => window.studio.frame.time < 0.5 * t, last, 'an earlier time');
  assert.equal(await page.evaluate(() => window.studio.frame.last), last, 'the future is still there');
  const there = await time(page);
  assert.ok((await ask(page, 'edit', { text: 'set gravity [0, 9.81]' })).ok);
  await page.click('#step');
  await waitUntil(page, (t) => window.studio.frame.last < t + 0.01, there, 'another future');
});

test('what is wrong with an uploaded model is shown with line and field', async () => {
  await page.setInputFiles('#upload', { name: 'bad.yaml', mimeType: 'text/yaml', buffer: Buffer.from('limber: 1\nplane: xy\nbodies:\n  a: {rodd: {from: [0, 0]}}\n') });
  await noteWith('bad.yaml:4');
  await noteWith('rodd');
  await page.setInputFiles('#upload', { name: 'good.yaml', mimeType: 'text/yaml', buffer: Buffer.from('limber: 1\nplane: xy\nbodies:\n  a: {point: {mass: 2}}\n') });
  await waitUntil(page, () => window.studio.scene.name === 'good.yaml', null, 'the good model');
});

test('a refused edit says why in words', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await pause();
  await page.fill('#step-length', '-1');
  await page.press('#step-length', 'Enter');
  await noteWith('the step must be a positive number');
});

test('a second formulation runs beside as a ghost', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await page.selectOption('#ghost', 'augmented-lagrangian');
  await waitUntil(page, () => window.studio.frame.ghost.length === 14, null, 'the ghost');
  const there = await time(page);
  await waitForTime(page, there + 0.2);
  await page.selectOption('#ghost', '');
  await waitUntil(page, () => window.studio.frame.ghost.length === 0, null, 'the ghost to go');
});

test('a lost connection comes back with the session as it was', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.2);
  const there = await time(page);
  await page.evaluate(() => window.studio.connection.drop());
  await page.locator('.lost').waitFor({ state: 'visible' });
  await page.locator('.lost').waitFor({ state: 'hidden' });
  await waitUntil(page, () => window.studio.frame.revision === window.studio.scene.revision && window.studio.scene.name === 'double-pendulum.yaml', null, 'the scene');
  assert.ok((await time(page)) >= there);
});

test('help, theme and keyboard', async () => {
  await openExample(page, 'double-pendulum.yaml');
  await pause();
  await page.keyboard.press(' ');
  await waitUntil(page, () => window.studio.state.playing, null, 'play');
  await page.keyboard.press('?');
  await page.locator('#help-sheet[open]').waitFor();
  await page.keyboard.press('Escape');
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.keyboard.press('t');
  assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), theme);
  assert.deepEqual(errors, []);
});

test('the first visit gets five hints', async () => {
  const first = await openPage(browser, server.address, { tour: true });
  await first.page.waitForSelector('.card');
  await openExample(first.page, 'simple-pendulum.yaml');
  for (let i = 0; i < 5; ++i) {
    assert.match(await first.page.locator('.bubble').innerText(), new RegExp(`${i + 1} of 5`));
    await first.page.click('#next-hint');
  }
  assert.equal(await first.page.locator('.bubble').count(), 0);
  await first.context.close();
});

test('pages from elsewhere cannot connect', async () => {
  const stranger = await context.newPage();
  await stranger.goto('data:text/html,<p>elsewhere</p>');
  const opened = await stranger.evaluate(
    (address) =>
      new Promise((resolve) => {
        const socket = new WebSocket(address);
        socket.onopen = () => resolve(true);
        socket.onerror = () => resolve(false);
      }),
    server.address.replace('http', 'ws') + 'live',
  );
  assert.equal(opened, false);
  await stranger.close();
});
