// Starts the studio and a browser for the tests, and knows how to use the page.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Starts `limber studio` on a free port with a workspace of its own, unless told otherwise. */
export async function startServer(binary, { port = 0, workspace = mkdtempSync(join(tmpdir(), 'limber-studio-')), more = [] } = {}) {
  const child = spawn(binary, ['studio', '--port', String(port), '--workspace', workspace, ...more], { stdio: ['ignore', 'pipe', 'inherit'] });
  const address = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
      const found = text.match(/http:\S+/);
      if (found) resolve(found[0]);
    });
    child.on('exit', (code) => reject(new Error(`limber studio ended with ${code}`)));
  });
  /** Returns the exit code; the workspace goes too unless it is kept. */
  const stop = ({ keepsWorkspace = false } = {}) =>
    new Promise((resolve) => {
      child.removeAllListeners('exit');
      child.on('exit', (code) => {
        if (!keepsWorkspace) rmSync(workspace, { recursive: true, force: true });
        resolve(code);
      });
      child.kill('SIGTERM');
    });
  return { address, port: Number(new URL(address).port), workspace, child, stop };
}

/** Debian's Chromium, drawing in software. `modules` is the folder of node_modules. */
export async function startBrowser(modules) {
  const { chromium } = createRequire(resolve(modules, 'package.json'))('playwright-core');
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--use-angle=swiftshader', '--use-gl=angle', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'],
  });
}

/** A page of the studio with the tour behind it; `errors` collects what goes wrong in it. */
export async function openPage(browser, address, { width = 1280, height = 720, theme = 'dark', tour = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, acceptDownloads: true });
  await context.addInitScript(
    ([chosen, seen]) => {
      localStorage.setItem('limber-theme', chosen);
      if (seen) localStorage.setItem('limber-tour-seen', 'yes');
    },
    [theme, !tour],
  );
  const page = await context.newPage();
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text());
  });
  await page.goto(address);
  return { page, context, errors };
}

/** Waits until a function of the page is true. Playwright's own way would need the page to allow eval. */
export async function waitUntil(page, condition, argument, what = String(condition), limit = 60_000) {
  const end = Date.now() + limit;
  while (!(await page.evaluate(condition, argument))) {
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await page.waitForTimeout(30);
  }
}

/** Opens an example by a click in the gallery and waits until its first frame is drawn. */
export async function openExample(page, name) {
  const before = await page.evaluate(() => window.studio.scene?.revision ?? 0);
  if (await page.locator('.gallery').isHidden()) await page.click('#show-gallery');
  await page.click(`[data-example="${name}"]`);
  await page.locator('.gallery').waitFor({ state: 'hidden' });
  await waitUntil(
    page,
    (old) => {
      const { scene, frame, state } = window.studio;
      return scene && scene.revision > old && frame?.revision === scene.revision && state.playing;
    },
    before,
    `the example ${name}`,
  );
  await drawn(page);
}

export const time = (page) => page.evaluate(() => window.studio.frame?.time ?? 0);
export const energy = (page) => page.evaluate(() => window.studio.frame.kinetic + window.studio.frame.potential);
export const ask = (page, type, fields = {}) => page.evaluate(([t, f]) => window.studio.connection.ask(t, f), [type, fields]);
export const waitForTime = (page, t) => waitUntil(page, (wanted) => window.studio.frame?.time >= wanted, t, `t = ${t}`);

/** Where a marker is on the screen. */
export const markerOnScreen = (page, name) =>
  page.evaluate(async (wanted) => {
    const { view } = window.studio;
    const box = () => view.renderer.domElement.getBoundingClientRect();
    // The camera is where it will be once pictures have been drawn and the panels beside are full: the world stands still.
    const index = window.studio.scene.markers.findIndex((m) => m.name === wanted);
    const origin = view.markerPosition(index).clone().set(0, 0, 0);
    let [before, same] = ['', 0];
    while (same < 4) {
      for (let i = 0; i < 2; ++i) await new Promise((done) => requestAnimationFrame(done));
      const { x, y } = view.cameras.toScreen(origin);
      const now = JSON.stringify([x, y, box()]);
      same = now === before ? same + 1 : 0;
      before = now;
    }
    const point = view.cameras.toScreen(view.markerPosition(index));
    return { x: point.x + box().left, y: point.y + box().top };
  }, name);

/** Where an element is, once it has stopped moving: panels fill while models open. */
export async function settledBox(locator) {
  let [before, same] = ['', 0];
  while (same < 4) {
    const box = JSON.stringify(await locator.boundingBox());
    same = box === before ? same + 1 : 0;
    before = box;
    await locator.page().waitForTimeout(50);
  }
  return JSON.parse(before);
}

/** Opens a model given as text and waits until its first frame is drawn; it is paused. */
export async function openText(page, name, text) {
  await page.setInputFiles('#upload', { name, mimeType: 'text/yaml', buffer: Buffer.from(text) });
  await waitUntil(page, (wanted) => window.studio.scene?.name === wanted && window.studio.frame?.revision === window.studio.scene.revision, name, name);
  await drawn(page);
}

/** Waits until what is there is drawn: before, places on the screen are those of the last model. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));
