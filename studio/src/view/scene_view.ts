// The picture: camera, light, ground, and everything that moves.

import {
  AmbientLight,
  Color,
  DirectionalLight,
  GridHelper,
  HemisphereLight,
  type Intersection,
  Mesh,
  OrthographicCamera,
  PCFSoftShadowMap,
  PerspectiveCamera,
  Plane,
  PlaneGeometry,
  Quaternion,
  Raycaster,
  Scene as ThreeScene,
  ShadowMaterial,
  Vector2,
  Vector3,
  WebGLRenderer,
  MOUSE,
} from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import { bodyStride, type Frame, ghostStride, jointStride } from '../frame';
import type { Scene } from '../types';
import { BodyMeshes } from './bodies';
import { Glyphs } from './glyphs';
import { addSpring, ArrowLayer, LineLayer, Traces } from './lines';
import { palette, sceneBounds } from './shapes';

const mostBodiesWithShadows = 300;
const springTypes = new Set(['spring']);
const pullColor = new Color('#f0e442');
const previewColor = new Color('#56b4e9');

export interface Shown {
  reactions: boolean;
  velocities: boolean;
  traces: boolean;
}

export class SceneView {
  readonly shown: Shown = { reactions: false, velocities: false, traces: false };
  readonly reactions = new ArrowLayer('#d55e00');
  readonly velocities = new ArrowLayer('#009e73');
  readonly traces = new Traces();
  readonly renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  readonly bodies = new BodyMeshes();
  readonly glyphs = new Glyphs();
  scene: Scene | null = null;
  /** Radius of what has none: follows the size of the mechanism. */
  unit = 0.02;
  size = 1;
  preview: [Vector3, Vector3] | null = null;
  pullMarker: string | null = null;
  private world = new ThreeScene();
  private flat = new OrthographicCamera();
  private deep = new PerspectiveCamera(42, 1, 0.01, 1000);
  private flatControls: OrbitControls;
  private deepControls: OrbitControls;
  private ghost = new BodyMeshes(true);
  private springs = new LineLayer(2.2);
  private pull = new LineLayer(3);
  private grid: GridHelper | null = null;
  private floor: Mesh | null = null;
  private sun = new DirectionalLight('#ffffff', 2.2);
  private frame: Frame | null = null;
  private fresh = false;
  private largestSpring = 0;
  private lastTime = 0;
  private cell = 1;
  private up = 2; // the axis that points up
  private gridColors: [string, string] = ['#3a424d', '#2b323b'];
  private home: Vector3 | null = null;
  private frames = 0;
  /** Pictures drawn in the last second. */
  framesPerSecond = 0;

  constructor(private host: HTMLElement) {
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    host.append(this.renderer.domElement);
    this.flatControls = new OrbitControls(this.flat, this.renderer.domElement);
    this.flatControls.enableRotate = false;
    this.flatControls.mouseButtons = { LEFT: MOUSE.PAN, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.PAN };
    this.deep.up.set(0, 0, 1);
    this.deepControls = new OrbitControls(this.deep, this.renderer.domElement);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.world.add(new HemisphereLight('#ffffff', '#8d99a8', 1.1), new AmbientLight('#ffffff', 0.35), this.sun, this.sun.target);
    this.world.add(this.bodies.group, this.ghost.group, this.glyphs.group, this.springs.object, this.pull.object);
    this.world.add(this.reactions.group, this.velocities.group, this.traces.layer.object);
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
    setInterval(() => {
      this.framesPerSecond = this.frames;
      this.frames = 0;
    }, 1000);
    this.renderer.setAnimationLoop(() => this.draw());
  }

  get camera(): OrthographicCamera | PerspectiveCamera {
    return this.scene?.planar ? this.flat : this.deep;
  }
  get controls(): OrbitControls {
    return this.scene?.planar ? this.flatControls : this.deepControls;
  }

  setTheme(background: string, strong: string, weak: string): void {
    this.world.background = new Color(background);
    this.gridColors = [strong, weak];
    if (this.scene) this.buildGround();
  }

  /** `isNew`: another model, so the camera looks at it afresh. */
  setScene(scene: Scene, isNew: boolean): void {
    this.scene = scene;
    if (isNew) {
      if (!scene.planar) this.setUp(scene);
      this.size = Math.max(1e-6, sceneBounds(scene).getSize(new Vector3()).length());
      this.unit = this.size * (scene.bodies.length > 60 ? 0.006 : 0.013);
      this.traces.clear();
      this.largestSpring = this.reactions.largest = this.velocities.largest = 0;
    }
    const hasShadows = !scene.planar && scene.bodies.length <= mostBodiesWithShadows;
    this.bodies.build(scene, this.unit, hasShadows);
    this.ghost.build(scene, 0.9 * this.unit, false);
    this.ghost.group.visible = false;
    this.glyphs.build(scene, (scene.planar ? 1.3 : 1.2) * this.unit);
    this.glyphs.group.position.z = scene.planar ? 3 * this.unit : 0;
    this.bodies.update(scene.poses.flat(), 7);
    this.glyphs.update((b) => this.bodies.pose(b));
    this.flatControls.enabled = scene.planar;
    this.deepControls.enabled = !scene.planar;
    if (isNew) {
      this.buildGround();
      this.fit();
    }
  }

  // Up is where gravity does not pull; without gravity it is z.
  private setUp(scene: Scene): void {
    const [x = 0, y = 0, z = -1] = scene.gravity.map(Number);
    const pull = Math.max(Math.abs(x), Math.abs(y), Math.abs(z));
    this.up = pull > 0 && Math.abs(y) === pull ? 1 : pull > 0 && Math.abs(x) === pull ? 0 : 2;
    const up = new Vector3().setComponent(this.up, 1);
    if (this.deep.up.equals(up)) return;
    // The controls ask for the camera's up only when they are made.
    this.deep.up.copy(up);
    this.deepControls.dispose();
    this.deepControls = new OrbitControls(this.deep, this.renderer.domElement);
  }

  setFrame(frame: Frame): void {
    if (frame.revision !== this.scene?.revision) return;
    if (frame.time < this.lastTime - 1e-9) {
      this.traces.restart();
      this.reactions.largest = this.velocities.largest = 0;
    }
    this.lastTime = frame.time;
    this.frame = frame;
    this.fresh = true;
  }

  /** Everything in sight. */
  fit(): void {
    if (!this.scene) return;
    const bounds = sceneBounds({ ...this.scene, poses: this.presentPoses() });
    const centre = bounds.getCenter(new Vector3());
    const radius = 0.5 * Math.max(bounds.getSize(new Vector3()).length(), 0.6 * this.size) * 1.25;
    this.controls.target.copy(centre);
    this.home = null;
    if (this.scene.planar) {
      this.flat.position.set(centre.x, centre.y, 100 * this.size);
      this.flat.near = 0.1 * this.size;
      this.flat.far = 1000 * this.size;
      this.flat.zoom = 1;
      this.flat.userData['radius'] = radius * 1.15;
    } else {
      const distance = radius / Math.sin((this.deep.fov * Math.PI) / 360);
      this.deep.position.copy(centre).add(this.turned(0.75, -1, 0.62).normalize().multiplyScalar(distance));
      this.deep.near = distance / 500;
      this.deep.far = distance * 50;
    }
    this.resize();
    this.controls.update();
  }

  markerPosition(index: number): Vector3 | null {
    const marker = this.scene?.markers[index];
    if (!marker) return null;
    const point = new Vector3(...marker.position);
    const pose = this.bodies.pose(marker.body);
    return pose ? point.applyMatrix4(pose) : point;
  }

  toScreen(point: Vector3): Vector2 {
    const p = point.clone().project(this.camera);
    return new Vector2(((p.x + 1) / 2) * this.host.clientWidth, ((1 - p.y) / 2) * this.host.clientHeight);
  }

  private ray(x: number, y: number): Raycaster {
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / this.host.clientWidth - 1, 1 - (2 * y) / this.host.clientHeight), this.camera);
    return ray;
  }

  /** What is under a point of the screen, nearest first. */
  pick(x: number, y: number): { joint: string | null; body: number | null; point: Vector3 } | null {
    const hits: Intersection[] = this.ray(x, y).intersectObjects([this.glyphs.group, this.bodies.group], true);
    for (const hit of hits) {
      const joint = this.glyphs.jointAt(hit);
      const body = this.bodies.bodyAt(hit);
      if (joint !== null || body !== null) return { joint, body, point: hit.point };
    }
    return null;
  }

  /** The point under the mouse on the plane through `through` that faces the camera (planar models: their plane). */
  onPlane(x: number, y: number, through: Vector3): Vector3 | null {
    const normal = this.scene?.planar ? new Vector3(0, 0, 1) : this.camera.getWorldDirection(new Vector3());
    const anchor = this.scene?.planar ? new Vector3(through.x, through.y, 0) : through;
    return this.ray(x, y).ray.intersectPlane(new Plane().setFromNormalAndCoplanarPoint(normal, anchor), new Vector3());
  }

  picture(): Promise<Blob | null> {
    this.draw();
    return new Promise((resolve) => this.renderer.domElement.toBlob(resolve, 'image/png'));
  }

  // A vector given with z up, with the axis that is up here.
  private turned(x: number, y: number, z: number): Vector3 {
    return new Vector3(x, y, z).applyQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), new Vector3().setComponent(this.up, 1)));
  }

  private presentPoses(): number[][] {
    const data = this.frame && this.frame.revision === this.scene?.revision ? this.frame.bodies : null;
    if (!data) return this.scene?.poses ?? [];
    return Array.from({ length: data.length / bodyStride }, (_, b) => Array.from(data.subarray(b * bodyStride, b * bodyStride + 7)));
  }

  private buildGround(): void {
    for (const old of [this.grid, this.floor]) if (old) this.world.remove(old);
    const bounds = sceneBounds(this.scene!);
    const centre = bounds.getCenter(new Vector3());
    const cell = (this.cell = 10 ** Math.floor(Math.log10(0.5 * this.size)));
    const cells = 2 * Math.ceil((4 * this.size) / cell / 2);
    this.grid = new GridHelper(cells * cell, cells, this.gridColors[0], this.gridColors[1]);
    const snapped = (x: number) => Math.round(x / cell) * cell;
    this.grid.position.set(snapped(centre.x), snapped(centre.y), snapped(centre.z));
    if (this.scene!.planar) {
      this.grid.rotation.x = Math.PI / 2;
      this.grid.position.z = -0.2 * this.size;
    } else {
      const up = new Vector3().setComponent(this.up, 1);
      this.grid.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), up);
      this.grid.position.setComponent(this.up, bounds.min.getComponent(this.up) - 0.02 * this.size);
      this.floor = new Mesh(new PlaneGeometry(cells * cell, cells * cell), new ShadowMaterial({ opacity: 0.28 }));
      this.floor.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), up);
      this.floor.position.copy(this.grid.position);
      this.floor.receiveShadow = true;
      this.world.add(this.floor);
    }
    this.world.add(this.grid);
    const reach = 1.5 * this.size;
    this.sun.position.copy(centre).add(this.scene!.planar ? new Vector3(-1, 1.5, 3).multiplyScalar(reach) : this.turned(0.8, -0.6, 2).multiplyScalar(reach));
    this.sun.target.position.copy(centre);
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = 0.1 * reach;
    camera.far = 6 * reach;
    camera.updateProjectionMatrix();
  }

  private resize(): void {
    const width = Math.max(1, this.host.clientWidth);
    const height = Math.max(1, this.host.clientHeight);
    this.renderer.setSize(width, height);
    const radius = (this.flat.userData['radius'] as number | undefined) ?? 1;
    const aspect = width / height;
    const half = aspect > 1 ? radius : radius / aspect;
    Object.assign(this.flat, { left: -half * aspect, right: half * aspect, top: half, bottom: -half });
    this.flat.updateProjectionMatrix();
    this.deep.aspect = aspect;
    this.deep.updateProjectionMatrix();
  }

  private draw(): void {
    if (this.fresh && this.frame) this.apply(this.frame);
    this.fresh = false;
    this.drawPull();
    this.controls.update();
    this.renderer.render(this.world, this.camera);
    ++this.frames;
  }

  private apply(frame: Frame): void {
    this.follow(frame);
    this.bodies.update(frame.bodies, bodyStride);
    this.glyphs.update((b) => this.bodies.pose(b));
    this.ghost.group.visible = frame.ghost.length > 0;
    if (frame.ghost.length > 0) this.ghost.update(frame.ghost, ghostStride);
    this.drawSprings(frame);
    this.drawArrows(frame);
    if (this.shown.traces) this.traces.extend((name) => this.locate(name));
    this.traces.layer.clear();
    if (this.shown.traces) this.traces.show();
    else this.traces.layer.show();
  }

  // A mechanism that travels takes the camera along.
  private follow(frame: Frame): void {
    const count = frame.bodies.length / bodyStride;
    if (count === 0) return;
    const middle = new Vector3();
    for (let b = 0; b < count; ++b)
      for (let k = 0; k < 3; ++k) middle.setComponent(k, middle.getComponent(k) + frame.bodies[b * bodyStride + 7 + k]! / count);
    this.home ??= middle.clone();
    const away = middle.clone().sub(this.home);
    const leash = 0.25 * this.size;
    if (away.length() <= leash) return;
    away.setLength(away.length() - leash);
    this.home.add(away);
    this.camera.position.add(away);
    this.controls.target.add(away);
    this.sun.position.add(away);
    this.sun.target.position.add(away);
    for (const ground of [this.grid, this.floor])
      if (ground) {
        const fixed = this.scene!.planar ? 2 : this.up;
        for (const k of [0, 1, 2])
          if (k !== fixed) ground.position.setComponent(k, Math.round(this.home.getComponent(k) / this.cell) * this.cell);
      }
  }

  private locate(name: string): Vector3 | null {
    return this.markerPosition(this.scene?.markers.findIndex((m) => m.name === name) ?? -1);
  }

  private drawSprings(frame: Frame): void {
    this.springs.clear();
    this.scene!.forces.forEach((force, i) => {
      if (!springTypes.has(force.type)) return;
      const from = this.markerPosition(force.a);
      const to = this.markerPosition(force.b);
      if (!from || !to) return;
      const value = frame.forces[i] ?? 0;
      this.largestSpring = Math.max(this.largestSpring * 0.999, Math.abs(value));
      addSpring(this.springs, from, to, 1.6 * this.unit, this.scene!.planar, value, this.largestSpring);
    });
    this.springs.show();
  }

  private drawArrows(frame: Frame): void {
    const vector = (data: Float32Array, at: number) => new Vector3(data[at]!, data[at + 1]!, data[at + 2]!);
    this.velocities.clear();
    this.reactions.clear();
    if (this.shown.velocities)
      for (let at = 0; at < frame.bodies.length; at += bodyStride)
        this.velocities.add(vector(frame.bodies, at + 7), vector(frame.bodies, at + 10));
    if (this.shown.reactions)
      for (let at = 0; at < frame.joints.length; at += jointStride)
        this.reactions.add(vector(frame.joints, at), vector(frame.joints, at + 3));
    this.velocities.show(0.3 * this.size);
    this.reactions.show(0.3 * this.size);
  }

  private drawPull(): void {
    this.pull.clear();
    const target = this.frame?.pull;
    const from = this.pullMarker ? this.locate(this.pullMarker) : null;
    if (target && from) addSpring(this.pull, from, new Vector3(target[0], target[1], target[2]), this.unit, this.scene!.planar, 0, 0);
    if (target && from) this.pull.add(from, new Vector3(target[0], target[1], target[2]), pullColor);
    if (this.preview) this.pull.add(this.preview[0], this.preview[1], previewColor);
    this.pull.show();
  }

  traceColor(): string {
    return palette[(this.traces.names.length + 1) % palette.length]!;
  }
}
