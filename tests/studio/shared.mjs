// One server, one browser and one page for all tests, and what they do with it again and again.

import assert from 'node:assert/strict';
import { after, before, beforeEach } from 'node:test';
import { ask, drawn as drawnOn, openPage, startBrowser, startServer, waitUntil } from './harness.mjs';

export const [binary, modules] = process.argv.slice(2);
/** server, browser, page, context, errors: there once the tests run. */
export const studio = {};

before(async () => {
  studio.server = await startServer(binary);
  studio.browser = await startBrowser(modules);
  Object.assign(studio, await openPage(studio.browser, studio.server.address));
  await studio.page.waitForSelector('.card');
});
after(async () => {
  await studio.browser?.close();
  assert.equal(await studio.server?.stop(), 0);
});
beforeEach(() => studio.errors.splice(0));

export const select = (section, name) => studio.page.click(`.tree-item[data-section="${section}"][data-name="${name}"]`);
export const joints = () => studio.page.evaluate(() => window.studio.scene.joints.map((j) => j.name));
export const until = (condition, argument, what) => waitUntil(studio.page, condition, argument, what);
export const drawn = () => drawnOn(studio.page);
/** Pauses and waits until the frame of that moment is drawn. */
export const pause = async (page = studio.page) => {
  const reply = await ask(page, 'pause');
  await waitUntil(page, (t) => !window.studio.state.playing && window.studio.frame.time === t, reply.time, 'the last frame');
  await drawnOn(page);
  return reply;
};
export const noteWith = (text) => studio.page.locator('.note', { hasText: text }).first().waitFor();
/** Presses at one place of the page, moves to another in a few steps, lets go. */
export const drag = async (from, to, { steps = 4, release = true } = {}) => {
  await studio.page.mouse.move(from.x, from.y);
  await studio.page.mouse.down();
  await studio.page.mouse.move(to.x, to.y, { steps });
  if (release) await studio.page.mouse.up();
};
/** Exact values of the sensors now, by column. */
export const sensors = () =>
  studio.page.evaluate(() => {
    const { frame, scene } = window.studio;
    const row = frame.samples.subarray(frame.samples.length - 1 - frame.sensorCount);
    return Object.fromEntries(scene.columns.map((name, i) => [name, row[1 + i]]));
  });
