"""The compiled inner loops of the renderer: a z-buffer of capsules, and its reduction to pixels.

Import this module inside functions only: numba takes half a second to load. The widths of the numbers belong to the
result. A candidate depth is float64 and the buffer float32, as in the published renderer: where two bones share an
end their depths tie, and only these types then choose the colours of its frames.
"""

import numba
import numpy as np

from motionbook.stickfigures.camera import SUPERSAMPLING

SAMPLES = SUPERSAMPLING * SUPERSAMPLING


@numba.njit(cache=True)
def rasterise(capsules, samples_per_metre, margin, depth, owner, normal, box):
    """Draw the capsules of one frame, in order, over cleared buffers.

    Parameters
    ----------
    capsules : (parts, 8) float64
        ax, ay, bx, by in samples, za, zb in metres (larger is nearer), ra, rb in samples.
    samples_per_metre : float
    margin : float
        A later capsule also wins where it lies up to this many metres behind; 0 is the published rule.
    depth : (side, side) float32, owner : (side, side) uint8, normal : (side, side, 3) float32 or (0, 0, 3)
        Written: nearest depth, index + 1 of the capsule seen, its normal. Without a normal buffer none is computed.
    box : (4,) integers
        Written: first row, last row + 1, first column, last column + 1 of what was touched.
    """
    side = depth.shape[0]
    with_normals = normal.shape[0] > 0
    box[0], box[1], box[2], box[3] = side, 0, side, 0
    for part in range(len(capsules)):
        ax, ay, bx, by, za, zb, ra, rb = capsules[part]
        reach = max(ra, rb) + 1.0
        x0, x1 = max(0, int(np.floor(min(ax, bx) - reach))), min(side, int(np.ceil(max(ax, bx) + reach)) + 1)
        y0, y1 = max(0, int(np.floor(min(ay, by) - reach))), min(side, int(np.ceil(max(ay, by) + reach)) + 1)
        if x0 >= x1 or y0 >= y1:
            continue
        box[0], box[1], box[2], box[3] = min(box[0], y0), max(box[1], y1), min(box[2], x0), max(box[3], x1)
        dx, dy = bx - ax, by - ay
        square = dx * dx + dy * dy
        for row in range(y0, y1):
            py = row + 0.5
            for column in range(x0, x1):
                px = column + 0.5
                t = 0.0
                if square >= 1e-6:
                    t = min(max(((px - ax) * dx + (py - ay) * dy) / square, 0.0), 1.0)
                ex, ey = px - (ax + t * dx), py - (ay + t * dy)
                radius = ra + (rb - ra) * t
                distance = ex * ex + ey * ey
                if distance > radius * radius:
                    continue
                height = np.sqrt(radius * radius - distance)
                z = za + (zb - za) * t + height / samples_per_metre
                if z > depth[row, column] - margin:
                    depth[row, column] = z
                    owner[row, column] = part + 1
                    if with_normals:
                        normal[row, column, 0] = ex / radius
                        normal[row, column, 1] = -ey / radius
                        normal[row, column, 2] = height / radius


@numba.njit(cache=True)
def resolve(depth, owner, normal, box, colours, ids, color, seg, pixel_depth, pixel_normal):
    """Reduce 4 x 4 samples to pixels inside ``box`` and clear the buffers again.

    colours (parts, 3) and ids (parts,) are uint8. color (n, n, 4) is straight RGBA, seg (n, n) the id with most
    samples, the lowest on a tie; pixel_depth (n, n) is NaN outside the figure; both it and pixel_normal may be empty.
    Means are cut to whole numbers, never rounded, as published.
    """
    with_normals = normal.shape[0] > 0
    votes = np.zeros(256, np.uint8)
    for y in range(box[0] // SUPERSAMPLING, (box[1] + SUPERSAMPLING - 1) // SUPERSAMPLING):
        for x in range(box[2] // SUPERSAMPLING, (box[3] + SUPERSAMPLING - 1) // SUPERSAMPLING):
            covered, red, green, blue = 0, 0, 0, 0
            z, nx, ny, nz = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
            best, best_votes = 255, 0
            for row in range(y * SUPERSAMPLING, (y + 1) * SUPERSAMPLING):
                for column in range(x * SUPERSAMPLING, (x + 1) * SUPERSAMPLING):
                    part = owner[row, column]
                    if part == 0:
                        continue
                    covered += 1
                    red += colours[part - 1, 0]
                    green += colours[part - 1, 1]
                    blue += colours[part - 1, 2]
                    z += depth[row, column]
                    if with_normals:
                        nx += normal[row, column, 0]
                        ny += normal[row, column, 1]
                        nz += normal[row, column, 2]
                    votes[ids[part - 1]] += 1
                    depth[row, column] = -np.inf
                    owner[row, column] = 0
                    # the winner may change with every vote: more samples first, then the lower id
                    count, name = votes[ids[part - 1]], ids[part - 1]
                    if count > best_votes or (count == best_votes and name < best):
                        best, best_votes = name, count
            if covered == 0:
                continue
            votes[:] = 0
            color[y, x, 0], color[y, x, 1], color[y, x, 2] = red // covered, green // covered, blue // covered
            color[y, x, 3] = 255 * covered // SAMPLES
            seg[y, x] = best
            if with_normals:
                pixel_depth[y, x] = z / np.float32(covered)
                length = np.sqrt(nx * nx + ny * ny + nz * nz)
                pixel_normal[y, x, 0] = np.uint8((nx / length * np.float32(0.5) + np.float32(0.5)) * np.float32(255))
                pixel_normal[y, x, 1] = np.uint8((ny / length * np.float32(0.5) + np.float32(0.5)) * np.float32(255))
                pixel_normal[y, x, 2] = np.uint8((nz / length * np.float32(0.5) + np.float32(0.5)) * np.float32(255))


@numba.njit(cache=True)
def draw_frames(capsules, samples_per_metre, margin, colours, ids, color, seg, depth, normal):
    """Render capsules (frames, parts, 8) into color, seg and, where they are not empty, depth and normal."""
    side = SUPERSAMPLING * color.shape[1]
    with_normals = depth.shape[1] > 0
    sample_depth = np.full((side, side), -np.inf, np.float32)
    sample_owner = np.zeros((side, side), np.uint8)
    sample_normal = np.zeros((side, side, 3) if with_normals else (0, 0, 3), np.float32)
    box = np.zeros(4, np.int64)
    for frame in range(len(capsules)):
        rasterise(capsules[frame], samples_per_metre, margin, sample_depth, sample_owner, sample_normal, box)
        resolve(
            sample_depth,
            sample_owner,
            sample_normal,
            box,
            colours,
            ids,
            color[frame],
            seg[frame],
            depth[frame],
            normal[frame],
        )
