// Motion data of one player: decoding, and the pose at any moment between two frames.
import * as THREE from "three";

function floats(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

/** Clips with typed arrays from the JSON in the page; times are seconds, places metres, quaternions wxyz. */
export function decode(data) {
  return data.clips.map((clip) => ({
    ...clip,
    root: floats(clip.root),
    rotations: floats(clip.rotations),
    translations: clip.translations ? floats(clip.translations) : null,
  }));
}

export function durationOf(clips) {
  return Math.max(...clips.map((clip) => (clip.frames - 1) / clip.fps));
}

const a = new THREE.Quaternion();
const b = new THREE.Quaternion();

/** Set the joints (Object3D, parent-relative) of a clip to its pose at `time`; the ends of the clip hold. */
export function setPose(clip, joints, time) {
  const last = clip.frames - 1;
  const place = Math.min(Math.max(time * clip.fps, 0), last);
  const before = Math.min(Math.floor(place), Math.max(last - 1, 0));
  const after = Math.min(before + 1, last);
  const share = place - before;
  const count = joints.length;
  for (let joint = 0; joint < count; joint++) {
    const i = 4 * (before * count + joint);
    const j = 4 * (after * count + joint);
    const q = clip.rotations;
    a.set(q[i + 1], q[i + 2], q[i + 3], q[i]);
    b.set(q[j + 1], q[j + 2], q[j + 3], q[j]);
    joints[joint].quaternion.slerpQuaternions(a, b, share);
    if (joint > 0 && clip.translations) mix(joints[joint].position, clip.translations, before, after, share, joint, count);
  }
  mix(joints[0].position, clip.root, before, after, share, 0, 1);
}

function mix(position, values, before, after, share, item, count) {
  const i = 3 * (before * count + item);
  const j = 3 * (after * count + item);
  position.set(
    values[i] + share * (values[j] - values[i]),
    values[i + 1] + share * (values[j + 1] - values[i + 1]),
    values[i + 2] + share * (values[j + 2] - values[i + 2]),
  );
}
