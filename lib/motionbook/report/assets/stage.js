// The three-dimensional scene of one player: bodies, floor, light, camera. It draws only when asked to.
import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { setPose } from "./clips.js";

const GAP = 0.32; // metres between the reach of two people who stand side by side
const TRAVEL = 3.2; // a clip that covers more ground than this is followed by the camera
const ELEVATION = 0.15;

/** A rounded cone from the origin along +Y: two spheres and the cone that touches both. */
function roundedCone(length, ra, rb) {
  const points = [];
  const steps = 9;
  const tilt = Math.asin(Math.min(1, Math.max(-1, (ra - rb) / Math.max(length, 1e-6))));
  const arc = (radius, middle, from, to) => {
    for (let i = 0; i <= steps; i++) {
      const angle = from + ((to - from) * i) / steps;
      points.push(new THREE.Vector2(Math.max(0, radius * Math.cos(angle)), middle + radius * Math.sin(angle)));
    }
  };
  if (length <= Math.abs(ra - rb)) {
    const radius = Math.max(ra, rb);
    arc(radius, ra >= rb ? 0 : length, -Math.PI / 2, Math.PI / 2);
  } else {
    arc(ra, 0, -Math.PI / 2, tilt);
    arc(rb, length, tilt, Math.PI / 2);
  }
  return new THREE.LatheGeometry(points, 26);
}

function limb([ax, ay, az, bx, by, bz, ra, rb]) {
  const from = new THREE.Vector3(ax, ay, az);
  const along = new THREE.Vector3(bx, by, bz).sub(from);
  const length = along.length();
  const geometry = roundedCone(length, ra, rb);
  const turn = new THREE.Quaternion();
  if (length > 1e-9) turn.setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.divideScalar(length));
  return geometry.applyQuaternion(turn).translate(ax, ay, az);
}

/** Joints of one clip as a tree of Object3D with the body's cones on them. */
function person(clip) {
  const material = new THREE.MeshStandardMaterial({ color: clip.colour, roughness: 0.58, metalness: 0.0 });
  const joints = clip.parents.map((_, joint) => {
    const object = new THREE.Object3D();
    object.position.fromArray(clip.offsets, 3 * joint);
    return object;
  });
  clip.parents.forEach((parent, joint) => parent >= 0 && joints[parent].add(joints[joint]));
  const cones = new Map();
  for (const [joint, ...shape] of clip.cones) cones.set(joint, [...(cones.get(joint) || []), limb(shape)]);
  for (const [joint, shapes] of cones) {
    const mesh = new THREE.Mesh(mergeGeometries(shapes), material);
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    joints[joint].add(mesh);
  }
  return joints;
}

/** Things that stand in the world of the first clip: rods, each a rounded cone between two points. */
function thing({ colour, rods }) {
  const material = new THREE.MeshStandardMaterial({ color: colour, roughness: 0.7, metalness: 0.0 });
  const mesh = new THREE.Mesh(mergeGeometries(rods.map(limb)), material);
  mesh.castShadow = true;
  return mesh;
}

function floorMaterial() {
  return new THREE.ShaderMaterial({
    transparent: true,
    depthWrite: false,
    uniforms: { line: { value: new THREE.Color() }, strength: { value: 0.5 }, reach: { value: 3 }, centre: { value: new THREE.Vector2() } },
    vertexShader: `varying vec2 place;
      void main() { vec4 world = modelMatrix * vec4(position, 1.0); place = world.xz;
        gl_Position = projectionMatrix * viewMatrix * world; }`,
    fragmentShader: `varying vec2 place; uniform vec3 line; uniform float strength; uniform float reach; uniform vec2 centre;
      float grid(float cell, float width) {
        vec2 p = place / cell; vec2 d = fwidth(p) * width; vec2 g = abs(fract(p - 0.5) - 0.5) / max(d, vec2(1e-5));
        vec2 c = (1.0 - min(g, 1.0)) * min(vec2(1.0), 0.6 / max(d, vec2(1e-5)) * 0.35); return max(c.x, c.y); }
      void main() { float away = length(place - centre) / reach; float fade = pow(max(0.0, 1.0 - away * away), 1.5);
        float shown = max(grid(1.0, 1.3), 0.38 * grid(0.25, 1.0)); gl_FragColor = vec4(line, strength * fade * shown); }`,
  });
}

export class Stage {
  constructor(canvas, data, clips) {
    this.clips = clips;
    this.floor = data.floor;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: true, powerPreference: "low-power" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.VSMShadowMap;
    this.scene = new THREE.Scene();
    this.camera = new THREE.PerspectiveCamera(20, 1, 0.1, 200);
    this.lanes = clips.map((clip) => this.addLane(clip));
    this.props = (data.props || []).map((prop) => this.addProp(prop));
    this.follows = clips.some(({ bounds }) => Math.max(bounds[3] - bounds[0], bounds[5] - bounds[2]) > TRAVEL);
    this.shift = new THREE.Vector3(); // how far the camera has followed
    this.addLight();
    this.addFloor();
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enablePan = false;
    this.controls.maxPolarAngle = Math.PI / 2 - 0.01;
    this.controls.enableZoom = false; // the page scrolls; the player turns zoom on while it is in use
    canvas.style.touchAction = "pan-y";
    this.overlaid = false;
    this.place();
  }

  addLane(clip) {
    const lane = new THREE.Group();
    const turned = new THREE.Group();
    turned.rotation.y = -clip.turn;
    turned.position.set(-clip.centre[0], 0, -clip.centre[1]).applyAxisAngle(new THREE.Vector3(0, 1, 0), -clip.turn);
    const joints = person(clip);
    turned.add(joints[0]);
    lane.add(turned);
    this.scene.add(lane);
    return { clip, lane, turned, joints, home: 0 };
  }

  addProp(prop) {
    const mesh = thing(prop);
    this.lanes[0].turned.add(mesh);
    return mesh;
  }

  addLight() {
    this.sky = new THREE.HemisphereLight(0xffffff, 0x9aa3ad, 1.35);
    this.key = new THREE.DirectionalLight(0xffffff, 2.1);
    this.key.castShadow = true;
    this.key.shadow.mapSize.set(1024, 1024);
    this.key.shadow.radius = 4;
    this.key.shadow.blurSamples = 12;
    this.key.shadow.bias = -0.0004;
    this.key.shadow.normalBias = 0.02;
    this.back = new THREE.DirectionalLight(0xdfe8ff, 0.7);
    this.scene.add(this.sky, this.key, this.key.target, this.back, this.back.target);
  }

  addFloor() {
    const plane = new THREE.PlaneGeometry(1, 1).rotateX(-Math.PI / 2);
    this.grid = new THREE.Mesh(plane, floorMaterial());
    this.ground = new THREE.Mesh(plane, new THREE.ShadowMaterial({ opacity: 0.26, depthWrite: false }));
    this.ground.receiveShadow = true;
    this.grid.position.y = this.ground.position.y = this.floor;
    this.scene.add(this.grid, this.ground);
  }

  /** Put people side by side (or one into the other) and fit light and floor to the ground they need. */
  place() {
    const wide = ({ bounds }) => (this.follows ? 1.3 : bounds[3] - bounds[0]) + GAP;
    const total = this.clips.reduce((sum, clip) => sum + wide(clip), 0);
    let edge = -0.5 * total;
    this.box = new THREE.Box3();
    for (const item of this.lanes) {
      const { bounds } = item.clip;
      const middle = this.follows ? 0 : 0.5 * (bounds[0] + bounds[3]);
      item.home = edge + 0.5 * wide(item.clip) - middle;
      edge += wide(item.clip);
      item.lane.position.x = this.overlaid ? 0 : item.home;
      const x = item.lane.position.x;
      const reach = this.follows ? [-0.65, -0.65, 0.65, 0.65] : [bounds[0], bounds[2], bounds[3], bounds[5]];
      this.box.expandByPoint(new THREE.Vector3(x + reach[0], this.floor, reach[1]));
      this.box.expandByPoint(new THREE.Vector3(x + reach[2], Math.max(bounds[4], this.floor + 0.5) + 0.24, reach[3]));
    }
    if (this.props.length) this.lanes[0].lane.updateMatrixWorld(true);
    for (const prop of this.props) this.box.expandByObject(prop);
    const size = this.box.getSize(new THREE.Vector3());
    this.centre = this.box.getCenter(new THREE.Vector3());
    const reach = 0.5 * Math.hypot(size.x, size.z) + 1.7;
    this.grid.material.uniforms.reach.value = reach;
    this.grid.scale.set(2 * reach, 1, 2 * reach);
    this.ground.scale.copy(this.grid.scale);
    const half = 0.5 * Math.hypot(size.x, size.y, size.z) + 0.5;
    const eye = this.key.shadow.camera;
    [eye.left, eye.right, eye.bottom, eye.top, eye.near, eye.far] = [-half, half, -half, half, 0.5, 4 * half + 6];
    eye.updateProjectionMatrix();
    this.lightDistance = 2 * half + 2;
  }

  /** Look at everybody from the front and a little to the side. */
  resetView() {
    const { camera, box } = this;
    // a row of people is seen nearly from the front, or the nearest would look the largest
    const azimuth = this.clips.length > 1 && !this.overlaid ? 0.16 : 0.42;
    // a room with things in it is seen from higher up, or they stand in front of the person
    const elevation = this.props.length ? 3 * ELEVATION : ELEVATION;
    const flat = Math.cos(elevation);
    const towards = new THREE.Vector3(Math.sin(azimuth) * flat, Math.sin(elevation), Math.cos(azimuth) * flat);
    const right = new THREE.Vector3(0, 1, 0).cross(towards).normalize();
    const up = towards.clone().cross(right);
    const high = Math.tan((camera.fov * Math.PI) / 360);
    const corner = new THREE.Vector3();
    let distance = 1;
    for (let i = 0; i < 8; i++) {
      corner.set(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z).sub(this.centre);
      const near = corner.dot(towards);
      distance = Math.max(distance, Math.abs(corner.dot(up)) / (0.88 * high) + near, Math.abs(corner.dot(right)) / (0.94 * high * camera.aspect) + near);
    }
    const target = this.centre.clone().add(this.shift);
    this.controls.target.copy(target);
    camera.position.copy(target).addScaledVector(towards, distance);
    this.controls.minDistance = 0.3 * distance;
    this.controls.maxDistance = 3 * distance;
    this.controls.update();
  }

  setOverlaid(overlaid) {
    this.overlaid = overlaid;
    this.place();
  }

  setTheme(dark) {
    this.grid.material.uniforms.line.value.set(dark ? 0xaab4c0 : 0x6c7682);
    this.grid.material.uniforms.strength.value = dark ? 0.34 : 0.42;
    this.ground.material.opacity = dark ? 0.42 : 0.24;
    this.sky.groundColor.set(dark ? 0x59616b : 0x9aa3ad);
    this.back.intensity = dark ? 1.5 : 0.7;
  }

  resize(width, height) {
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
  }

  render(time) {
    for (const { clip, joints } of this.lanes) setPose(clip, joints, time);
    if (this.follows) this.follow();
    const target = this.centre.clone().add(this.shift);
    this.key.target.position.copy(target);
    this.key.position.copy(target).add(new THREE.Vector3(0.52, 0.78, 0.42).normalize().multiplyScalar(this.lightDistance));
    this.back.target.position.copy(target);
    this.back.position.copy(target).add(new THREE.Vector3(-3, 2.4, -4));
    this.grid.material.uniforms.centre.value.set(target.x, target.z);
    this.grid.position.x = this.ground.position.x = target.x;
    this.grid.position.z = this.ground.position.z = target.z;
    this.renderer.render(this.scene, this.camera);
  }

  /** Move camera and target by as much as the people have moved on the floor. */
  follow() {
    const middle = new THREE.Vector3();
    const place = new THREE.Vector3();
    for (const { lane, joints } of this.lanes) {
      lane.updateMatrixWorld(true);
      middle.addScaledVector(place.setFromMatrixPosition(joints[0].matrixWorld).sub(lane.position), 1 / this.lanes.length);
    }
    middle.y = 0;
    const step = middle.clone().sub(this.shift);
    this.camera.position.add(step);
    this.controls.target.add(step);
    this.shift.copy(middle);
  }

  dispose() {
    this.controls.dispose();
    this.renderer.dispose();
  }
}
