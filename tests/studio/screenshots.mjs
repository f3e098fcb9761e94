// The pictures of the manual: node screenshots.mjs LIMBER NODE_MODULES FOLDER

import { join } from 'node:path';
import { ask, markerOnScreen, openExample, openPage, startBrowser, startServer, waitForTime } from './harness.mjs';

const [binary, modules, folder] = process.argv.slice(2);
const server = await startServer(binary);
const browser = await startBrowser(modules);

async function shoot(name, options, prepare) {
  const { page, context } = await openPage(browser, server.address, options);
  await page.waitForSelector('.card');
  await prepare(page);
  await page.waitForTimeout(400);
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
}

const goTo = async (page, t) => {
  await waitForTime(page, t);
  await ask(page, 'pause');
};

await shoot('gallery', {}, async () => {});

await shoot('studio', { width: 1600, height: 900 }, async (page) => {
  await ask(page, 'speed', { factor: 0.005 });
  await openExample(page, 'andrews.yaml');
  await page.click('#show-reactions');
  await page.click('#show-traces');
  await page.click('#show-plots');
  await page.click('.tree-item[data-section="joints"]');
  await page.click('[data-action="plot"]');
  await ask(page, 'speed', { factor: 0.02 });
  await goTo(page, 0.05);
});

await shoot('drag', {}, async (page) => {
  await openExample(page, 'double-pendulum.yaml');
  await page.click('#show-traces');
  await ask(page, 'pause');
  await page.waitForTimeout(1000);
  const [joint, end] = [await markerOnScreen(page, 'lower.from'), await markerOnScreen(page, 'lower.to')];
  const from = { x: 0.1 * joint.x + 0.9 * end.x, y: 0.1 * joint.y + 0.9 * end.y };
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= 6; ++i) await page.mouse.move(from.x + 30 * i, from.y - 25 * i);
  const t = await page.evaluate(() => window.studio.frame.time);
  await goTo(page, t + 0.25);
});

await shoot('join', {}, async (page) => {
  await openExample(page, 'slider-crank.yaml');
  await page.click('.tree-item[data-section="joints"]');
  await page.click('[data-action="motor"]');
  await page.keyboard.press('j');
  await goTo(page, 1);
  const end = await markerOnScreen(page, 'crank.to');
  await page.mouse.move(end.x + 3, end.y + 3);
});

await shoot('light', { theme: 'light' }, async (page) => {
  await openExample(page, 'loops/bricard.yaml');
  await page.click('#show-reactions');
  await page.click('#show-velocities');
  await page.click('.tree-item[data-section="bodies"]');
  await goTo(page, 0.6);
});

await browser.close();
await server.stop();
