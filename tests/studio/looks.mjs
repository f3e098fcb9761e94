// Themes, keys, hints, and how much drawing costs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openExample, openPage, openText } from './harness.mjs';
import { drawn, pause, studio, until } from './shared.mjs';

test('help, theme and keyboard', async () => {
  const { page, errors } = studio;
  await openExample(page, 'double-pendulum.yaml');
  await pause();
  await page.keyboard.press(' ');
  await until(() => window.studio.state.playing, null, 'play');
  await page.keyboard.press('?');
  await page.locator('#help-sheet[open]').waitFor();
  await page.keyboard.press('Escape');
  await page.locator('#help-sheet').waitFor({ state: 'hidden' });
  // The median over the picture: one pixel may show a rod that swings by or a line of the grid.
  const look = () =>
    page.evaluate(() => {
      const canvas = document.createElement('canvas');
      canvas.width = canvas.height = 64;
      const pen = canvas.getContext('2d');
      pen.drawImage(window.studio.view.renderer.domElement, 0, 0, 64, 64);
      const reds = pen.getImageData(0, 0, 64, 64).data.filter((_, i) => i % 4 === 0).sort();
      return { theme: document.documentElement.dataset.theme, panel: getComputedStyle(document.querySelector('.side')).backgroundColor, sky: reds[reds.length / 2] };
    });
  await drawn();
  const dark = await look();
  await page.keyboard.press('t');
  await drawn();
  const light = await look();
  assert.deepEqual([dark.theme, light.theme], ['dark', 'light']);
  assert.notEqual(dark.panel, light.panel);
  assert.ok(light.sky > dark.sky + 100, `the picture is ${dark.sky} in the dark and ${light.sky} in the light`);
  await page.keyboard.press('t');
  assert.deepEqual(errors, []);
});

test('the first visit gets five hints', async () => {
  const first = await openPage(studio.browser, studio.server.address, { tour: true });
  await first.page.waitForSelector('.card');
  await openExample(first.page, 'simple-pendulum.yaml');
  for (let i = 0; i < 5; ++i) {
    assert.match(await first.page.locator('.bubble').innerText(), new RegExp(`${i + 1} of 5`));
    await first.page.click('#next-hint');
  }
  assert.equal(await first.page.locator('.bubble').count(), 0);
  await first.context.close();
});

test('everything fits at 1280 x 720', async () => {
  const { page } = studio;
  await openExample(page, 'andrews.yaml');
  await page.click('#show-plots');
  const hidden = await page.evaluate(() =>
    [...document.querySelectorAll('button, select, .transport > *')]
      .filter((e) => e.offsetParent !== null && !e.closest('.tree, .side, .gallery, .panes'))
      .filter((e) => {
        const box = e.getBoundingClientRect();
        return box.right > innerWidth + 1 || box.bottom > innerHeight + 1 || box.left < -1;
      })
      .map((e) => e.id || e.className),
  );
  assert.deepEqual(hidden, []);
  await page.click('[aria-label="Hide the plots"]');
});

test('a thousand bodies are drawn in a few calls', async () => {
  const { page } = studio;
  await openText(
    page,
    'thousand.yaml',
    'limber: 1\nplane: xy\nbodies:\n  for i in 1..1000:\n    rod<i>: {rod: {from: [0.1*i, 0], to: [0.1*i + 1, 0], mass: 1}}\njoints:\n  for i in 1..1000:\n    pin<i>: {revolute: [ground, rod<i>.from], at: [0.1*i, 0]}\n',
  );
  await drawn();
  const calls = await page.evaluate(() => window.studio.view.renderer.info.render.calls);
  assert.ok(calls > 2 && calls < 20, `${calls} draw calls`);
});
