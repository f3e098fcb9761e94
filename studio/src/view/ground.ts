// What stands still: grid, floor with shadows, light. It comes along when a mechanism travels.

import { AmbientLight, type Box3, Color, DirectionalLight, GridHelper, HemisphereLight, Mesh, PlaneGeometry, type Scene, ShadowMaterial, Vector3 } from 'three';
import type { Cameras } from './cameras';

export class Ground {
  private grid: GridHelper | null = null;
  private floor: Mesh<PlaneGeometry, ShadowMaterial> | null = null;
  private sun = new DirectionalLight('#ffffff', 2.2);
  private cell = 1;
  private fixedAxis = 2; // along which the ground does not follow
  private colors: [string, string] = ['#3a424d', '#2b323b'];

  constructor(
    private world: Scene,
    private cameras: Cameras,
  ) {
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    world.add(new HemisphereLight('#ffffff', '#8d99a8', 1.1), new AmbientLight('#ffffff', 0.35), this.sun, this.sun.target);
  }

  setColors(background: string, strong: string, weak: string): void {
    this.world.background = new Color(background);
    this.colors = [strong, weak];
  }

  build(bounds: Box3, size: number, planar: boolean): void {
    for (const old of [this.grid, this.floor]) {
      if (!old) continue;
      this.world.remove(old);
      old.geometry.dispose();
    }
    this.floor = null;
    this.fixedAxis = planar ? 2 : this.cameras.up;
    const centre = bounds.getCenter(new Vector3());
    const cell = (this.cell = 10 ** Math.floor(Math.log10(0.5 * size)));
    const cells = 2 * Math.ceil((4 * size) / cell / 2);
    this.grid = new GridHelper(cells * cell, cells, ...this.colors);
    this.place(this.grid, centre);
    if (planar) {
      this.grid.rotation.x = Math.PI / 2;
      this.grid.position.z = -0.2 * size;
    } else {
      const up = new Vector3().setComponent(this.fixedAxis, 1);
      this.grid.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), up);
      this.grid.position.setComponent(this.fixedAxis, bounds.min.getComponent(this.fixedAxis) - 0.02 * size);
      this.floor = new Mesh(new PlaneGeometry(cells * cell, cells * cell), new ShadowMaterial({ opacity: 0.28 }));
      this.floor.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), up);
      this.floor.position.copy(this.grid.position);
      this.floor.receiveShadow = true;
      this.world.add(this.floor);
    }
    this.world.add(this.grid);
    this.shine(centre, 1.5 * size, planar);
  }

  /** The mechanism has moved on by `by` and is now around `centre`. */
  follow(by: Vector3, centre: Vector3): void {
    this.sun.position.add(by);
    this.sun.target.position.add(by);
    for (const part of [this.grid, this.floor]) if (part) this.place(part, centre);
  }

  // Lines stay on whole numbers, so that they do not swim along.
  private place(part: GridHelper | Mesh, centre: Vector3): void {
    for (const k of [0, 1, 2]) if (k !== this.fixedAxis) part.position.setComponent(k, Math.round(centre.getComponent(k) / this.cell) * this.cell);
  }

  private shine(centre: Vector3, reach: number, planar: boolean): void {
    const from = planar ? new Vector3(-1, 1.5, 3) : this.cameras.turned(0.8, -0.6, 2);
    this.sun.position.copy(centre).add(from.multiplyScalar(reach));
    this.sun.target.position.copy(centre);
    const camera = this.sun.shadow.camera;
    camera.left = camera.bottom = -reach;
    camera.right = camera.top = reach;
    camera.near = 0.1 * reach;
    camera.far = 6 * reach;
    camera.updateProjectionMatrix();
  }
}
