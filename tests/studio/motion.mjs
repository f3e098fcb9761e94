// It moves, it can be dragged, and time goes both ways.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, energy, markerOnScreen, openExample, openText, settledBox, time, waitForTime } from './harness.mjs';
import { drag, drawn, pause, studio, until } from './shared.mjs';

const tip = () => studio.page.evaluate(() => [...window.studio.frame.bodies.slice(13, 16)]);

test('an example opens and moves', async () => {
  const { page, errors } = studio;
  await openExample(page, 'double-pendulum.yaml');
  // It moves from the start: a slow page may see its first frame late.
  const begun = await time(page);
  const start = await tip();
  await waitForTime(page, begun + 0.3);
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

for (const [space, model] of [
  ['the plane', 'limber: 1\nplane: xy\nbodies: {rod: {rod: {from: [0, 0], to: [0, -1], mass: 1}}}\njoints: {pin: {revolute: [ground, rod.from]}}\n'],
  ['space', 'limber: 1\nbodies: {rod: {rod: {from: [0, 0, 0], to: [0, 0, -1], mass: 1}}}\njoints: {pin: {spherical: [ground, rod.from]}}\n'],
])
  test(`dragging a body in ${space} with the mouse does work on it`, async () => {
    const { page } = studio;
    await openText(page, 'pendulum.yaml', model);
    await drawn();
    const total = await energy(page);
    const [top, end] = [await markerOnScreen(page, 'rod.from'), await markerOnScreen(page, 'rod.to')];
    const from = { x: 0.2 * top.x + 0.8 * end.x, y: 0.2 * top.y + 0.8 * end.y };
    await drag(from, { x: from.x + 220, y: from.y - 160 }, { steps: 8, release: false });
    await until(() => window.studio.frame.pull !== null, null, 'the pull');
    await until(() => window.studio.frame.work > 0.2, null, 'work done by the hand');
    await page.mouse.up();
    await until(() => window.studio.frame.pull === null, null, 'the release');
    assert.ok((await energy(page)) > total + 0.1, 'the energy has not risen');
  });

test('scrubbing goes back, and another way can be taken from there', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.6);
  await pause();
  const last = await time(page);
  const line = await settledBox(page.locator('#timeline'));
  await page.mouse.click(line.x + line.width / 3, line.y + line.height / 2);
  await until((t) => window.studio.frame.time < 0.5 * t, last, 'an earlier time');
  assert.equal(await page.evaluate(() => window.studio.frame.last), last, 'the future is still there');
  const there = await time(page);
  assert.ok((await ask(page, 'edit', { text: 'set gravity [0, 9.81]' })).ok);
  await page.click('#step');
  await until((t) => window.studio.frame.last < t + 0.01, there, 'another future');
});

test('play, pause, step, speed and reset', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await page.keyboard.press(' ');
  await until(() => !window.studio.state.playing, null, 'the pause');
  const { time: there } = await pause();
  await page.click('#step');
  await until((t) => Math.abs(window.studio.frame.time - t - 0.001) < 1e-9, there, 'one step');
  await page.selectOption('#speed', '0.1');
  await until(() => window.studio.state.speed === 0.1, null, 'slow motion');
  await page.selectOption('#speed', '1');
  await page.click('#reset');
  await until(() => window.studio.frame.time === 0, null, 'the start');
});
