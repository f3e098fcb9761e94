// Two ways of looking: flat onto planar models, from a distance at spatial ones. Knows where a thing is on the screen.

import { MOUSE, OrthographicCamera, PerspectiveCamera, Plane, Quaternion, Raycaster, Vector2, Vector3, type Box3 } from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';

export class Cameras {
  isFlat = false;
  /** The axis that points up in spatial models. */
  up = 2;
  private flat = new OrthographicCamera();
  private deep = new PerspectiveCamera(42, 1, 0.01, 1000);
  private flatControls: OrbitControls;
  private deepControls: OrbitControls;
  private flatReach = new Vector2(1, 1); // half the width and height that are in sight at zoom 1

  constructor(
    private host: HTMLElement,
    private canvas: HTMLCanvasElement,
  ) {
    this.flatControls = new OrbitControls(this.flat, canvas);
    this.flatControls.enableRotate = false;
    this.flatControls.mouseButtons = { LEFT: MOUSE.PAN, MIDDLE: MOUSE.PAN, RIGHT: MOUSE.PAN };
    this.deep.up.set(0, 0, 1);
    this.deepControls = new OrbitControls(this.deep, canvas);
  }

  get camera(): OrthographicCamera | PerspectiveCamera {
    return this.isFlat ? this.flat : this.deep;
  }
  get controls(): OrbitControls {
    return this.isFlat ? this.flatControls : this.deepControls;
  }

  use(isFlat: boolean): void {
    this.isFlat = isFlat;
    this.flatControls.enabled = isFlat;
    this.deepControls.enabled = !isFlat;
  }

  /** Up is where gravity does not pull; without gravity it is z. */
  setUp(gravity: number[]): void {
    const sizes = gravity.map(Math.abs);
    const pull = Math.max(...sizes);
    this.up = pull > 0 ? sizes.lastIndexOf(pull) : 2;
    const up = new Vector3().setComponent(this.up, 1);
    if (this.deep.up.equals(up)) return;
    // The controls ask for the camera's up only when they are made.
    this.deep.up.copy(up);
    this.deepControls.dispose();
    this.deepControls = new OrbitControls(this.deep, this.canvas);
  }

  /** A vector given with z up, with the axis that is up here. */
  turned(x: number, y: number, z: number): Vector3 {
    return new Vector3(x, y, z).applyQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), new Vector3().setComponent(this.up, 1)));
  }

  /** Everything inside the box comes into sight; `size` is that of the whole model. */
  fit(bounds: Box3, size: number): void {
    const centre = bounds.getCenter(new Vector3());
    const extent = bounds.getSize(new Vector3());
    this.controls.target.copy(centre);
    if (this.isFlat) {
      this.flat.position.set(centre.x, centre.y, 100 * size);
      this.flat.near = 0.1 * size;
      this.flat.far = 1000 * size;
      this.flat.zoom = 1;
      this.flatReach.set(extent.x, extent.y).multiplyScalar(0.6).max(new Vector2(0.3 * size, 0.3 * size));
    } else {
      const radius = 0.625 * Math.max(extent.length(), 0.6 * size);
      const distance = radius / Math.sin((this.deep.fov * Math.PI) / 360);
      this.deep.position.copy(centre).add(this.turned(0.75, -1, 0.62).normalize().multiplyScalar(distance));
      this.deep.near = distance / 500;
      this.deep.far = distance * 50;
    }
    this.resize();
    this.controls.update();
  }

  resize(): void {
    const aspect = Math.max(1, this.host.clientWidth) / Math.max(1, this.host.clientHeight);
    const half = Math.max(this.flatReach.y, this.flatReach.x / aspect);
    Object.assign(this.flat, { left: -half * aspect, right: half * aspect, top: half, bottom: -half });
    this.flat.updateProjectionMatrix();
    this.deep.aspect = aspect;
    this.deep.updateProjectionMatrix();
  }

  shift(by: Vector3): void {
    this.camera.position.add(by);
    this.controls.target.add(by);
  }

  toScreen(point: Vector3): Vector2 {
    const p = point.clone().project(this.camera);
    return new Vector2(((p.x + 1) / 2) * this.host.clientWidth, ((1 - p.y) / 2) * this.host.clientHeight);
  }

  ray(x: number, y: number): Raycaster {
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / this.host.clientWidth - 1, 1 - (2 * y) / this.host.clientHeight), this.camera);
    return ray;
  }

  /** The point under the mouse on the plane through `through` that faces the camera (planar models: their plane). */
  onPlane(x: number, y: number, through: Vector3): Vector3 | null {
    const normal = this.isFlat ? new Vector3(0, 0, 1) : this.direction();
    const anchor = this.isFlat ? new Vector3(through.x, through.y, 0) : through;
    return this.ray(x, y).ray.intersectPlane(new Plane().setFromNormalAndCoplanarPoint(normal, anchor), new Vector3());
  }

  /** Where the camera looks. */
  direction(): Vector3 {
    return this.camera.getWorldDirection(new Vector3());
  }
}
