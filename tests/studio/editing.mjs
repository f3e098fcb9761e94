// Changing the mechanism while it moves.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, markerOnScreen, openExample, openText, settledBox, time, waitForTime } from './harness.mjs';
import { drag, joints, noteWith, pause, select, studio, until } from './shared.mjs';

const rod = 'limber: 1\nplane: xy\nbodies:\n  lower: {rod: {from: [0, 0], to: [1, 0], mass: 1.5}}\njoints:\n  pivot: {revolute: [ground, lower.from]}\n';

test('a joint is deleted while it swings, and comes back', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await waitForTime(page, 0.2);
  await select('joints', 'elbow');
  await page.click('[data-action="delete"]');
  await until(() => !window.studio.scene.joints.some((j) => j.name === 'elbow'), null, 'the joint to go');
  assert.ok(await page.evaluate(() => window.studio.state.playing), 'the motion must go on');
  await page.keyboard.press('Control+z');
  await until(() => window.studio.scene.joints.some((j) => j.name === 'elbow'), null, 'the joint to come back');
  await page.keyboard.press('Control+y');
  await until(() => !window.studio.scene.joints.some((j) => j.name === 'elbow'), null, 'the joint to go again');
  await waitForTime(page, (await time(page)) + 0.1);
});

test('a joint is disabled and enabled, locked and unlocked', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await select('joints', 'elbow');
  await page.click('[data-action="disable"]');
  await until(() => window.studio.scene.mobility.freedoms === 4, null, 'the joint to let go');
  assert.equal(await page.locator('.tree-item[data-name="elbow"] .quiet').innerText(), 'disabled');
  await page.locator('[data-action="disable"]', { hasText: 'Enable' }).waitFor();
  await page.keyboard.press('x');
  await until(() => !window.studio.scene.joints.find((j) => j.name === 'elbow').disabled, null, 'the joint to hold');
  await until(() => !window.studio.scene.joints.find((j) => j.name === 'elbow').closing, null, 'its ends to meet');
  await page.click('[data-action="lock"]');
  await until(() => window.studio.scene.mobility.freedoms === 1, null, 'the lock');
  await page.locator('[data-action="lock"]', { hasText: 'Unlock' }).waitFor();
  await page.click('[data-action="lock"]');
  await until(() => window.studio.scene.mobility.freedoms === 2, null, 'the way out of it');
});

test('a motor turns a joint at the speed that its parameter says', async () => {
  const { page } = studio;
  await openText(page, 'rod.yaml', rod.replace('plane: xy', 'plane: xy\ngravity: none') + 'sensors:\n  speed: {rate: pivot.angle}\n');
  await page.keyboard.press('m');
  const at = await markerOnScreen(page, 'lower.from');
  await page.mouse.click(at.x + 3, at.y - 4);
  await until(() => window.studio.scene.forces.some((f) => f.name === 'motor1'), null, 'the motor');
  await page.locator('[data-slider="parameters.motor1_speed"]').waitFor();
  await page.click('#play');
  await until(() => Math.abs(window.studio.frame.samples.at(-1) - 3) < 0.01, null, 'three radians a second');
  assert.ok((await ask(page, 'edit', { text: 'set parameters.motor1_speed -1' })).ok);
  await until(() => Math.abs(window.studio.frame.samples.at(-1) + 1) < 0.01, null, 'another speed');
});

test('rods are drawn and springs put between points with the mouse', async () => {
  const { page } = studio;
  // At rest where it was written: in a moving mechanism, paused somewhere, the far end may meet another point and be joined to it.
  await openText(page, 'rod.yaml', rod);
  await page.click('#tool-spring');
  const end = await markerOnScreen(page, 'lower.to');
  await drag({ x: end.x + 2, y: end.y - 2 }, { x: end.x - 90, y: end.y - 60 });
  await until(() => window.studio.scene.forces.some((f) => f.type === 'spring'), null, 'the spring');
  const spring = await page.evaluate(() => {
    const { scene } = window.studio;
    return scene.markers[scene.forces[0].a].name;
  });
  assert.equal(spring, 'lower.to', 'the point must snap to the marker');
  assert.deepEqual(await joints(), ['pivot']);
  await until(() => document.querySelector('#tool-select').classList.contains('on'), null, 'the tool to be put away');
  await page.keyboard.press('r');
  const again = await markerOnScreen(page, 'lower.to');
  await drag(again, { x: again.x - 80, y: again.y + 60 });
  await until(() => window.studio.scene.joints.length === 2, null, 'the rod and its joint');
  assert.ok(await page.evaluate(() => window.studio.scene.bodies.some((b) => b.name === 'rod1')));
});

for (const [type, freedoms] of [['revolute', 1], ['prismatic', 1], ['fixed', 0], ['distance', 2], ['point-on-line', 2]])
  test(`two points are joined by ${type}`, async () => {
    const { page } = studio;
    await openText(page, `${type}.yaml`, 'limber: 1\nplane: xy\ngravity: none\nbodies:\n  block: {box: {size: [1, 1], mass: 1}, markers: {corner: [0.5, 0.5]}}\n');
    await page.keyboard.press('j');
    await page.selectOption('#joint-type', type);
    const corner = await markerOnScreen(page, 'block.corner');
    await drag(corner, { x: corner.x + 60, y: corner.y - 30 });
    await until((wanted) => window.studio.scene.joints[0]?.type === wanted, type, 'the joint');
    await page.click('#play');
    await until((wanted) => window.studio.scene.mobility.freedoms === wanted && !window.studio.scene.joints[0].closing, freedoms, `${freedoms} degrees of freedom`);
  });

test('a slider changes a mass in full motion, as one edit', async () => {
  const { page } = studio;
  await openText(page, 'rod.yaml', rod);
  await page.click('#play');
  await select('bodies', 'lower');
  const slider = page.locator('[data-slider="bodies.lower.rod.mass"]');
  await slider.waitFor();
  const box = await settledBox(slider);
  await drag({ x: box.x + box.width / 3, y: box.y + box.height / 2 }, { x: box.x + box.width * 0.7, y: box.y + box.height / 2 }, { steps: 6 });
  await until(() => window.studio.scene.bodies.find((b) => b.name === 'lower').mass > 2, null, 'a larger mass');
  await until(() => window.studio.state.undo?.startsWith('set bodies.lower'), null, 'the edit in the history');
  await page.waitForTimeout(200);
  await page.click('#undo');
  await until(() => Math.abs(window.studio.scene.bodies.find((b) => b.name === 'lower').mass - 1.5) < 1e-12, null, 'the mass of before');
  assert.equal(await page.evaluate(() => window.studio.state.undo), '', 'one gesture must be one edit');
});

test('components of vectors, gravity and parameters have sliders', async () => {
  const { page } = studio;
  await openText(page, 'rod.yaml', rod.replace('bodies:', 'parameters: {L: 2, tilt: 30 deg}\nbodies:').replace('[1, 0]', '[L, 0]'));
  // With nothing selected, the parameters are there.
  await page.locator('[data-slider="parameters.L"]').waitFor();
  assert.equal(await page.locator('[data-slider="parameters.tilt"]').inputValue(), '30');
  await select('bodies', 'lower');
  await page.locator('[data-slider="bodies.lower.rod.from.1"]').waitFor();
  await page.locator('[data-slider="parameters.L"]').waitFor();
  await select('gravity', 'gravity');
  await page.locator('[data-slider="gravity.1"]').evaluate((slider) => {
    slider.value = '-20';
    slider.dispatchEvent(new Event('input'));
    slider.dispatchEvent(new Event('change'));
  });
  await until(() => window.studio.scene.gravity[1] === '-20', null, 'a stronger gravity');
});

test('a refused edit says why in words', async () => {
  const { page } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await pause();
  await page.fill('#step-length', '-1');
  await page.press('#step-length', 'Enter');
  await noteWith('the step must be a positive number');
  await select('joints', 'pivot');
  await page.fill('[data-path="joints.pivot.revolute"]', '[ground, nobody]');
  await page.press('[data-path="joints.pivot.revolute"]', 'Enter');
  await noteWith('nobody');
});
