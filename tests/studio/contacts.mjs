// Things that touch: they are drawn with their forces, can be dropped onto each other and thrown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, markerOnScreen, openText, time, waitForTime } from './harness.mjs';
import { drawn, pause, studio, until } from './shared.mjs';

/** Contacts of the frame: point, normal, force, stop. */
const contacts = () =>
  studio.page.evaluate(() => {
    const { contacts } = window.studio.frame;
    return Array.from({ length: contacts.length / 10 }, (_, i) => {
      const part = (at) => [...contacts.slice(10 * i + at, 10 * i + at + 3)];
      return { point: part(0), normal: part(3), force: part(6), stop: contacts[10 * i + 9] };
    });
  });
const marks = () => studio.page.evaluate(() => window.studio.view.overlays.contacts.count);
const near = (found, wanted, tolerance, what) =>
  found.forEach((x, i) => assert.ok(Math.abs(x - wanted[i]) < tolerance, `${what}: ${found} instead of ${wanted}`));
const runTo = async (name, text, t) => {
  await openText(studio.page, name, text);
  await ask(studio.page, 'play');
  await waitForTime(studio.page, t);
  await pause();
};

const onFloor = (stop) => `limber: 1
plane: xy
gravity: [0, -10]
bodies: {ball: {at: [0.5, 0.2], disc: {radius: 0.2, mass: 3}}}
${stop}
`;

for (const [kind, text, tolerance, stop] of [
  ['a wall', onFloor('stops: {floor: {wall: [ground, ball], radius: 0.2, friction: 0.5}}'), 1e-4, 0],
  ['a compliant floor', onFloor('contacts: {floor: {linear: [ball, ground], stiffness: 1e5, damping: 2e3}}').replace('ball:', 'ground: {shapes: [{plane: {}}]}, ball:'), 1e-2, -1],
  ['a rigid floor', onFloor('contacts: {floor: {rigid: [ball, ground]}}\nsimulation: {integrator: moreau-jean, step: 0.005}').replace('ball:', 'ground: {shapes: [{plane: {}}]}, ball:'), 1e-3, -1],
])
  test(`a ball on ${kind} shows where it is held and how strongly`, async () => {
    await runTo(`${kind}.yaml`.replaceAll(' ', '-'), text, 0.4);
    const [held, ...others] = await contacts();
    assert.equal(others.length, 0);
    assert.equal(held.stop, stop);
    near(held.point, [0.5, 0, 0], 1e-3, 'point');
    near(held.normal.map((x) => x * Math.sign(held.normal[1])), [0, 1, 0], 1e-6, 'normal');
    near(held.force.map((x) => x * Math.sign(held.force[1])), [0, 30, 0], 30 * tolerance, 'force');
    assert.equal(await marks(), 1);
    assert.match(await studio.page.locator('.legend').innerText(), /contact forces, longest 3\d/);
    await studio.page.keyboard.press('c');
    await drawn();
    await until(() => window.studio.view.overlays.shown.contacts === false, null, 'contacts hidden');
    await studio.page.keyboard.press('c');
  });

test('a limit and a cable show what they hold', async () => {
  await runTo(
    'stops.yaml',
    `limber: 1
plane: xy
gravity: [0, -10]
bodies:
  ground: {markers: {hook: [2, 0]}}
  slider: {at: [0, 0], box: {size: [0.2, 0.2], mass: 3}}
  weight: {at: [2, -1], point: {mass: 2}}
joints: {rail: {prismatic: [ground, slider], axis: [0, 1]}}
stops:
  lower: {limit: rail.displacement, min: 0}
  rope: {cable: [ground.hook, weight], length: 1}
`,
    0.3,
  );
  const found = await contacts();
  assert.deepEqual(found.map((c) => c.stop).sort(), [0, 1]);
  near(found.find((c) => c.stop === 0).force, [0, 30, 0], 1e-3, 'limit');
  near(found.find((c) => c.stop === 1).force, [0, 20, 0], 1e-3, 'cable');
  near(found.find((c) => c.stop === 1).point, [2, -1, 0], 1e-3, 'end of the cable');
  await studio.page.click('.tree-item[data-section="stops"][data-name="rope"]');
  await studio.page.locator('.inspector .tag', { hasText: 'stop' }).waitFor();
});

test('every kind of shape is drawn', async () => {
  await openText(
    studio.page,
    'shapes.yaml',
    `limber: 1
bodies:
  ground:
    shapes:
      - {plane: {}}
      - {height-field: {size: [1, 1], heights: [[0.1, 0.2], [0.2, 0.4]], at: [2, 0, 0]}}
      - {profile: {points: [[-1, 0.1], [0, 0.3], [1, 0.1]], width: 0.5, at: [0, 3, 0], xyz: [90 deg, 0, 0]}}
  thing:
    at: [0, 0, 2]
    mass: 1
    inertia: [1, 1, 1]
    shapes:
      - {sphere: {radius: 0.2}}
      - {box: {size: [0.2, 0.3, 0.4], at: [1, 0, 0]}}
      - {capsule: {radius: 0.1, length: 0.5, at: [2, 0, 0]}}
      - {cylinder: {radius: 0.1, length: 0.5, at: [3, 0, 0]}}
      - {cone: {radius: 0.1, length: 0.5, at: [4, 0, 0]}}
      - {convex: {points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], at: [5, 0, 0]}}
contacts: {all: {rigid: [thing, ground]}}
simulation: {integrator: moreau-jean, step: 0.005}
`,
  );
  await drawn();
  const drawnKinds = await studio.page.evaluate(() => {
    const list = [];
    window.studio.view.bodies.group.traverse((o) => o.isInstancedMesh ? list.push([o.geometry.type, o.count]) : o.isMesh && list.push(o.geometry.type));
    return list.map((entry) => (Array.isArray(entry) ? entry.join(' ') : entry)).sort();
  });
  // Box and slab of the plane; shaft of the capsule and cylinder; sphere and ends of the capsule; hull, heights, profile.
  assert.deepEqual(drawnKinds, ['BoxGeometry 2', 'BufferGeometry', 'BufferGeometry', 'BufferGeometry', 'ConeGeometry 1', 'CylinderGeometry 2', 'SphereGeometry 3']);
  assert.deepEqual(studio.errors, []);
});

test('a body that is let go keeps its speed', async () => {
  const { page } = studio;
  await openText(page, 'puck.yaml', 'limber: 1\nplane: xy\ngravity: none\nbodies: {puck: {disc: {radius: 0.3, mass: 2}}}\nsimulation: {step: 0.001}\n');
  // Slowly, so that the puck is still on its way to the hand when it is let go, however busy the machine.
  await ask(page, 'speed', { factor: 0.02 });
  const from = await markerOnScreen(page, 'puck.com');
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  for (let i = 1; i <= 25; ++i) {
    await page.mouse.move(from.x + 8 * i, from.y - 4 * i);
    await page.waitForTimeout(16);
  }
  await page.mouse.up();
  await until(() => window.studio.frame.pull === null, null, 'the release');
  const motion = () =>
    page.evaluate(() => {
      const { bodies, kinetic, work, drift, time } = window.studio.frame;
      return { velocity: [...bodies.slice(10, 13)], kinetic, work, drift, time };
    });
  const thrown = await motion();
  await ask(page, 'speed', { factor: 1 });
  await waitForTime(page, thrown.time + 0.3);
  const later = await motion();
  const [x, y] = thrown.velocity;
  assert.ok(x > 0.2 && y > 0.1, `thrown at ${thrown.velocity}`);
  assert.ok(Math.abs(y / x - 0.5) < 0.1, `not along the hand: ${thrown.velocity}`);
  near(later.velocity, thrown.velocity, 1e-6 * x, 'velocity');
  // The hand has given what the puck has, and nothing after it let go. (Work after each move of the hand is known to (omega h)^2, here 2e-4.)
  near([later.kinetic, later.drift], [later.work, 0], 2e-3 * later.kinetic, 'energy');
  near([later.kinetic, later.work], [thrown.kinetic, thrown.work], 1e-6 * thrown.kinetic, 'energy after the release');
});

test('a brick can be lifted and dropped onto another', async () => {
  const { page } = studio;
  await openText(
    page,
    'bricks.yaml',
    `limber: 1
plane: xy
gravity: [0, -10]
bodies:
  ground: {shapes: [{plane: {}}]}
  lower: {at: [0, 0.1], box: {size: [0.6, 0.2], mass: 2}}
  upper: {at: [0, 0.3], box: {size: [0.4, 0.2], mass: 1}}
contacts: {touch: {rigid: [all, all], friction: 0.6}}
simulation: {integrator: moreau-jean, step: 0.005}
`,
  );
  await drawn();
  const [lower, upper] = [await markerOnScreen(page, 'lower.com'), await markerOnScreen(page, 'upper.com')];
  await page.mouse.move(upper.x, upper.y);
  await page.mouse.down();
  for (let i = 1; i <= 20; ++i) await page.mouse.move(upper.x, upper.y - (2 * (lower.y - upper.y) * i) / 20);
  await until(() => window.studio.frame.bodies[14] > 0.4, null, 'the brick in the air');
  await page.mouse.up();
  await until(() => Math.abs(window.studio.frame.bodies[14] - 0.3) < 1e-3 && window.studio.frame.kinetic < 1e-6, null, 'the brick on top of the other');
  // The forces of the step in which it came to rest are those of the impact.
  await waitForTime(page, (await time(page)) + 0.1);
  await pause();
  const found = await contacts();
  const carried = found.filter((c) => c.point[1] < 0.1).reduce((sum, c) => sum + Math.abs(c.force[1]), 0);
  near([carried], [30], 0.3, 'weight of both on the floor');
  assert.equal(await marks(), found.length);
});

test('bodies can be made to touch while they move', async () => {
  const { page } = studio;
  await openText(
    page,
    'loose.yaml',
    `limber: 1
plane: xy
gravity: [0, -10]
bodies:
  table: {at: [0, 0], box: {size: [1, 0.2], mass: 1}}
  ball: {at: [0.1, 1], disc: {radius: 0.2, mass: 1}}
joints: {weld: {fixed: [ground, table]}}
`,
  );
  await page.click('[data-action="touch"]');
  await until(() => window.studio.scene.contacts.length === 1 && window.studio.state.integrator === 'moreau-jean', null, 'the rule');
  await ask(page, 'play');
  await until(() => window.studio.frame.time > 0.8, null, 'the fall');
  await pause();
  const height = await page.evaluate(() => window.studio.frame.bodies[13 + 1]);
  near([height], [0.3], 1e-3, 'height of the ball on the table');
});
