// The picture: everything that moves, on its ground, seen through a camera.

import { type Intersection, Matrix4, PCFSoftShadowMap, Quaternion, Scene as ThreeScene, Vector3, WebGLRenderer } from 'three';
import { bodyStride, type Frame, ghostStride } from '../frame';
import type { Scene } from '../types';
import { BodyMeshes } from './bodies';
import { Cameras } from './cameras';
import { MarkerDots } from './dots';
import { Glyphs } from './glyphs';
import { Ground } from './ground';
import { Overlays } from './overlays';
import { isGrounded, modelBounds, sceneBounds } from './shapes';

const mostBodiesWithShadows = 300;
const manyBodies = 60; // beyond, everything is drawn thinner

export interface Hit {
  joint: string | null;
  body: number | null;
  point: Vector3;
}

export class SceneView {
  readonly renderer = new WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  readonly cameras: Cameras;
  readonly bodies = new BodyMeshes();
  readonly glyphs = new Glyphs();
  readonly overlays = new Overlays();
  scene: Scene | null = null;
  /** Radius of what has none: follows the size of the mechanism. */
  unit = 0.02;
  size = 1;
  /** Pictures drawn in the last second. */
  framesPerSecond = 0;
  private world = new ThreeScene();
  private ground: Ground;
  private ghost = new BodyMeshes(true);
  private dots = new MarkerDots();
  private frame: Frame | null = null;
  private isFresh = false;
  private lastTime = 0;
  private home: Vector3 | null = null; // where the camera takes the mechanism to be
  private drawn = 0;
  private readonly locate = (marker: number): Vector3 | null => this.markerPosition(marker);

  constructor(private host: HTMLElement) {
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = PCFSoftShadowMap;
    host.append(this.renderer.domElement);
    this.cameras = new Cameras(host, this.renderer.domElement);
    this.ground = new Ground(this.world, this.cameras);
    this.dots.mesh.visible = false;
    this.world.add(this.bodies.group, this.ghost.group, this.glyphs.group, this.overlays.group, this.dots.mesh);
    new ResizeObserver(() => this.resize()).observe(host);
    this.resize();
    setInterval(() => {
      this.framesPerSecond = this.drawn;
      this.drawn = 0;
    }, 1000);
    this.renderer.setAnimationLoop(() => this.draw());
  }

  setTheme(background: string, strong: string, weak: string): void {
    this.ground.setColors(background, strong, weak);
    if (this.scene) this.ground.build(sceneBounds(this.scene), this.size, this.scene.planar);
  }

  /** `isNew`: another model, so the camera looks at it afresh. */
  setScene(scene: Scene, isNew: boolean): void {
    this.scene = scene;
    this.cameras.use(scene.planar);
    if (isNew) {
      if (!scene.planar) this.cameras.setUp(scene.gravity.map(Number));
      this.size = Math.max(1e-6, modelBounds(scene).getSize(new Vector3()).length());
      this.unit = this.size * (scene.bodies.length > manyBodies ? 0.006 : 0.013);
      this.overlays.restart();
    }
    this.bodies.build(scene, this.unit, !scene.planar && scene.bodies.length <= mostBodiesWithShadows);
    this.ghost.build(scene, 0.9 * this.unit, false);
    this.ghost.group.visible = false;
    this.glyphs.build(scene, (scene.planar ? 1.3 : 1.2) * this.unit);
    this.glyphs.group.position.z = scene.planar ? 3 * this.unit : 0;
    this.dots.build(scene, 0.7 * this.unit);
    this.bodies.update(scene.poses.flat(), 7);
    this.glyphs.update((b) => this.bodies.pose(b));
    this.dots.update(this.locate);
    if (!isNew) return;
    this.ground.build(sceneBounds(scene), this.size, scene.planar);
    this.fit();
  }

  setFrame(frame: Frame): void {
    if (frame.revision !== this.scene?.revision) return;
    if (frame.time < this.lastTime - 1e-9) this.overlays.goBack();
    this.lastTime = frame.time;
    this.frame = frame;
    this.isFresh = true;
  }

  showMarkers(isShown: boolean): void {
    this.dots.mesh.visible = isShown;
    this.dots.update(this.locate);
  }

  /** Everything in sight. */
  fit(): void {
    if (!this.scene) return;
    this.home = null;
    this.cameras.fit(sceneBounds({ ...this.scene, poses: this.presentPoses() }), this.size);
  }

  markerPosition(index: number): Vector3 | null {
    const marker = this.scene?.markers[index];
    if (!marker) return null;
    const point = new Vector3(...marker.position);
    const pose = this.bodies.pose(marker.body);
    return pose ? point.applyMatrix4(pose) : point;
  }

  private markerFrame(index: number): Matrix4 | null {
    const marker = this.scene?.markers[index];
    if (!marker) return null;
    const local = new Matrix4().compose(new Vector3(...marker.position), new Quaternion(...marker.quaternion), new Vector3(1, 1, 1));
    const pose = this.bodies.pose(marker.body);
    return pose ? local.premultiply(pose) : local;
  }

  /** What is under a point of the screen, nearest first. */
  pick(x: number, y: number): Hit | null {
    const hits: Intersection[] = this.cameras.ray(x, y).intersectObjects([this.glyphs.group, this.bodies.group], true);
    for (const hit of hits) {
      const joint = this.glyphs.jointAt(hit);
      const body = this.bodies.bodyAt(hit);
      if (joint !== null || body !== null) return { joint, body, point: hit.point };
    }
    return null;
  }

  picture(): Promise<Blob | null> {
    this.draw();
    return new Promise((resolve) => this.renderer.domElement.toBlob(resolve, 'image/png'));
  }

  private presentPoses(): number[][] {
    const data = this.frame && this.frame.revision === this.scene?.revision ? this.frame.bodies : null;
    if (!data) return this.scene?.poses ?? [];
    return Array.from({ length: data.length / bodyStride }, (_, b) => Array.from(data.subarray(b * bodyStride, b * bodyStride + 7)));
  }

  private resize(): void {
    this.renderer.setSize(Math.max(1, this.host.clientWidth), Math.max(1, this.host.clientHeight));
    this.cameras.resize();
  }

  private draw(): void {
    if (this.isFresh && this.frame) this.apply(this.frame);
    this.isFresh = false;
    if (this.scene) this.overlays.updatePull(this.scene, this.frame, this.locate, this.unit);
    this.cameras.controls.update();
    this.renderer.render(this.world, this.cameras.camera);
    ++this.drawn;
  }

  private apply(frame: Frame): void {
    this.follow(frame);
    this.bodies.update(frame.bodies, bodyStride);
    this.glyphs.update((b) => this.bodies.pose(b));
    this.ghost.group.visible = frame.ghost.length > 0;
    if (frame.ghost.length > 0) this.ghost.update(frame.ghost, ghostStride);
    this.dots.update(this.locate);
    this.overlays.update(this.scene!, frame, this.locate, (marker) => this.markerFrame(marker), this.unit, this.size);
  }

  // A mechanism that travels takes the camera along.
  private follow(frame: Frame): void {
    const count = frame.bodies.length / bodyStride;
    if (count === 0 || isGrounded(this.scene!)) return;
    const middle = new Vector3();
    for (let b = 0; b < count; ++b)
      for (let k = 0; k < 3; ++k) middle.setComponent(k, middle.getComponent(k) + frame.bodies[b * bodyStride + 7 + k]! / count);
    this.home ??= middle.clone();
    const away = middle.clone().sub(this.home);
    const leash = 0.25 * this.size;
    if (away.length() <= leash) return;
    away.setLength(away.length() - leash);
    this.home.add(away);
    this.cameras.shift(away);
    this.ground.follow(away, this.home);
  }
}
